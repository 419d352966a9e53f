// What is corrected, before it is saved: each field with its difference and a way back.

import type { Answer, Question } from "../shared/api";
import { button, h, optionLetter } from "../shared/dom";
import { markChanges } from "../shared/parts";
import type { BoxChanges } from "../shared/viewer";
import { currentAnswer, isAnswerChanged, isChoiceChanged, isTextChanged, resetOptions, type EditedQuestion, type Option } from "./opinion";

export interface CorrectedField {
  name: string;
  label: string;
  nodes: (Node | string)[];
  reset: () => void;
}

/** The corrected fields of a question. `resetBoxes` undoes the changes of boxes. */
export function correctedFields(question: Question, state: EditedQuestion, boxes: BoxChanges, resetBoxes: () => void): CorrectedField[] {
  const fields: CorrectedField[] = [];
  for (const [name, label] of [["stem", "Stem"], ["explanation", "Explanation"], ["category", "Category"]] as const) {
    const before = question[name] ?? "";
    if (isTextChanged(name, state, question)) fields.push({ name, label, nodes: markChanges(before, state.texts[name].trim()), reset: () => (state.texts[name] = before) });
  }
  for (const [name, label] of [["task", "Task"], ["difficulty", "Tier"]] as const) {
    const before = question[name] ?? "";
    if (isChoiceChanged(name, state, question)) fields.push({ name, label, nodes: replaced(before || "none", state.choices[name]), reset: () => (state.choices[name] = before) });
  }
  const lines = optionLines(question.options, state.options);
  const reset = (): void => resetOptions(state, question);
  if (lines.length) fields.push({ name: "options", label: "Options", nodes: lines, reset });
  if (isAnswerChanged(state, question)) fields.push({ name: "answer", label: "Key", nodes: replaced(formatAnswer(question.answer), formatAnswer(currentAnswer(state))), reset });
  const { added, gone } = boxes;
  if (added.length || gone.length) {
    const marks = [...gone.map(({ label }) => h("del", {}, label || "no label")), ...added.map(({ label, width, height }) => h("ins", {}, `${label || "no label"} ${width} × ${height} px`))];
    fields.push({ name: "boxes", label: "Boxes", nodes: marks.flatMap((mark) => [mark, " "]), reset: resetBoxes });
  }
  return fields;
}

/** The list of corrections; `reset` is called with the field that is to be as it was. */
export function correctionsList(fields: CorrectedField[], reset: (field: CorrectedField) => void): HTMLElement | null {
  if (fields.length === 0) return null;
  const line = (field: CorrectedField): HTMLElement =>
    h("li", {}, h("b", {}, `${field.label}: `), field.nodes, " ", button("reset", null, () => reset(field), { class: "quiet", "aria-label": `reset ${field.label}` }));
  return h("section", { class: "changes", "aria-label": "Corrections" }, h("span", { class: "label" }, "Corrections"), h("ul", {}, fields.map(line)));
}

const replaced = (before: string, after: string): (Node | string)[] => [h("del", {}, before), " ", h("ins", {}, after)];

const formatAnswer = (answer: Answer): string => (typeof answer === "string" ? answer : answer.map(optionLetter).join(", ") || "none");

function optionLines(before: string[], options: Option[]): HTMLElement[] {
  const line = (...content: (Node | string)[]): HTMLElement => h("span", { class: "line" }, content);
  const now = options.flatMap(({ text: typed, from }, index) => {
    const text = typed.trim();
    const original = from === null ? undefined : before[from];
    const letter = `${optionLetter(index)}. `;
    if (from === null || original === undefined) return [line(letter, h("ins", {}, text || "(empty)"))];
    if (original.trim() !== text) return [line(letter, ...markChanges(original, text))];
    return from === index ? [] : [line(`${optionLetter(from)} → ${letter}${text}`)];
  });
  const removed = before.flatMap((text, index) => (options.some((option) => option.from === index) ? [] : [line(h("del", {}, `${optionLetter(index)}. ${text}`))]));
  return [...now, ...removed];
}
