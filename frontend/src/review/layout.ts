// The frame around the question: what is above, beside and below it.

import type { Decision, ReviewData, Scales } from "../shared/api";
import { button, formatCount, h, optionLetter, type Child } from "../shared/dom";
import type { KeyHelp } from "../shared/keys";
import { progress } from "../shared/parts";
import type { ImageViewer, ListedBox } from "../shared/viewer";
import { keyOfTier } from "./opinion";

/** The decisions with their buttons and keys. */
export const DECISIONS: readonly { decision: Decision; text: string; key: string; help: string }[] = [
  { decision: "accept", text: "Accept", key: "A", help: "accept and continue" },
  { decision: "revise", text: "Revise", key: "V", help: "save the corrections (revise) and continue" },
  { decision: "reject", text: "Reject", key: "X", help: "reject and continue" },
];

/** What each key does. */
export const keyHelp = ({ values, flags, tiers, errors }: Scales): KeyHelp[] => [
  [`${values[0] ?? ""} – ${values.at(-1) ?? ""}`, "rate the marked row and go to the next"],
  ["Y / N", flags.filter(({ required }) => required).map(({ label }) => label.toLowerCase()).join(", then ")],
  [tiers.map(({ id }) => keyOfTier(id)).join(" / "), `your difficulty: ${tiers.map(({ label }) => label).join(", ")}`],
  ["Backspace", "undo the last of these"],
  ...DECISIONS.map(({ key, help }): KeyHelp => [key, help]),
  ["Shift Enter", "save without seeing the radiograph"],
  ["S", "skip, with a reason"],
  ["Z", "reopen your last verdict"],
  [`F, then a – ${optionLetter(errors.length - 1).toLowerCase()}`, "kinds of error"],
  ["Q", "correct the stem (Esc leaves a text field)"],
  ["W", "write a comment"],
  ["L", "next radiograph", true],
  ["B", "draw boxes, or move and resize them", true],
  ["Del", "delete the selected box", true],
  ["U / Shift U", "undo or redo a box edit", true],
  ["I", "invert the image", true],
  ["+ / − / 0", "zoom in, zoom out, fit", true],
  ["K, ← / J, →", "previous, next question"],
  ["P", "open the report"],
  ["G", "guideline"],
  ["T", "try again after a failed save"],
  ["?", "show or hide this list"],
];

/** What buttons and keys do. */
export interface ReviewActions {
  decide: (decision: Decision) => unknown;
  commit: () => unknown;
  askSkip: () => unknown;
  reopenLast: () => unknown;
  previous: () => unknown;
  next: () => unknown;
  changeBatch: (id: number) => unknown;
  showGuideline: () => unknown;
  toggleKeys: () => unknown;
}

/** The line at the top: batch, progress, what was saved, clock, guideline, keys. */
export function topLine(data: ReviewData, act: ReviewActions, ...status: HTMLElement[]): HTMLElement {
  const { place } = data;
  const text = [`${formatCount(place.done)} of ${formatCount(place.total)} done`, place.skipped > 0 && `${formatCount(place.skipped)} skipped`, `${formatCount(place.left)} left`].filter(Boolean).join(" · ");
  return h(
    "header",
    { class: "top" },
    batchChoice(data, act),
    progress(text, place.total, { done: place.done, skipped: place.skipped }),
    button("←", "K", act.previous, { class: "quiet", disabled: data.previous === null, "aria-label": "previous question (K)" }),
    h("span", { class: "progress-text" }, `question ${formatCount(place.position)}`),
    button("→", "J", act.next, { class: "quiet", disabled: data.next === null, "aria-label": "next question (J)" }),
    h("span", { class: "spring" }),
    status,
    data.guideline && button("Guideline", "G", act.showGuideline, { class: "quiet" }),
    button("Keys", "?", act.toggleKeys, { class: "quiet" }),
  );
}

function batchChoice(data: ReviewData, act: ReviewActions): HTMLElement {
  if (data.batches.length < 2) return h("b", { class: "batch" }, data.batchName);
  const options = data.batches.map(({ id, name, left }) => h("option", { value: id, selected: id === data.batch }, `${name} (${formatCount(left)} left)`));
  const select: HTMLSelectElement = h("select", { class: "batch", "aria-label": "Batch", onchange: () => act.changeBatch(Number(select.value)) }, options);
  return select;
}

