// The reviewer's judgement: ratings, yes/no fields, difficulty, kinds of error, texts.

import type { Choice as NamedChoice, Question, RatingQuestion, ReviewData, YesNoField } from "../shared/api";
import { growingTextArea, h, keycap, letterIndex } from "../shared/dom";
import { shortcutLabel, keyHint, keyOf, matchAction, type ActionId } from "../shared/shortcuts";
import { listSteps, type OpinionState, type Step } from "./opinion";

type ChoiceValue = number | boolean | string;

interface ChoiceOption {
  value: ChoiceValue;
  text: string;
  key?: string | undefined;
  title?: string;
}

const buildYesNoChoices = (hasKeys: boolean): ChoiceOption[] => [
  { value: true, text: "yes", key: hasKeys ? shortcutLabel("yes") : undefined },
  { value: false, text: "no", key: hasKeys ? shortcutLabel("no") : undefined },
];

/** The value after a further press of a flag's own key: yes, no, not judged. */
const nextFlagValue = (value: ChoiceValue | null): boolean | null => (value === null ? true : value === true ? false : null);

export class JudgementPanel {
  readonly root = h("section", { class: "judgement", "aria-label": "Judgement" });
  readonly commentArea: HTMLTextAreaElement;
  private readonly steps: Step[];
  private readonly rows = new Map<string, HTMLElement>();
  private readonly anchorLine = h("p", { class: "anchor" });
  private readonly errorFieldset: HTMLElement;
  private lastSetName: string | undefined;

  /** `onChange(note)` runs after every choice. */
  constructor(
    private readonly data: ReviewData,
    question: Question,
    private readonly state: OpinionState,
    private readonly onChange: (note?: string) => void,
  ) {
    this.steps = listSteps(data, state);
    this.errorFieldset = this.buildErrorFields();
    this.commentArea = this.buildTextArea("comment", "Comment");
    const { requested } = data;
    if (data.oneKeyAccept && data.isOpen) this.root.append(h("p", { class: "hint" }, `Enter only faults. Accepting${keyHint("accept")} saves empty ratings as the top rating and empty yes/no fields as yes; the difficulty may stay empty.`));
    if (requested.ratings.length) this.root.append(h("div", {}, h("div", { class: "ratings" }, requested.ratings.map((rating) => this.buildRatingRow(rating))), this.anchorLine));
    if (requested.flags) this.root.append(this.buildFlagRows(question));
    this.root.append(this.errorFieldset, this.buildTextFields());
    this.paint();
  }

  /** Whether the next key press chooses a kind of error. */
  get isChoosingError(): boolean {
    return this.errorFieldset.classList.contains("marking");
  }

  /** Returns whether the action belongs to the judgement. */
  runAction(id: ActionId): boolean {
    const { requested, choices } = this.data;
    const rating = matchAction(id, "rating-");
    if (rating !== null) return this.fillNext("rating", Number(rating));
    if (id === "errors") return this.setChoosingError(true);
    if (id === "undo-judgement") return this.undoLast();
    if (!requested.flags) return false;
    if (id === "yes" || id === "no") return this.fillNext("flag", id === "yes");
    const tier = choices.tiers.find((choice) => choice.id === matchAction(id, "difficulty-"));
    if (tier) this.setValue("difficulty", tier.id);
    const flag = choices.flags.find((field) => field.id === matchAction(id, "flag-"));
    if (flag) this.setValue(flag.id, nextFlagValue(this.getValue(flag.id)));
    return tier !== undefined || flag !== undefined;
  }

  /** Bring a part into sight and mark it. */
  highlight(name: string): boolean {
    const row = this.rows.get(name) ?? (name === "errors" ? this.errorFieldset : null);
    if (!row) return false;
    row.scrollIntoView({ block: "nearest" });
    row.classList.remove("pointed");
    row.getBoundingClientRect(); // restarts the animation
    row.classList.add("pointed");
    row.querySelector("button")?.focus({ preventScroll: true });
    return true;
  }

  // ------------------------------------------------------------------ parts

