// What is corrected, before it is saved: each field with its difference and a way back.

import { difference } from "./diff.js";
import { h, letter } from "./dom.js";
import { answerChanged, answerOf, choiceChanged, textChanged } from "./model.js";

/** Show the corrections of the form's question; gives back whether there are any, and whether boxes are among them. */
export function showCorrections(form) {
  const { data, state, radiographs } = form;
  const boxes = data.asks.boxes ? radiographs.changes() : { added: [], gone: [] };
  const list = corrections(data, state, { boxes, resetBoxes: () => radiographs.reset() });
  const reset = (correction) => {
    correction.reset();
    if (correction.name !== "boxes") form.refreshQuestion();
    form.changed();
  };
  const line = (correction) =>
    h(
      "li",
      {},
      h("b", {}, `${correction.label}: `),
      correction.nodes,
      " ",
      h("button", { type: "button", class: "quiet", "aria-label": `reset ${correction.label}`, onclick: () => reset(correction) }, "reset"),
    );
  const section = h("section", { class: "changes", "aria-label": "Corrections" }, h("span", { class: "label" }, "Corrections"), h("ul", {}, list.map(line)));
  form.changesPlace.replaceChildren(...(list.length ? [section] : []));
  form.root.querySelector('[data-decision="accept"]')?.classList.toggle("dim", list.length > 0);
  form.root.querySelector('[data-decision="revise"]')?.classList.toggle("dim", list.length === 0);
  return { any: list.length > 0, boxes: boxes.added.length + boxes.gone.length > 0 };
}

/** A difference as marked-up text; not by colour alone: what goes is struck out, what comes is underlined. */
function marked(before, after) {
  return difference(before, after).map(({ kind, text }) => (kind === "same" ? h("span", {}, text) : h(kind, {}, text)));
}

/** What is corrected, each with its difference and a way back: [{name, label, nodes, reset}]. */
function corrections(data, state, { resetBoxes, boxes }) {
  const { full } = data;
  const result = [];
  for (const [name, label] of [["stem", "Stem"], ["explanation", "Explanation"], ["category", "Category"]]) {
    const before = full[name] ?? "";
    if (textChanged(name, state, full)) {
      result.push({ name, label, nodes: marked(before, state.texts[name].trim()), reset: () => (state.texts[name] = before) });
    }
  }
  for (const [name, label] of [["task", "Task"], ["difficulty", "Tier"]]) {
    const before = full[name] ?? "";
    if (choiceChanged(name, state, full)) {
      result.push({ name, label, nodes: [h("del", {}, before || "none"), " ", h("ins", {}, state.choices[name])], reset: () => (state.choices[name] = before) });
    }
  }
  const lines = optionLines(full.options, state.options);
  if (lines.length) result.push({ name: "options", label: "Options", nodes: lines, reset: () => resetOptions(data, state) });
  if (answerChanged(state, full)) {
    const answer = answerOf(state);
    const text = (value) => (Array.isArray(value) ? value.map(letter).join(", ") || "none" : value);
    result.push({ name: "answer", label: "Key", nodes: [h("del", {}, text(full.answer)), " ", h("ins", {}, text(answer))], reset: () => resetOptions(data, state) });
  }
  if (boxes.added.length || boxes.gone.length) {
    const say = (box) => `${box.label || "no label"}${box.width ? ` ${box.width} × ${box.height} px` : ""}`;
    result.push({
      name: "boxes",
      label: "Boxes",
      nodes: [...boxes.gone.map((box) => h("del", {}, say(box))), ...boxes.added.map((box) => h("ins", {}, say(box)))].flatMap((node) => [node, " "]),
      reset: resetBoxes,
    });
  }
  return result;
}

function optionLines(before, options) {
  const lines = [];
  options.forEach((option, index) => {
    const text = option.text.trim();
    const was = option.from === null ? null : before[option.from];
    if (was === null) lines.push(h("span", { class: "line" }, `${letter(index)}. `, h("ins", {}, text || "(empty)")));
    else if (was.trim() !== text) lines.push(h("span", { class: "line" }, `${letter(index)}. `, marked(was, text)));
    else if (option.from !== index) lines.push(h("span", { class: "line" }, `${letter(option.from)} → ${letter(index)}. ${text}`));
  });
  before.forEach((text, index) => {
    if (!options.some((option) => option.from === index)) lines.push(h("span", { class: "line" }, h("del", {}, `${letter(index)}. ${text}`)));
  });
  return lines;
}

function resetOptions(data, state) {
  const { options, answer } = data.full;
  state.options = options.map((text, index) => ({ text, from: index, right: Array.isArray(answer) && answer.includes(index) }));
  state.answer = Array.isArray(answer) ? null : answer;
}
