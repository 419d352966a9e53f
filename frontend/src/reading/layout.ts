// The frame around a case: what is above, beside and below it.

import type { ReadingData } from "../shared/api";
import { button, formatCount, h, type Child } from "../shared/dom";
import type { KeyHelp } from "../shared/keys";
import { patientLine, progress, veil } from "../shared/parts";
import type { ImageViewer } from "../shared/viewer";

export const KEYS: readonly KeyHelp[] = [
  ["A, B, C … / 1 – 9", "choose an answer, or several if more than one is right"],
  ["Y / N", "answer yes or no"],
  ["W", "write the answer (Esc leaves the text field)"],
  ["Q", "cannot determine"],
  ["1 – 5", "confidence, after the answer; Backspace returns to the answer"],
  ["Enter", "save and continue"],
  ["Shift Enter", "save without seeing the radiograph"],
  ["X", "report the question"],
  ["K, ←", "previous case, if the study allows it"],
  ["P", "take a break"],
  ["T", "try again after a failed save"],
  ["?", "show or hide this list"],
];

export interface ReadingActions {
  save: () => unknown;
  next: () => unknown;
  previous: () => unknown;
  pause: () => unknown;
  showKeys: () => unknown;
}

/** The line at the top: study, progress, what was saved, clock, break, keys. */
export function topLine(data: ReadingData, act: ReadingActions, ...status: HTMLElement[]): HTMLElement {
  const { place, training } = data;
  const current = Math.min(place.trainingDone + (data.feedback ? 0 : 1), place.training);
  const text = training ? `Training case ${current} of ${place.training}, not scored` : `${formatCount(place.done)} of ${formatCount(place.total)} read`;
  return h(
    "header",
    { class: "top" },
    h("b", { class: "batch" }, data.studyName),
    training && h("span", { class: "training" }, "Training"),
    progress(text, place.total, { done: place.done }),
    h("span", { class: "spring" }),
    status,
    button("Break", "P", act.pause, { class: "quiet" }),
    button("Keys", "?", act.showKeys, { class: "quiet" }),
  );
}

/** Age, sex and indication; nothing in an arm that does not show them. */
export const informationLine = (data: ReadingData): HTMLElement => (data.told ? patientLine(data) : h("p", { class: "patient" }));

/** What a training case teaches, once it is answered. */
export function feedbackPart({ feedback }: ReadingData): Child {
  return (
    feedback &&
    h(
      "div",
      { class: `feedback ${feedback.right ? "good" : "bad"}`, role: "status" },
      h("b", {}, feedback.right ? "Correct." : "Incorrect."),
      h("p", {}, h("span", { class: "label" }, "Answer key "), feedback.answer),
      feedback.explanation !== "" && h("p", { class: "explanation-text" }, feedback.explanation),
    )
  );
}

/** Save; or, after a training case's feedback, on to the next one. */
export function lowerBar(data: ReadingData, act: ReadingActions): HTMLElement {
  const { feedback, answeredAt } = data;
  const main = feedback
    ? button("Next case", "Enter", act.next, { class: "decide primary", "data-act": "next" })
    : button(answeredAt ? "Change answer" : "Save and continue", "Enter", act.save, { class: "decide primary", "data-act": "save" });
  return h(
    "div",
    { class: "bar" },
    main,
    h("span", { class: "spring" }),
    data.goingBack && button("Previous case", "K", act.previous, { class: "quiet", disabled: data.previous === null }),
    answeredAt !== null && !feedback && button("Continue unchanged", "J", act.next, { class: "quiet" }),
  );
}

/** The boxes that were drawn as evidence. */
export function boxList({ asks }: ReadingData, viewer: ImageViewer): HTMLElement {
  if (!asks.boxes) return h("div", { class: "boxes" });
  const boxes = viewer.list();
  const line = (box: (typeof boxes)[number]): HTMLElement =>
    h("li", { class: "mine" }, h("span", { class: "swatch" }), h("span", { class: "size" }, `${box.width} × ${box.height}`), button("✕", null, () => viewer.remove(box), { class: "quiet", "aria-label": "delete the box" }));
  return h("div", { class: "boxes" }, h("span", { class: "label" }, boxes.length ? "Supporting findings" : "Mark the supporting finding (optional)"), h("ul", {}, boxes.map(line)));
}

/** The break: nothing of the case is in sight, and the clock stands. */
export function breakSheet({ place }: ReadingData, goOn: () => void): HTMLElement {
  const text = `The clock is paused and your input is kept. ${place.done} of ${place.total} cases read. You can also close the window and sign in again later.`;
  return veil("Break", h("p", {}, text), button("Continue", "Enter", goOn, { class: "primary" }), { solid: true });
}