  private buildRatingRow({ name, label, anchors }: RatingQuestion): HTMLElement {
    const choices = anchors.map((anchorText, index) => ({ value: index + 1, text: String(index + 1), title: `${index + 1}: ${anchorText}` }));
    return this.buildChoiceRow(name, label, choices, "rating");
  }

  private buildFlagRows(question: Question): HTMLElement {
    const { flags, tiers } = this.data.choices;
    const choices = tiers.map(({ id, label }) => ({ value: id, text: label, key: shortcutLabel(`difficulty-${id}` as ActionId) }));
    const rows = (isRequired: boolean): HTMLElement[] => flags.filter(({ required }) => required === isRequired).map((flag) => this.buildFlagRow(flag));
    return h(
      "div",
      { class: "flags" },
      rows(true),
      this.buildChoiceRow("difficulty", this.data.last ? `Your difficulty rating (machine: ${question.difficulty ?? "none"})` : "Your difficulty rating", choices, "wide"),
      rows(false),
    );
  }

  private buildFlagRow({ id, label, required }: YesNoField): HTMLElement {
    const ownKey = required ? "" : shortcutLabel(`flag-${id}` as ActionId);
    return this.buildChoiceRow(id, label, buildYesNoChoices(required), required ? "yes-no" : "optional", ownKey);
  }

  private buildChoiceRow(name: string, label: string, choices: ChoiceOption[], className = "", ownKey = ""): HTMLElement {
    const buildChoiceButton = ({ value, text, key, title }: ChoiceOption): HTMLElement => {
      const showValueAnchor = (): void => this.showAnchor(name, value);
      const onClick = (): void => this.setValue(name, className === "optional" && this.getValue(name) === value ? null : value);
      return h("button", { type: "button", class: "choice", title, "data-value": String(value), onclick: onClick, onpointerenter: showValueAnchor, onfocus: showValueAnchor }, text, key !== undefined && keycap(key));
    };
    const row = h("fieldset", { class: `row ${className}`, "data-step": name, onpointerleave: () => this.showAnchor() }, h("legend", {}, label, ownKey !== "" && [" ", keycap(ownKey)]), choices.map(buildChoiceButton));
    this.rows.set(name, row);
    return row;
  }

  private buildErrorFields(): HTMLElement {
    const buildErrorChip = ({ id, label }: NamedChoice, index: number): HTMLElement =>
      h("button", { type: "button", class: "choice chip", "data-error": id, onclick: () => this.toggleError(id) }, h("kbd", { "aria-hidden": "true" }, String.fromCharCode(97 + index)), label);
    return h("fieldset", { class: "errors", "data-step": "errors" }, h("legend", {}, "Kinds of error ", keycap(shortcutLabel("errors"))), this.data.choices.errors.map(buildErrorChip));
  }

  private buildTextFields(): HTMLElement {
    const buildField = (label: string, key: string | null, area: HTMLElement): HTMLElement => h("label", { class: "field free" }, h("span", { class: "label" }, label, " ", key ? keycap(key) : null), area);
    const reasoning = "Clinical reasoning";
    const label = "Reason for changing your verdict";
    return h(
      "div",
      { class: "texts" },
      this.data.last && buildField(label, null, this.buildTextArea("change_reason", label)),
      this.data.requested.flags && buildField(reasoning, null, this.buildTextArea("clinical_reasoning", reasoning)),
      buildField("Comment", shortcutLabel("comment"), this.commentArea),
    );
  }

  private buildTextArea(name: "comment" | "clinical_reasoning" | "change_reason", label: string): HTMLTextAreaElement {
    return growingTextArea({ name, value: this.state[name], placeholder: "optional", "aria-label": label }, (text) => {
      this.state[name] = text;
      this.onChange();
    });
  }

  // ----------------------------------------------------------------- values

  private findStep(name: string | undefined): Step | undefined {
    return this.steps.find((step) => step.name === name);
  }

  private findRating(name: string | undefined): RatingQuestion | undefined {
    return this.data.requested.ratings.find((rating) => rating.name === name);
  }

