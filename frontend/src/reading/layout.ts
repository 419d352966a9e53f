// The frame around a case: what is above, beside and below it.

import type { ReadingData } from "../shared/api";
import { button, formatCount, h, type Child } from "../shared/dom";
import type { KeyHelp } from "../shared/keys";
import { patientLine, progress, veil } from "../shared/parts";
import type { ImageViewer } from "../shared/viewer";

export const KEYS: readonly KeyHelp[] = [
  ["A, B, C … / 1 – 9", "answer; both tick where several are right"],
  ["Y / N", "yes, no"],
  ["W", "write the answer (Esc leaves the text)"],
  ["Q", "cannot determine"],
  ["1 – 5", "how sure, once there is an answer; Backspace: digits answer again"],
  ["Enter", "save and go on"],
  ["Shift Enter", "save without the radiograph, if it is not on screen"],
  ["X", "this question is faulty"],
  ["K, ←", "the case before, where the study allows it"],
  ["P", "take a break"],
  ["T", "try again, when something was not saved"],
  ["?", "this list"],
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
  const text = training ? `training case ${current} of ${place.training}; does not count` : `${formatCount(place.done)} of ${formatCount(place.total)} read`;
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
      h("b", {}, feedback.right ? "Right." : "Not what the key says."),
      h("p", {}, h("span", { class: "label" }, "Key "), feedback.answer),
      feedback.explanation !== "" && h("p", { class: "explanation-text" }, feedback.explanation),
    )
  );
}

/** Save; or, after a training case's feedback, on to the next one. */
export function lowerBar(data: ReadingData, act: ReadingActions): HTMLElement {
  const { feedback, answeredAt } = data;
  const main = feedback
    ? button("Next case", "Enter", act.next, { class: "decide primary", "data-act": "next" })
    : button(answeredAt ? "Change my answer" : "Save and go on", "Enter", act.save, { class: "decide primary", "data-act": "save" });
  return h(
    "div",
    { class: "bar" },
    main,
    h("span", { class: "spring" }),
    data.goingBack && button("Case before", "K", act.previous, { class: "quiet", disabled: data.previous === null }),
    answeredAt !== null && !feedback && button("On, unchanged", "J", act.next, { class: "quiet" }),
  );
}

/** The boxes that were drawn as evidence. */
export function boxList({ asks }: ReadingData, viewer: ImageViewer): HTMLElement {
  if (!asks.boxes) return h("div", { class: "boxes" });
  const boxes = viewer.list();
  const line = (box: (typeof boxes)[number]): HTMLElement =>
    h("li", { class: "mine" }, h("span", { class: "swatch" }), h("span", { class: "size" }, `${box.width} × ${box.height}`), button("✕", null, () => viewer.remove(box), { class: "quiet", "aria-label": "delete the box" }));
  return h("div", { class: "boxes" }, h("span", { class: "label" }, boxes.length ? "Your evidence" : "You may draw a box round what you answer by; it is not asked for."), h("ul", {}, boxes.map(line)));
}

/** The break: nothing of the case is in sight, and the clock stands. */
export function breakSheet({ place }: ReadingData, goOn: () => void): HTMLElement {
  const text = `The clock stands. What you entered is kept; ${place.done} of ${place.total} cases are read. You may also close the window and sign in again later.`;
  return veil("A break", h("p", {}, text), button("Go on", "Enter", goOn, { class: "primary" }), { solid: true });
}
