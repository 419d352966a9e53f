// The reviewer's own part: ratings, yes/no, difficulty, kinds of error, texts.

import type { Choice as NamedChoice, Question, RatingQuestion, ReviewData, YesNoField } from "../shared/api";
import { growingArea, h, keycap, letterIndex } from "../shared/dom";
import { keyOfTier, stepsOf, type OpinionState, type Step } from "./opinion";

type Value = number | boolean | string;

interface Choice {
  value: Value;
  text: string;
  key?: string | undefined;
  title?: string;
}

const yesNo = (keys: boolean): Choice[] => [
  { value: true, text: "yes", key: keys ? "Y" : undefined },
  { value: false, text: "no", key: keys ? "N" : undefined },
];

export class Judgement {
  readonly root = h("section", { class: "judgement", "aria-label": "Judgement" });
  readonly commentArea: HTMLTextAreaElement;
  private readonly steps: Step[];
  private readonly rows = new Map<string, HTMLElement>();
  private readonly anchor = h("p", { class: "anchor" });
  private readonly errorBox: HTMLElement;
  /** The next letter names a kind of error. */
  private isMarking = false;
  private lastSet: string | undefined;

  /** `changed(note)` is called after every choice. */
  constructor(
    private readonly data: ReviewData,
    question: Question,
    private readonly state: OpinionState,
    private readonly changed: (note?: string) => void,
  ) {
    this.steps = stepsOf(data, state);
    this.errorBox = this.errors();
    this.commentArea = this.area("comment", "Comment");
    const { asks } = data;
    if (asks.ratings.length) this.root.append(h("div", {}, h("div", { class: "ratings" }, asks.ratings.map((rating) => this.rating(rating))), this.anchor));
    if (asks.flags) this.root.append(this.flags(question));
    this.root.append(this.errorBox, this.texts());
    this.paint();
  }

  /** A digit goes to the next rating, Y and N to the next yes/no, E M H to the difficulty. */
  key(key: string): boolean {
    if (this.isMarking) return this.markKey(key);
    if (key === "f") return this.setMarking(true);
    const { asks, scales } = this.data;
    if (scales.values.includes(Number(key))) return this.fill("rating", Number(key));
    if (key === "Backspace") return this.takeBack();
    if (!asks.flags) return false;
    if (key === "y" || key === "n") return this.fill("flag", key === "y");
    const tier = scales.tiers.find(({ id }) => keyOfTier(id) === key.toUpperCase());
    if (tier) this.set("difficulty", tier.id);
    return tier !== undefined;
  }

  /** Bring a part into sight and mark it. */
  point(name: string): boolean {
    const row = this.rows.get(name) ?? (name === "errors" ? this.errorBox : null);
    if (!row) return false;
    row.scrollIntoView({ block: "nearest" });
    row.classList.remove("pointed");
    row.getBoundingClientRect(); // restarts the animation
    row.classList.add("pointed");
    row.querySelector("button")?.focus({ preventScroll: true });
    return true;
  }

  // ------------------------------------------------------------------ parts

  private rating({ name, label, anchors }: RatingQuestion): HTMLElement {
    const choices = anchors.map((anchor, index) => ({ value: index + 1, text: String(index + 1), title: `${index + 1}: ${anchor}` }));
    return this.choiceRow(name, label, choices, "rating");
  }

  private flags(question: Question): HTMLElement {
    const { flags, tiers } = this.data.scales;
    const choices = tiers.map(({ id, label }) => ({ value: id, text: label, key: keyOfTier(id) }));
    const rows = (isRequired: boolean): HTMLElement[] => flags.filter(({ required }) => required === isRequired).map((flag) => this.flag(flag));
    return h(
      "div",
      { class: "flags" },
      rows(true),
      this.choiceRow("difficulty", `Your difficulty (machine: ${question.difficulty ?? "none"})`, choices, "wide"),
      rows(false),
    );
  }

  private flag({ id, label, required }: YesNoField): HTMLElement {
    return this.choiceRow(id, label, yesNo(required), required ? "" : "optional");
  }

  private choiceRow(name: string, label: string, choices: Choice[], className = ""): HTMLElement {
    const choice = ({ value, text, key, title }: Choice): HTMLElement => {
      const show = (): void => this.showAnchor(name, value);
      const act = (): void => this.set(name, className === "optional" && this.value(name) === value ? null : value);
      return h("button", { type: "button", class: "choice", title, "data-value": String(value), onclick: act, onpointerenter: show, onfocus: show }, text, key !== undefined && keycap(key));
    };
    const row = h("fieldset", { class: `row ${className}`, "data-step": name, onpointerleave: () => this.showAnchor() }, h("legend", {}, label), choices.map(choice));
    this.rows.set(name, row);
    return row;
  }

  private errors(): HTMLElement {
    const chip = ({ id, label }: NamedChoice, index: number): HTMLElement =>
      h("button", { type: "button", class: "choice chip", "data-error": id, onclick: () => this.toggleError(id) }, h("kbd", { "aria-hidden": "true" }, String.fromCharCode(97 + index)), label);
    return h("fieldset", { class: "errors", "data-step": "errors" }, h("legend", {}, "Kinds of error ", keycap("F")), this.data.scales.errors.map(chip));
  }

