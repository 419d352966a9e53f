// What the reviewer has said so far of one question: plain values, and what they come to.

import { clockTime } from "./dom.js";

export const FLAGS = ["domain_specific", "cognitive_depth", "image_centric", "clinically_relevant"];
const TEXTS = ["stem", "explanation", "category"];
const CHOICES = ["task", "difficulty"];

/** What should be known before one begins. */
export function opening(data) {
  if (!data.open) return "This batch is closed: it can be read, not changed. A coordinator can open it again.";
  if (data.skipped) return `You skipped this question: ${data.skipped}`;
  if (data.last) return `Your verdict of ${clockTime(data.last.at)}: ${data.last.decision}. Saving makes revision ${data.revision}, which supersedes it.`;
  if (data.drafts.form && !data.blind) return "What you had entered is back.";
  return "";
}

/** A blank opinion, or the one of a draft or of the verdict that is being superseded. */
export function begin(data) {
  const question = data.full;
  const said = data.drafts.form?.body ?? data.last?.opinion ?? {};
  const correction = said.correction ?? {};
  const fixed = data.fixedAlignment === null ? {} : { image_alignment: data.fixedAlignment };
  const options = correction.options ?? question.options;
  const answer = correction.answer ?? question.answer;
  return {
    ratings: Object.fromEntries(data.asks.ratings.map(({ name }) => [name, fixed[name] ?? said.ratings?.[name] ?? null])),
    flags: Object.fromEntries(FLAGS.map((name) => [name, said[name] ?? null])),
    difficulty: said.difficulty ?? null,
    errors: new Set(said.errors ?? []),
    clinical_reasoning: said.clinical_reasoning ?? "",
    comment: said.comment ?? "",
    why: said.why ?? "",
    texts: Object.fromEntries(TEXTS.map((name) => [name, correction[name] ?? question[name] ?? ""])),
    choices: Object.fromEntries(CHOICES.map((name) => [name, correction[name] ?? question[name] ?? ""])),
    options: options.map((text, index) => ({ text, from: origin(text, index, question.options), right: Array.isArray(answer) && answer.includes(index) })),
    answer: Array.isArray(answer) ? null : answer,
  };
}

/** Which of the first options this one is: the one of its text, else the one of its place, else none. */
function origin(text, index, first) {
  const same = first.indexOf(text);
  return same >= 0 ? same : index < first.length ? index : null;
}

/** The key as it stands: indices of the options that are right, or text. */
export function answerOf(state) {
  return state.answer === null ? state.options.flatMap((option, index) => (option.right ? [index] : [])) : state.answer.trim();
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Whether the key is another; blanks around a text are none of the reviewer's doing. */
export function answerChanged(state, question) {
  const first = typeof question.answer === "string" ? question.answer.trim() : question.answer;
  return !same(answerOf(state), first);
}

/** Whether a text is another. A category can't be taken away: without one the question keeps its own. */
export function textChanged(name, state, question) {
  const now = state.texts[name].trim();
  return now !== (question[name] ?? "").trim() && (name !== "category" || now !== "");
}

/** Whether task or tier is another; neither can be taken away. */
export function choiceChanged(name, state, question) {
  return state.choices[name] !== "" && state.choices[name] !== (question[name] ?? "");
}

/** The corrected fields alone. Boxes go beside it, as they were drawn. */
export function correctionOf(state, question) {
  const correction = {};
  for (const name of TEXTS) if (textChanged(name, state, question)) correction[name] = state.texts[name].trim();
  for (const name of CHOICES) if (choiceChanged(name, state, question)) correction[name] = state.choices[name];
  const options = state.options.map((option) => option.text.trim());
  const optionsChanged = !same(options, question.options.map((text) => text.trim()));
  if (optionsChanged) correction.options = options;
  if (optionsChanged || answerChanged(state, question)) correction.answer = answerOf(state);
  return correction;
}

/** The opinion as the server takes it, in a draft and in a verdict. */
export function opinionOf(state, question) {
  return {
    ratings: state.ratings,
    ...state.flags,
    difficulty: state.difficulty,
    errors: [...state.errors].sort(),
    correction: correctionOf(state, question),
    clinical_reasoning: state.clinical_reasoning,
    comment: state.comment,
    why: state.why,
  };
}

/** The parts that are filled by keys one after the other: [{kind, name, get, set}]. */
export function steps(data, state) {
  const result = data.asks.ratings.map(({ name, label }) => ({
    kind: "rating",
    name,
    label,
    get: () => state.ratings[name],
    set: (value) => (state.ratings[name] = value),
  }));
  if (!data.asks.flags) return result;
  for (const [name, label] of [["domain_specific", "Needs radiology"], ["cognitive_depth", "More than recall"]]) {
    result.push({ kind: "flag", name, label, get: () => state.flags[name], set: (value) => (state.flags[name] = value) });
  }
  result.push({ kind: "difficulty", name: "difficulty", label: "Your difficulty", get: () => state.difficulty, set: (value) => (state.difficulty = value) });
  return result;
}

/** Why the decision can't be saved yet: {text, at} with the part to go to, or null. */
export function missing(decision, data, state, { boxesChanged }) {
  const correction = correctionOf(state, data.full);
  const corrected = Object.keys(correction).length > 0 || boxesChanged;
  if (decision === "accept" && corrected) {
    return { text: "You corrected something: press V to save it as revised, or reset the correction.", at: "changes" };
  }
  if (decision === "revise" && !corrected) {
    return { text: "Nothing is corrected yet. Change the text, the key or a box first, or accept (A) or reject (X).", at: "stem" };
  }
  if (decision === "reject") {
    if (state.errors.size === 0 && !state.comment.trim()) {
      return { text: "Say why it is rejected: a kind of error (F, then its letter) or a comment.", at: "errors" };
    }
    return null;
  }
  if (!state.texts.stem.trim()) return { text: "The stem is empty.", at: "stem" };
  if (state.options.some((option) => !option.text.trim())) return { text: "An option is empty: write it or remove it.", at: "options" };
  const answer = answerOf(state);
  if (answer.length === 0) return { text: "The key names no answer.", at: "options" };
  const open = steps(data, state).filter((step) => step.get() === null);
  if (open.length === 0) return null;
  return { text: `Still to judge: ${open.map((step) => step.label.toLowerCase()).join(", ")}.`, at: open[0].name };
}