  private getValue(name: string): ChoiceValue | null {
    return (this.findStep(name) ?? { get: () => this.state.flags[name] ?? null }).get();
  }

  private isFixed(name: string): boolean {
    return this.data.fixedAlignment !== null && this.findRating(name)?.ratedBeforeReport === true;
  }

  private setValue(name: string, value: ChoiceValue | null): void {
    if (this.isFixed(name) && value !== this.data.fixedAlignment) {
      this.onChange(`${this.findRating(name)?.label ?? name} is locked at ${String(this.data.fixedAlignment)} because the report was opened.`);
      return;
    }
    const step = this.findStep(name);
    if (step) step.set(value);
    else this.state.flags[name] = value as boolean | null;
    this.lastSetName = name;
    this.paint();
    this.onChange();
  }

  /** The first input without a value: the target of the next digit or letter. */
  private findCurrentStep(): Step | undefined {
    return this.steps.find((step) => step.get() === null);
  }

  private fillNext(kind: Step["kind"], value: ChoiceValue): true {
    const step = this.steps.find((step) => step.kind === kind && step.get() === null);
    const undoHint = keyOf("undo-judgement") ? ` ${shortcutLabel("undo-judgement")} undoes the last one.` : "";
    if (step) {
      this.setValue(step.name, value);
      this.rows.get(this.findCurrentStep()?.name ?? step.name)?.scrollIntoView({ block: "nearest" }); // the target of the next key
    } else this.onChange(kind === "rating" ? `All ratings are given.${undoHint}` : `All required yes/no fields are given.${undoHint}`);
    return true;
  }

  private undoLast(): true {
    const filled = this.steps.filter((step) => step.get() !== null && !this.isFixed(step.name));
    const last = filled.find((step) => step.name === this.lastSetName) ?? filled.at(-1);
    if (!last) return true;
    last.set(null);
    this.lastSetName = this.steps.slice(0, this.steps.indexOf(last)).findLast((step) => step.get() !== null)?.name;
    this.paint();
    this.onChange();
    return true;
  }

  private setChoosingError(enabled: boolean): true {
    this.errorFieldset.classList.toggle("marking", enabled);
    if (enabled) this.errorFieldset.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Toggle the kind of error with the pressed letter. Any other key only ends the choice. */
  chooseError(pressedKey: string): true {
    const kind = this.data.choices.errors[letterIndex(pressedKey.toLowerCase())];
    if (kind) this.toggleError(kind.id);
    return this.setChoosingError(false);
  }

  private toggleError(kind: string): void {
    const { errors } = this.state;
    if (!errors.delete(kind)) errors.add(kind);
    this.paint();
    this.onChange();
  }

  // --------------------------------------------------------------- painting

  private paint(): void {
    const currentName = this.findCurrentStep()?.name;
    for (const [name, row] of this.rows) {
      const value = String(this.getValue(name));
      row.classList.toggle("current", name === currentName);
      for (const button of row.querySelectorAll<HTMLButtonElement>(".choice")) {
        button.setAttribute("aria-pressed", String(button.dataset.value === value));
        button.disabled = this.isFixed(name) && button.dataset.value !== String(this.data.fixedAlignment);
      }
    }
    for (const chip of this.errorFieldset.querySelectorAll<HTMLElement>("[data-error]")) chip.setAttribute("aria-pressed", String(this.state.errors.has(chip.dataset.error ?? "")));
    this.showAnchor();
  }

  /** Show the anchors of the rating under the pointer, else of the current rating. */
  private showAnchor(name?: string, pointedValue?: ChoiceValue): void {
    const { ratings } = this.data.requested;
    const namedRating = [name, this.findCurrentStep()?.name, this.lastSetName].map((stepName) => this.findRating(stepName)).find(Boolean);
    const rating = namedRating ?? ratings.at(-1);
    if (!rating) return;
    const value = pointedValue ?? this.getValue(rating.name);
    this.anchorLine.replaceChildren(h("span", {}, `${rating.label}:`), ...rating.anchors.map((text, index) => h("span", { class: index + 1 === value && "meant" }, h("b", {}, String(index + 1)), ` ${text}`)));
  }
}
