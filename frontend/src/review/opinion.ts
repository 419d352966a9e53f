// The reviewer's input for one question as plain values, and functions of it.

import type { Answer, Correction, Decision, OpinionDraft, Question, ReviewData } from "../shared/api";
import { DECISION_TEXTS } from "../shared/components";
import { formatTime } from "../shared/dom";
import { keyHint } from "../shared/shortcuts";

const TEXTS = ["stem", "explanation", "category"] as const;
const CHOICES = ["task", "difficulty"] as const;
export type TextName = (typeof TEXTS)[number];
export type ChoiceName = (typeof CHOICES)[number];

export interface Option {
  text: string;
  /** The index of the corresponding original option; null for a new option. */
  originalIndex: number | null;
  isCorrect: boolean;
}

/** The question with its corrections, as it is on the form. */
export interface EditedQuestion {
  texts: Record<TextName, string>;
  choices: Record<ChoiceName, string>;
  options: Option[];
  /** The key of a question without options; null where options carry it. */
  answer: string | null;
}

export interface OpinionState extends EditedQuestion {
  ratings: Record<string, number | null>;
  flags: Record<string, boolean | null>;
  difficulty: string | null;
  errors: Set<string>;
  clinical_reasoning: string;
  comment: string;
  change_reason: string;
}

/** The message when a question opens. */
export function initialMessage(data: ReviewData): string {
  const { isOpen, skipReason, last, revision, drafts, blind, feedback } = data;
  if (feedback && last) return `Your verdict of ${formatTime(last.at)}: ${DECISION_TEXTS[last.decision]}. It cannot be changed.`;
  if (!isOpen) return "This batch is closed and read-only. A coordinator can reopen it.";
  if (skipReason) return `You skipped this question: ${skipReason}`;
  if (last) return `Your verdict of ${formatTime(last.at)}: ${DECISION_TEXTS[last.decision]}. Saving creates revision ${revision}, which replaces it.`;
  return drafts.form && !blind ? "Draft restored." : "";
}

/** A blank opinion, or the opinion of the draft or of the last verdict. */
export function createInitialState(data: ReviewData, question: Question): OpinionState {
  const earlier: Partial<OpinionDraft> = data.drafts.form?.body ?? data.last?.opinion ?? {};
  const correction = earlier.correction ?? {};
  const answer = correction.answer ?? question.answer;
  const buildRecord = <Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value): Record<Name, Value> => Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
  return {
    ratings: Object.fromEntries(data.requested.ratings.map(({ name, ratedBeforeReport }) => [name, (ratedBeforeReport ? data.fixedAlignment : null) ?? earlier.ratings?.[name] ?? null])),
    flags: Object.fromEntries(data.choices.flags.map(({ id }) => [id, (earlier[id] as boolean | null | undefined) ?? null])),
    difficulty: earlier.difficulty ?? null,
    errors: new Set(earlier.errors),
    clinical_reasoning: earlier.clinical_reasoning ?? "",
    comment: earlier.comment ?? "",
    change_reason: earlier.change_reason ?? "",
    texts: buildRecord(TEXTS, (name) => correction[name] ?? question[name] ?? ""),
    choices: buildRecord(CHOICES, (name) => correction[name] ?? question[name] ?? ""),
    options: (correction.options ?? question.options).map((text, index) => ({ text, originalIndex: findOriginalIndex(text, index, question.options), isCorrect: isCorrectOption(answer, index) })),
    answer: Array.isArray(answer) ? null : answer,
  };
}

/** Options and key as the question has them. */
export function resetOptions(state: EditedQuestion, { options, answer }: Question): void {
  state.options = options.map((text, index) => ({ text, originalIndex: index, isCorrect: isCorrectOption(answer, index) }));
  state.answer = Array.isArray(answer) ? null : answer;
}

const isCorrectOption = (answer: Answer, index: number): boolean => Array.isArray(answer) && answer.includes(index);

/** The index of the original option with the same text, else at the same position, else null. */
function findOriginalIndex(text: string, index: number, originals: string[]): number | null {
  const sameTextIndex = originals.indexOf(text);
  if (sameTextIndex >= 0) return sameTextIndex;
  return index < originals.length ? index : null;
}

