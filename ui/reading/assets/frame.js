// The frame around a case: what stands above, beside and below it.

import { counted, h, keycap } from "./dom.js";

const button = (text, key, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, text, key ? keycap(key) : null);

const KEYS = [
  ["A, B, C … / 1 – 9", "answer; both tick where several are right"],
  ["Y / N", "yes, no"],
  ["W", "write the answer (Esc leaves the text)"],
  ["Q", "cannot determine"],
  ["1 – 5", "how sure, once there is an answer; Backspace: digits answer again"],
  ["Enter", "save and go on"],
  ["X", "this question is faulty"],
  ["K, ←", "the case before, where the study allows it"],
  ["P", "take a break"],
  ["T", "try again, when something was not saved"],
  ["?", "this list"],
];

/** The line at the very top: study, progress, what was saved, clock, break, keys. */
export function topLine(data, act, { saved, clock }) {
  const { place } = data;
  const text = data.training ? `training case ${Math.min(place.trainingDone + (data.feedback ? 0 : 1), place.training)} of ${place.training}; does not count` : `${counted(place.done)} of ${counted(place.total)} read`;
  return h(
    "header",
    { class: "top" },
    h("b", { class: "batch" }, data.studyName),
    data.training ? h("span", { class: "training" }, "Training") : null,
    h("div", { class: "progress", role: "img", "aria-label": text, title: text }, h("span", { class: "bar-done", style: `width:${(100 * place.done) / Math.max(1, place.total)}%` })),
    h("span", { class: "progress-text" }, text),
    h("span", { class: "spring" }),
    saved,
    clock,
    button("Break", "P", act.pause, { class: "quiet" }),
    button("Keys", "?", act.keys, { class: "quiet" }),
  );
}

/** What a radiologist is told beforehand; nothing in an arm that is told nothing. */
export function toldLine(data) {
  if (!data.told) return h("p", { class: "patient" });
  const { patient } = data;
  const words = [patient.age, patient.sex, data.radiographs.map(({ view }) => view).join(" + ")].filter(Boolean);
  return h("p", { class: "patient" }, h("span", {}, words.join(" · ")), h("span", { class: "indication" }, h("span", { class: "label" }, "Indication "), patient.indication || "not given"));
}

/** What a training case teaches, once it is answered. */
export function feedbackPart(data) {
  const { feedback } = data;
  if (!feedback) return null;
  return h(
    "div",
    { class: `feedback ${feedback.right ? "good" : "bad"}`, role: "status" },
    h("b", {}, feedback.right ? "Right." : "Not what the key says."),
    h("p", {}, h("span", { class: "label" }, "Key "), feedback.answer),
    feedback.explanation ? h("p", { class: "explanation-text" }, feedback.explanation) : null,
  );
}

/** Save; or, after a training case's feedback, on to the next one. */
export function lowerBar(data, act) {
  const main = data.feedback
    ? button("Next case", "Enter", act.next, { class: "decide primary", "data-act": "next" })
    : button(data.answeredAt ? "Change my answer" : "Save and go on", "Enter", act.save, { class: "decide primary", "data-act": "save" });
  return h("div", { class: "bar" }, main, h("span", { class: "spring" }), data.goingBack ? button("Case before", "K", act.previous, { class: "quiet", disabled: data.previous === null }) : null, data.answeredAt && !data.feedback ? button("On, unchanged", "J", act.next, { class: "quiet" }) : null);
}

/** A line on the boxes that were drawn as evidence. */
export function boxLine(data, radiographs) {
  if (!data.asks.boxes) return h("div", { class: "boxes" });
  const boxes = radiographs.list();
  return h(
    "div",
    { class: "boxes" },
    h("span", { class: "label" }, boxes.length ? "Your evidence" : "You may draw a box round what you answer by; it is not asked for."),
    h("ul", {}, boxes.map((box) => h("li", { class: "mine" }, h("span", { class: "swatch" }), h("span", { class: "size" }, `${box.width} × ${box.height}`), h("button", { type: "button", class: "quiet", "aria-label": "delete the box", onclick: () => radiographs.remove(box.view, box.index) }, "✕")))),
  );
}

/** All keys, the viewer's too. */
export function keySheet(close, viewers) {
  const list = (rows) => h("dl", {}, rows.map(([keys, what]) => [h("dt", {}, keycap(keys)), h("dd", {}, what)]));
  return veil("Keys", [list(KEYS), viewers ? h("h2", {}, "Radiographs") : null, viewers ? list(viewers.filter(([keys]) => !keys.startsWith("Enter"))) : null], button("Close", "Esc", close, { class: "primary" }));
}

/** The break: nothing of the case is in sight, and the clock stands. */
export function breakSheet(go, place) {
  return veil("A break", [h("p", {}, `The clock stands. What you entered is kept; ${place}. You may also close the window and sign in again later.`)], button("Go on", "Enter", go, { class: "primary" }), "solid");
}

function veil(title, parts, end, more = "") {
  return h("div", { class: `veil ${more}` }, h("div", { class: "sheet", role: "dialog", "aria-label": title, tabindex: "-1" }, h("h2", {}, title), parts, end));
}
