// The layout around a question: top line, box list, decision bar, skip panel.

import type { Decision, ReviewData } from "../shared/api";
import { button, formatCount, h, type Child } from "../shared/dom";
import { progressBar } from "../shared/components";
import { shortcutLabel, keyHint } from "../shared/shortcuts";
import type { ImageViewer, ListedBox } from "../shared/viewer";
import { describeComments } from "./comments";

/** The decisions with the texts of their buttons. A decision is also the id of its shortcut. */
export const DECISIONS: readonly { decision: Decision; text: string }[] = [
  { decision: "accept", text: "Accept" },
  { decision: "revise", text: "Revise" },
  { decision: "reject", text: "Reject" },
];

/** What buttons and keys do. */
export interface ReviewActions {
  decide: (decision: Decision) => unknown;
  submitOwnAnswer: () => unknown;
  openSkipPanel: () => unknown;
  previous: () => unknown;
  next: () => unknown;
  changeBatch: (id: number) => unknown;
  showGuideline: () => unknown;
  toggleShortcutHelp: () => unknown;
  toggleComments: () => unknown;
}

/** The top line: batch, progress, navigation, `status`, comments, guideline, shortcuts. */
export function topLine(data: ReviewData, actions: ReviewActions, ...status: HTMLElement[]): HTMLElement {
  const { progress } = data;
  const text = `${formatCount(progress.done)} of ${formatCount(progress.total)} done`;
  const details = `${progress.skipped > 0 ? ` · ${formatCount(progress.skipped)} skipped` : ""} · ${formatCount(progress.left)} left`;
  return h(
    "header",
    { class: "top" },
    batchChoice(data, actions),
    progressBar(text, progress.total, { done: progress.done, skipped: progress.skipped }, details),
    button("←", shortcutLabel("previous"), actions.previous, { class: "quiet", disabled: data.previous === null, "aria-label": `previous question${keyHint("previous")}` }),
    h("span", { class: "position" }, `question ${formatCount(progress.position)} of ${formatCount(progress.total)}`),
    button("→", shortcutLabel("next"), actions.next, { class: "quiet", disabled: data.next === null, "aria-label": `next question${keyHint("next")}` }),
    h("span", { class: "spring" }),
    status,
    button(describeComments(data.comments), shortcutLabel("comments"), actions.toggleComments, { class: `quiet comment-count${data.comments.unread > 0 ? " unread" : ""}` }),
    data.guideline && button("Guideline", shortcutLabel("guideline"), actions.showGuideline, { class: "quiet" }),
    button("Shortcuts", shortcutLabel("help"), actions.toggleShortcutHelp, { class: "quiet" }),
  );
}

/** Update the comment count on its button. */
export function updateCommentCount(root: HTMLElement, { comments }: ReviewData): void {
  const countButton = root.querySelector(".comment-count");
  if (!countButton) return;
  countButton.classList.toggle("unread", comments.unread > 0);
  if (countButton.firstChild) countButton.firstChild.textContent = describeComments(comments);
}

function batchChoice(data: ReviewData, actions: ReviewActions): HTMLElement {
  if (data.batches.length < 2) return h("b", { class: "batch" }, data.batchName);
  const options = data.batches.map(({ id, name, left }) => h("option", { value: id, selected: id === data.batch }, `${name} (${formatCount(left)} left)`));
  const select: HTMLSelectElement = h("select", { class: "batch", "aria-label": "Batch", onchange: () => actions.changeBatch(Number(select.value)) }, options);
  return select;
}

/** The boxes as a list: label, size, author (machine or reviewer), and a button to delete. */
export function boxList(data: ReviewData, viewer: ImageViewer, labels: HTMLElement): HTMLElement {
  if (data.blind || !data.requested.boxes) return h("div", { class: "boxes" });
  const boxes = viewer.listBoxes();
  return h(
    "div",
    { class: "boxes" },
    h("span", { class: "label count" }, boxes.length === 1 ? "1 box" : `${boxes.length} boxes`),
    h("ul", {}, boxes.map((box) => boxLine(data, viewer, box))),
    labels,
  );
}