  private texts(): HTMLElement {
    const field = (label: string, key: string | null, area: HTMLElement): HTMLElement => h("label", { class: "field free" }, h("span", { class: "label" }, label, " ", key !== null && keycap(key)), area);
    const reasoning = "Clinical reasoning";
    const why = "Reason for changing your verdict";
    return h(
      "div",
      { class: "texts" },
      this.data.last && field(why, null, this.area("why", why)),
      this.data.asks.flags && field(reasoning, null, this.area("clinical_reasoning", reasoning)),
      field("Comment", "W", this.commentArea),
    );
  }

  private area(name: "comment" | "clinical_reasoning" | "why", label: string): HTMLTextAreaElement {
    return growingArea({ name, value: this.state[name], placeholder: "optional", "aria-label": label }, (text) => {
      this.state[name] = text;
      this.changed();
    });
  }

  // ----------------------------------------------------------------- values

  private step(name: string | undefined): Step | undefined {
    return this.steps.find((step) => step.name === name);
  }

  private ratingNamed(name: string | undefined): RatingQuestion | undefined {
    return this.data.asks.ratings.find((rating) => rating.name === name);
  }

  private value(name: string): Value | null {
    return (this.step(name) ?? { get: () => this.state.flags[name] ?? null }).get();
  }

  private isFixed(name: string): boolean {
    return this.data.fixedAlignment !== null && this.ratingNamed(name)?.ofImage === true;
  }

  private set(name: string, value: Value | null): void {
    if (this.isFixed(name) && value !== this.data.fixedAlignment) {
      this.changed(`${this.ratingNamed(name)?.label ?? name} is locked at ${String(this.data.fixedAlignment)} because the report was opened.`);
      return;
    }
    const step = this.step(name);
    if (step) step.set(value);
    else this.state.flags[name] = value as boolean | null;
    this.lastSet = name;
    this.paint();
    this.changed();
  }

  /** The first part that is not judged yet: where the next digit or letter goes. */
  private cursor(): Step | undefined {
    return this.steps.find((step) => step.get() === null);
  }

  private fill(kind: Step["kind"], value: Value): true {
    const step = this.steps.find((each) => each.kind === kind && each.get() === null);
    if (step) this.set(step.name, value);
    else this.changed(kind === "rating" ? "All ratings are given. Backspace undoes the last one." : "Both are given. Backspace undoes the last one.");
    return true;
  }

  private takeBack(): true {
    const given = this.steps.filter((step) => step.get() !== null && !this.isFixed(step.name));
    const last = given.find((step) => step.name === this.lastSet) ?? given.at(-1);
    if (!last) return true;
    last.set(null);
    this.lastSet = this.steps.slice(0, this.steps.indexOf(last)).findLast((step) => step.get() !== null)?.name;
    this.paint();
    this.changed();
    return true;
  }

  private setMarking(on: boolean): true {
    this.isMarking = on;
    this.errorBox.classList.toggle("marking", on);
    if (on) this.errorBox.scrollIntoView({ block: "nearest" });
    return true;
  }

  private markKey(key: string): true {
    const kind = this.data.scales.errors[letterIndex(key)];
    if (kind) this.toggleError(kind.id);
    return this.setMarking(false);
  }

  private toggleError(kind: string): void {
    const { errors } = this.state;
    if (!errors.delete(kind)) errors.add(kind);
    this.paint();
    this.changed();
  }

  // --------------------------------------------------------------- painting

  private paint(): void {
    const cursor = this.cursor()?.name;
    for (const [name, row] of this.rows) {
      const value = String(this.value(name));
      row.classList.toggle("current", name === cursor);
      for (const button of row.querySelectorAll<HTMLButtonElement>(".choice")) {
        button.setAttribute("aria-pressed", String(button.dataset.value === value));
        button.disabled = this.isFixed(name) && button.dataset.value !== String(this.data.fixedAlignment);
      }
    }
    for (const chip of this.errorBox.querySelectorAll<HTMLElement>("[data-error]")) chip.setAttribute("aria-pressed", String(this.state.errors.has(chip.dataset.error ?? "")));
    this.showAnchor();
  }

  /** What each value of a rating means: of the one pointed at, or of the one in turn. */
  private showAnchor(name?: string, pointed?: Value): void {
    const { ratings } = this.data.asks;
    const wanted = [name, this.cursor()?.name, this.lastSet].map((each) => this.ratingNamed(each)).find(Boolean);
    const rating = wanted ?? ratings.at(-1);
    if (!rating) return;
    const value = pointed ?? this.value(rating.name);
    this.anchor.replaceChildren(...rating.anchors.map((text, index) => h("span", { class: index + 1 === value && "meant" }, h("b", {}, String(index + 1)), ` ${text}`)));
  }
}
