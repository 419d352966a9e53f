// The unsaved corrections: each field with its difference and a reset button.

import type { Answer, Question } from "../shared/api";
import { button, h, optionLetter } from "../shared/dom";
import { markChanges } from "../shared/components";
import type { BoxChanges, ChangedBox } from "../shared/viewer";
import { getCurrentAnswer, isAnswerChanged, isChoiceChanged, isTextChanged, resetOptions, type EditedQuestion, type Option } from "./opinion";

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
  for (const [name, label] of [["task", "Task"], ["difficulty", "Difficulty"]] as const) {
    const before = question[name] ?? "";
    if (isChoiceChanged(name, state, question)) fields.push({ name, label, nodes: markReplaced(before || "none", state.choices[name]), reset: () => (state.choices[name] = before) });
  }
  const lines = optionLines(question.options, state.options);
  const reset = (): void => resetOptions(state, question);
  if (lines.length) fields.push({ name: "options", label: "Options", nodes: lines, reset });
  if (isAnswerChanged(state, question)) fields.push({ name: "answer", label: "Key", nodes: markReplaced(formatAnswer(question.answer), formatAnswer(getCurrentAnswer(state))), reset });
  const { added, removed } = boxes;
  if (added.length || removed.length) {
    const marks = [...removed.map((box) => h("del", {}, describeBox(box))), ...added.map((box) => h("ins", {}, describeBox(box)))];
    fields.push({ name: "boxes", label: "Boxes", nodes: marks.flatMap((mark) => [mark, " "]), reset: resetBoxes });
  }
  return fields;
}

/** The list of corrections. `reset` is called with the field to reset. */
export function correctionsList(fields: CorrectedField[], reset: (field: CorrectedField) => void): HTMLElement | null {
  if (fields.length === 0) return null;
  const listItem = (field: CorrectedField): HTMLElement =>
    h("li", {}, h("b", {}, `${field.label}: `), field.nodes, " ", button("reset", null, () => reset(field), { class: "quiet", "aria-label": `reset ${field.label}` }));
  return h("section", { class: "changes", "aria-label": "Corrections" }, h("span", { class: "label" }, "Corrections"), h("ul", {}, fields.map(listItem)));
}

/** Includes x and y, so that a moved box differs from the original one. */
const describeBox = ({ label, x, y, width, height }: ChangedBox): string => `${label || "no label"} ${width} × ${height} px at ${x}, ${y}`;

const markReplaced = (before: string, after: string): (Node | string)[] => [h("del", {}, before), " ", h("ins", {}, after)];

const formatAnswer = (answer: Answer): string => (typeof answer === "string" ? answer : answer.map(optionLetter).join(", ") || "none");

function optionLines(before: string[], options: Option[]): HTMLElement[] {
  const createLine = (...content: (Node | string)[]): HTMLElement => h("span", { class: "line" }, content);
  const current = options.flatMap(({ text: enteredText, originalIndex }, index) => {
    const text = enteredText.trim();
    const original = originalIndex === null ? undefined : before[originalIndex];
    const letter = `${optionLetter(index)}. `;
    if (originalIndex === null || original === undefined) return [createLine(letter, h("ins", {}, text || "(empty)"))];
    if (original.trim() !== text) return [createLine(letter, ...markChanges(original, text))];
    return originalIndex === index ? [] : [createLine(`${optionLetter(originalIndex)} → ${letter}${text}`)];
  });
  const removed = before.flatMap((text, index) => (options.some((option) => option.originalIndex === index) ? [] : [createLine(h("del", {}, `${optionLetter(index)}. ${text}`))]));
  return [...current, ...removed];
}
