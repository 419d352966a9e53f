// The layout around a case: top line, information line, feedback, box list, lower bar.

import type { ReadingData } from "../shared/api";
import { button, formatCount, h, type Child } from "../shared/dom";
import { patientLine, progressBar, dialogOverlay } from "../shared/components";
import { shortcutLabel } from "../shared/shortcuts";
import type { ImageViewer } from "../shared/viewer";

export interface ReadingActions {
  save: () => unknown;
  next: () => unknown;
  previous: () => unknown;
  pause: () => unknown;
  showShortcuts: () => unknown;
}

/** The line at the top: study, progress, what was saved, clock, break, shortcuts. */
export function topLine(data: ReadingData, actions: ReadingActions, ...status: HTMLElement[]): HTMLElement {
  const { progress, training } = data;
  const currentCase = Math.min(progress.trainingDone + (data.feedback ? 0 : 1), progress.training);
  const text = training ? `Training case ${currentCase} of ${progress.training}, not scored` : `${formatCount(progress.done)} of ${formatCount(progress.total)} read`;
  return h(
    "header",
    { class: "top" },
    h("b", { class: "batch" }, data.studyName),
    training && h("span", { class: "training" }, "Training"),
    progressBar(text, progress.total, { done: progress.done }),
    h("span", { class: "spring" }),
    status,
    button("Pause", shortcutLabel("break"), actions.pause, { class: "quiet" }),
    button("Shortcuts", shortcutLabel("help"), actions.showShortcuts, { class: "quiet" }),
  );
}

/** Age, sex and indication; nothing in an arm that does not show them. */
export const informationLine = (data: ReadingData): HTMLElement => (data.clinicalInfoShown ? patientLine(data) : h("p", { class: "patient" }));

/** The feedback of an answered training case. */
export function feedbackSection({ feedback }: ReadingData): Child {
  return (
    feedback &&
    h(
      "div",
      { class: `feedback ${feedback.right === null ? "" : feedback.right ? "good" : "bad"}`, role: "status" },
      h("b", {}, feedback.right === null ? "Compare your answer with the answer key." : feedback.right ? "Correct." : "Incorrect."),
      h("p", {}, h("span", { class: "label" }, "Answer key "), feedback.answer),
      feedback.explanation !== "" && h("p", { class: "explanation-text" }, feedback.explanation),
    )
  );
}

/** The button to save, or to continue after the feedback of a training case. */
export function lowerBar(data: ReadingData, actions: ReadingActions): HTMLElement {
  const { feedback, answeredAt } = data;
  const mainButton = feedback
    ? button("Next case", shortcutLabel("save"), actions.next, { class: "decide primary", "data-act": "next" })
    : button(answeredAt ? "Change answer" : "Save and continue", shortcutLabel("save"), actions.save, { class: "decide primary", "data-act": "save" });
  return h(
    "div",
    { class: "bar" },
    mainButton,
    h("span", { class: "spring" }),
    data.canGoBack && button("Previous case", shortcutLabel("previous"), actions.previous, { class: "quiet", disabled: data.previous === null }),
    answeredAt !== null && !feedback && button("Continue unchanged", shortcutLabel("next"), actions.next, { class: "quiet" }),
  );
}

/** The boxes of the supporting findings. */
export function boxList({ requested }: ReadingData, viewer: ImageViewer): HTMLElement {
  if (!requested.boxes) return h("div", { class: "boxes" });
  const boxes = viewer.listBoxes();
  const boxLine = (box: (typeof boxes)[number]): HTMLElement =>
    h("li", { class: "mine" }, h("span", { class: "swatch" }), h("span", { class: "size" }, `${box.width} × ${box.height}`), button("✕", null, () => viewer.removeBox(box), { class: "quiet", "aria-label": "delete the box" }));
  return h("div", { class: "boxes" }, h("span", { class: "label" }, boxes.length ? "Supporting findings" : "Mark the supporting finding (optional)"), h("ul", {}, boxes.map(boxLine)));
}

/** The break: the case is hidden and the clock is paused. */
export function breakOverlay({ progress }: ReadingData, onContinue: () => void): HTMLElement {
  const text = `The clock is paused and your input is kept. ${progress.done} of ${progress.total} cases read. You can also close the window and sign in again later.`;
  return dialogOverlay("Paused", h("p", {}, text), button("Continue", "Enter", onContinue, { class: "primary" }), { isOpaque: true });
}