function boxLine({ isOpen, radiographs }: ReviewData, viewer: ImageViewer, box: ListedBox): HTMLElement {
  const { label, x, y, width, height, isOriginal, selected = false } = box;
  const relabel = (): void => viewer.relabelBox(box, input.value.trim());
  const input = h("input", { value: label, list: "overread-labels", placeholder: "label", "aria-label": `label of the box at ${x}, ${y}`, readonly: !isOpen, onchange: relabel });
  const view = radiographs.length > 1 ? ` ${box.view.radiograph.view}` : "";
  return h(
    "li",
    { class: isOriginal ? "original" : "mine", "aria-current": String(selected), onclick: () => viewer.selectBox(box) },
    h("span", { class: "swatch", title: isOriginal ? "original" : "yours" }),
    input,
    h("span", { class: "size" }, `${width} × ${height} px${view}`),
    isOpen && button("✕", null, () => viewer.removeBox(box), { class: "quiet", "aria-label": `delete box ${label || "without label"} at ${x}, ${y}` }),
  );
}

/** Mark the selected box without rebuilding the list, so that typed text stays. */
export function markSelectedBox(list: HTMLElement, viewer: ImageViewer): void {
  const lines = [...list.querySelectorAll("li")];
  viewer.listBoxes().forEach(({ selected = false }, index) => {
    const line = lines[index];
    if (!line || line.getAttribute("aria-current") === String(selected)) return;
    line.setAttribute("aria-current", String(selected));
    if (selected) line.scrollIntoView({ block: "nearest" });
  });
}

export const labelSuggestions = (labels: string[]): HTMLDataListElement => h("datalist", { id: "overread-labels" }, labels.map((value) => h("option", { value })));

export function ownAnswerLine({ ownAnswer }: ReviewData): Child {
  return ownAnswer && h("p", { class: "own-line" }, h("span", { class: "label" }, "Your own answer "), ownAnswer.text, ` (confidence ${ownAnswer.confidence})`);
}

/** Accept, revise, reject; skip. */
export function decisionBar(data: ReviewData, actions: ReviewActions): HTMLElement {
  const decisionButton = (decision: string, text: string, shortcut: string, action: () => unknown, className = decision): HTMLElement => button(text, shortcut, action, { class: `decide ${className}`, "data-decision": decision, disabled: !data.isOpen });
  return h(
    "div",
    { class: "bar" },
    data.blind ? decisionButton("commit", "Submit answer", shortcutLabel("save"), actions.submitOwnAnswer, "accept") : DECISIONS.map(({ decision, text }) => decisionButton(decision, text, shortcutLabel(decision), () => actions.decide(decision))),
    h("span", { class: "spring" }),
    button("Skip", shortcutLabel("skip"), actions.openSkipPanel, { class: "quiet", disabled: !data.isOpen || data.last !== null }),
  );
}

/** Asks why a question is skipped. */
export function skipPanel(skip: (reason: string) => unknown, cancel: () => void): HTMLElement {
  const reason = h("input", { name: "reason", maxlength: "500", placeholder: "Reason, for example: image not readable", "aria-label": "Reason for skipping" });
  const submit = (): void => {
    const text = reason.value.trim();
    if (text) skip(text);
    else reason.focus();
  };
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter") submit();
    if (event.key === "Escape") cancel();
  });
  queueMicrotask(() => reason.focus());
  const commonReasons = ["image not readable", "outside my specialty", "decide later"];
  return h(
    "div",
    { class: "panel", role: "group", "aria-label": "Skip this question" },
    h("b", {}, "Reason for skipping"),
    reason,
    button("Skip", "Enter", submit, { class: "primary" }),
    button("Cancel", "Esc", cancel, { class: "quiet" }),
    h("span", { class: "usual" }, commonReasons.map((text) => button(text, null, () => skip(text), { class: "quiet" }))),
  );
}