/** The key as it is now. */
export function getCurrentAnswer({ options, answer }: Pick<EditedQuestion, "options" | "answer">): Answer {
  return answer === null ? options.flatMap((option, index) => (option.isCorrect ? [index] : [])) : answer.trim();
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether the key differs from the original. Spaces around a text are ignored. */
export function isAnswerChanged(state: Pick<EditedQuestion, "options" | "answer">, { answer }: Pick<Question, "answer">): boolean {
  return !isEqual(getCurrentAnswer(state), typeof answer === "string" ? answer.trim() : answer);
}

/** Whether a text differs. A category cannot be removed: an empty field keeps the original category. */
export function isTextChanged(name: TextName, { texts }: EditedQuestion, question: Question): boolean {
  const text = texts[name].trim();
  return text !== (question[name] ?? "").trim() && (name !== "category" || text !== "");
}

/** Whether task or tier differs; neither can be removed. */
export function isChoiceChanged(name: ChoiceName, { choices }: EditedQuestion, question: Question): boolean {
  return choices[name] !== "" && choices[name] !== (question[name] ?? "");
}

/** Only the fields that were corrected. */
export function buildCorrection(state: EditedQuestion, question: Question): Correction {
  const correction: Correction = {};
  for (const name of TEXTS) if (isTextChanged(name, state, question)) correction[name] = state.texts[name].trim();
  for (const name of CHOICES) if (isChoiceChanged(name, state, question)) correction[name] = state.choices[name];
  const options = state.options.map((option) => option.text.trim());
  const areOptionsChanged = !isEqual(options, question.options.map((text) => text.trim()));
  if (areOptionsChanged) correction.options = options;
  if (areOptionsChanged || isAnswerChanged(state, question)) correction.answer = getCurrentAnswer(state);
  return correction;
}

/** The opinion as a draft keeps it; a verdict sends `change_reason` separately. */
export function buildOpinion(state: OpinionState, question: Question): OpinionDraft {
  return {
    ratings: state.ratings,
    ...state.flags,
    difficulty: state.difficulty,
    errors: [...state.errors].sort(),
    correction: buildCorrection(state, question),
    clinical_reasoning: state.clinical_reasoning,
    comment: state.comment,
    change_reason: state.change_reason,
  };
}

/** An input that keys fill in sequence. */
export interface Step {
  kind: "rating" | "flag" | "difficulty";
  name: string;
  label: string;
  get: () => number | boolean | string | null;
  set: (value: number | boolean | string | null) => void;
}

export function listSteps({ requested, choices }: ReviewData, state: OpinionState): Step[] {
  const steps: Step[] = requested.ratings.map(({ name, label }) => ({ kind: "rating", name, label, get: () => state.ratings[name] ?? null, set: (value) => (state.ratings[name] = value as number | null) }));
  if (!requested.flags) return steps;
  const flags = choices.flags.filter(({ required }) => required);
  return [
    ...steps,
    ...flags.map(({ id, label }): Step => ({ kind: "flag", name: id, label, get: () => state.flags[id] ?? null, set: (value) => (state.flags[id] = value as boolean | null) })),
    { kind: "difficulty", name: "difficulty", label: "Your difficulty rating", get: () => state.difficulty, set: (value) => (state.difficulty = value as string | null) },
  ];
}

/**
 * In a batch with one-key accept, a copy of the opinion with the top rating in empty ratings, and yes in empty yes/no fields.
 * Otherwise the opinion itself. The form shows the values once they are saved.
 */
export function fillOpenFields(decision: Decision, data: ReviewData, state: OpinionState): OpinionState {
  if (!data.oneKeyAccept || decision === "reject") return state;
  const filled: OpinionState = { ...state, ratings: { ...state.ratings }, flags: { ...state.flags } };
  const values: Record<Step["kind"], number | boolean | null> = { rating: Math.max(...data.choices.values), flag: true, difficulty: null };
  for (const step of listSteps(data, filled)) if (step.get() === null) step.set(values[step.kind]);
  return filled;
}

/** A message if, with one-key accept, a correction or a kind of error comes without a rating below the top while a rating is open; else null. */
export function findUnratedFault(decision: Decision, data: ReviewData, state: OpinionState): { text: string; part: string } | null {
  if (!data.oneKeyAccept || decision === "reject" || (decision === "accept" && state.errors.size === 0)) return null;
  const topRating = Math.max(...data.choices.values);
  const ratings = listSteps(data, state).filter(({ kind }) => kind === "rating");
  const firstOpen = ratings.find((step) => step.get() === null);
  if (!firstOpen || ratings.some((step) => Number(step.get() ?? topRating) < topRating)) return null;
  return { text: `You corrected the question or selected a kind of error: give the affected field a rating below ${topRating}. The other empty fields are filled in.`, part: firstOpen.name };
}

/** Why the decision can't be saved yet, with the part to go to; null where nothing is missing. */
export function findMissing(decision: Decision, data: ReviewData, question: Question, state: OpinionState, areBoxesChanged: boolean): { text: string; part: string } | null {
  const isCorrected = areBoxesChanged || Object.keys(buildCorrection(state, question)).length > 0;
  if (decision === "accept" && isCorrected) return { text: `The question has corrections. Save them as revised${keyHint("revise")}, or reset them.`, part: "changes" };
  if (decision === "revise" && !isCorrected) return { text: `There are no corrections yet. Change the text, the key or a box first, or accept${keyHint("accept")} or reject${keyHint("reject")}.`, part: "stem" };
  if (decision === "reject") {
    const hasReason = state.errors.size > 0 || state.comment.trim() !== "";
    return hasReason ? null : { text: `Give a reason for rejecting: a kind of error${keyHint("errors")} or a comment${keyHint("comment")}.`, part: "errors" };
  }
  if (!state.texts.stem.trim()) return { text: "The stem is empty.", part: "stem" };
  if (state.options.some((option) => !option.text.trim())) return { text: "An option is empty. Enter its text or remove it.", part: "options" };
  if (getCurrentAnswer(state).length === 0) return { text: "The answer key is empty.", part: "options" };
  const openSteps = listSteps(data, state).filter((step) => step.get() === null && !(data.oneKeyAccept && step.kind === "difficulty"));
  return openSteps[0] ? { text: `Still to judge: ${openSteps.map((step) => step.label.toLowerCase()).join(", ")}.`, part: openSteps[0].name } : null;
}