/** The boxes as a list: label, size, whose they are, and a button to delete. */
export function boxList(data: ReviewData, viewer: ImageViewer, labels: HTMLElement): HTMLElement {
  if (data.blind || !data.asks.boxes) return h("div", { class: "boxes" });
  const boxes = viewer.list();
  const next: HTMLInputElement = h("input", { value: viewer.label, list: "overread-labels", placeholder: "label of the next box", "aria-label": "label of the next box", oninput: () => viewer.setLabel(next.value.trim()) });
  return h(
    "div",
    { class: "boxes" },
    h("span", { class: "label count" }, boxes.length === 1 ? "1 box" : `${boxes.length} boxes`),
    data.open && h("label", { class: "next-label" }, next),
    h("ul", {}, boxes.map((box) => boxLine(data, viewer, box))),
    labels,
  );
}

function boxLine({ open, radiographs }: ReviewData, viewer: ImageViewer, box: ListedBox): HTMLElement {
  const { label, x, y, width, height, machine, chosen = false } = box;
  const relabel = (): void => viewer.relabel(box, input.value.trim());
  const input = h("input", { value: label, list: "overread-labels", placeholder: "label", "aria-label": `label of the box at ${x}, ${y}`, readonly: !open, onchange: relabel });
  const view = radiographs.length > 1 ? ` ${box.view.radiograph.view}` : "";
  return h(
    "li",
    { class: machine ? "machine" : "mine", "aria-current": String(chosen), onclick: () => viewer.choose(box) },
    h("span", { class: "swatch", title: machine ? "original" : "yours" }),
    input,
    h("span", { class: "size" }, `${width} × ${height}${view}`),
    open && button("✕", null, () => viewer.remove(box), { class: "quiet", "aria-label": `delete box ${label || "without label"} at ${x}, ${y}` }),
  );
}

/** Mark the chosen box in the list as it is: what is being typed in it stays. */
export function markChosen(list: HTMLElement, viewer: ImageViewer): void {
  const lines = [...list.querySelectorAll("li")];
  viewer.list().forEach(({ chosen = false }, at) => {
    const line = lines[at];
    if (!line || line.getAttribute("aria-current") === String(chosen)) return;
    line.setAttribute("aria-current", String(chosen));
    if (chosen) line.scrollIntoView({ block: "nearest" });
  });
}

export const labelSuggestions = (labels: string[]): HTMLDataListElement => h("datalist", { id: "overread-labels" }, labels.map((value) => h("option", { value })));

export function ownAnswerLine({ ownAnswer }: ReviewData): Child {
  return ownAnswer && h("p", { class: "own-line" }, h("span", { class: "label" }, "Your own answer "), ownAnswer.text, ` (confidence ${ownAnswer.confidence})`);
}

/** Accept, revise, reject; skip; reopen. */
export function decisionBar(data: ReviewData, act: ReviewActions): HTMLElement {
  const main = (decision: string, text: string, key: string, perform: () => unknown, look = decision): HTMLElement => button(text, key, perform, { class: `decide ${look}`, "data-decision": decision, disabled: !data.open });
  return h(
    "div",
    { class: "bar" },
    data.blind ? main("commit", "Submit answer", "Enter", act.commit, "accept") : DECISIONS.map(({ decision, text, key }) => main(decision, text, key, () => act.decide(decision))),
    h("span", { class: "spring" }),
    button("Skip", "S", act.askSkip, { class: "quiet", disabled: !data.open || data.last !== null }),
    data.anyJudged && button("Reopen last", "Z", act.reopenLast, { class: "quiet" }),
  );
}

/** Asks why a question is put aside. */
export function skipPanel(skip: (reason: string) => unknown, cancel: () => void): HTMLElement {
  const reason = h("input", { name: "reason", maxlength: "500", placeholder: "Reason, for example: image not readable", "aria-label": "Reason for skipping" });
  const send = (): void => {
    const text = reason.value.trim();
    if (text) skip(text);
    else reason.focus();
  };
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
    if (event.key === "Escape") cancel();
  });
  queueMicrotask(() => reason.focus());
  const usual = ["image not readable", "outside my specialty", "decide later"];
  return h(
    "div",
    { class: "panel", role: "group", "aria-label": "Skip this question" },
    h("b", {}, "Reason for skipping"),
    reason,
    button("Skip", "Enter", send, { class: "primary" }),
    button("Cancel", "Esc", cancel, { class: "quiet" }),
    h("span", { class: "usual" }, usual.map((text) => button(text, null, () => skip(text), { class: "quiet" }))),
  );
}
