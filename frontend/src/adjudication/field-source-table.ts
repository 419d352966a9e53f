// A table in which the adjudicator selects the source of each field's value: the original question, a reviewer, or
// the adjudicator's own version. Fields in which a reviewer differs from the original question come first.

import type { AdjudicationRequest, DisputeData, DisputedField, FieldDifference, OwnValues, ValueSource } from "../shared/api";
import { growingTextArea, h, optionLetter } from "../shared/dom";
import { markChanges } from "../shared/components";
import { keyHint } from "../shared/shortcuts";

const LABELS: Record<DisputedField, string> = {
  stem: "Stem", options: "Options", answer: "Answer key", also_right: "Also correct", explanation: "Explanation",
  task: "Task", category: "Category", difficulty: "Difficulty", boxes: "Boxes",
}; // prettier-ignore

let tableCount = 0;

export class FieldSourceTable {
  readonly root = h("div", { class: "value-sources" });
  private decision: AdjudicationRequest["decision"] | null = null;
  private readonly sources = new Map<DisputedField, ValueSource>();
  private own: OwnValues = {};
  private ownBoxesSource: ValueSource = "original";
  private readonly fieldNames: DisputedField[];
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly ownContainers = new Map<DisputedField, HTMLElement>();
  private readonly rejectCheckbox: HTMLInputElement;
  private readonly inputNamePrefix: string;
  /** The headings of the versions. A narrow table shows them beside each value instead. */
  private readonly columns: string[];

  /** `startOwnBoxes(source)` lets the adjudicator draw, starting from the boxes of that source. */
  constructor(
    private readonly data: DisputeData,
    private readonly onChange: () => void,
    private readonly startOwnBoxes: (source: ValueSource) => void,
    private readonly showAllBoxes: () => void,
  ) {
    tableCount += 1;
    this.inputNamePrefix = `adjudication-${tableCount}`;
    const hasOptions = data.format === "single" || data.format === "multiple";
    this.fieldNames = [...new Set<DisputedField>([...data.fields.map(({ name }) => name), "answer", ...(hasOptions ? (["also_right"] as const) : []), "boxes"])];
    this.rejectCheckbox = h("input", { type: "checkbox", onchange: () => (this.rejectCheckbox.checked ? this.reject() : this.keepQuestion()) });
    this.columns = ["Original", ...data.reviewers.map(({ name }) => name), "Your version"];
    const disputed = data.fields.map(({ name }) => name);
    const undisputed = this.fieldNames.filter((name) => !disputed.includes(name));
    const buildRows = (names: DisputedField[], className: string): HTMLElement | false => names.length > 0 && h("tbody", { class: className }, names.map((name) => this.buildRow(name)));
    this.root.append(
      h("h3", {}, "Final version"),
      h("table", {}, h("thead", {}, h("tr", {}, ["", ...this.columns].map((text) => h("th", { scope: "col" }, text)))), buildRows(disputed, "disputed"), buildRows(undisputed, "")),
      h("label", { class: "reject" }, this.rejectCheckbox, `Reject the question${keyHint("reject")}`),
    );
  }

  /** Whether the adjudicator's own boxes count. */
  get hasOwnBoxes(): boolean {
    return this.decision === "keep" && this.sources.get("boxes") === "own";
  }

  /** Select one reviewer, or the original question, as the source of all fields. */
  selectForAll(source: number | "original"): void {
    if (source !== "original" && this.data.reviewers[source]?.decision === "reject") this.reject();
    else for (const name of this.fieldNames) this.select(name, source);
  }

  reject(): void {
    this.decision = "reject";
    this.rejectCheckbox.checked = true;
    this.root.classList.add("rejected");
    this.onChange();
  }

  /** Returns a message about what is missing; null if nothing is. */
  describeMissing(): string | null {
    if (this.decision === null) return `Use one of the versions${keyHint("version-1")}, combine them field by field, or reject the question${keyHint("reject")}.`;
    if (this.decision === "reject") return null;
    const undecided = this.data.fields.find(({ name }) => !this.sources.has(name));
    if (undecided) return `Choose a version for: ${LABELS[undecided.name].toLowerCase()}.`;
    const unfilled = this.fieldNames.find((name) => name !== "boxes" && this.sources.get(name) === "own" && this.own[name] === undefined);
    return unfilled ? `Enter your own version of: ${LABELS[unfilled].toLowerCase()}.` : null;
  }

  /** Builds the request. Call only if `describeMissing()` is null. */
  buildRequest(): Pick<AdjudicationRequest, "decision" | "value_sources" | "own"> {
    if (this.decision !== "keep") return { decision: "reject", value_sources: {}, own: {} };
    const own = Object.entries(this.own).filter(([name]) => this.sources.get(name as DisputedField) === "own");
    return { decision: "keep", value_sources: Object.fromEntries(this.sources), own: Object.fromEntries(own) };
  }

  private buildRow(name: DisputedField): HTMLElement {
    const field = this.data.fields.find((difference) => difference.name === name) ?? this.createUndisputedField(name);
    const buildChoice = (source: ValueSource, ...content: (Node | string)[]): HTMLElement => {
      const input = h("input", { type: "radio", name: `${this.inputNamePrefix}-${name}`, onchange: () => this.select(name, source), "aria-label": `${LABELS[name]}: ${source}` });
      this.inputs.set(`${name}/${source}`, input);
      return h("label", {}, input, h("span", { class: "value" }, content));
    };
    const buildCell = (column: number, className: string, ...content: HTMLElement[]): HTMLElement => h("td", { class: className, "data-column": this.columns[column] }, content);
    const values = field.values.map((text, index) => (text === null ? buildCell(index + 1, "nothing", h("span", {}, "rejected")) : buildCell(index + 1, "", buildChoice(index, ...markChanges(field.original, text)))));
    const ownContainer = h("div", { class: "own" });
    this.ownContainers.set(name, ownContainer);
    return h("tr", {}, h("th", { scope: "row" }, LABELS[name]), buildCell(0, "", buildChoice("original", field.original)), values, buildCell(this.columns.length - 1, "own-cell", buildChoice("own", "Your version"), ownContainer));
  }

  /** A field in which no reviewer differs from the original question. */
  private createUndisputedField(name: DisputedField): FieldDifference {
    const { data } = this;
    const boxes = data.radiographs.flatMap((radiograph) => radiograph.originalBoxes ?? []).map(({ label }) => label).join("\n");
    const original = name === "answer" ? data.key : name === "boxes" ? boxes || "no boxes" : "none";
    return { name, original, values: data.reviewers.map(({ decision }) => (decision === "reject" ? null : original)) };
  }

  private select(name: DisputedField, source: ValueSource): void {
    this.keepQuestion();
    this.sources.set(name, source);
    const input = this.inputs.get(`${name}/${source}`);
    if (input) input.checked = true;
    this.ownContainers.get(name)?.replaceChildren(...(source === "own" ? this.buildOwnEditor(name) : []));
    if (source !== "own" && name !== "boxes") this.own = { ...this.own, [name]: undefined };
    if (name === "boxes" && source === "own") this.startOwnBoxes(this.ownBoxesSource);
    else if (name === "boxes") this.showAllBoxes();
    this.onChange();
  }

  private keepQuestion(): void {
    this.decision = "keep";
    this.rejectCheckbox.checked = false;
    this.root.classList.remove("rejected");
  }

  /** The editor of the adjudicator's own value. Its initial text counts as entered. */
  private buildOwnEditor(name: DisputedField): (Node | string)[] {
    const { data } = this;
    switch (name) {
      case "boxes":
        return this.buildBoxSources();
      case "answer":
      case "also_right":
        return [this.buildKeyEditor(name)];
      case "task":
      case "difficulty": {
        const values = name === "task" ? data.choices.tasks : data.choices.difficulties;
        const select = h("select", { "aria-label": LABELS[name] }, h("option", { value: "" }, "choose"), values.map((value) => h("option", { value }, value)));
        select.addEventListener("change", () => (this.own[name] = select.value || undefined));
        return [select];
      }
      case "options":
        return [this.buildTextEditor(name, data.options.join("\n")), h("span", { class: "hint" }, "one option per line, without letters")];
      default:
        return [this.buildTextEditor(name, name === "category" ? "" : data[name])];
    }
  }

  private buildBoxSources(): (Node | string)[] {
    const buildSourceButton = (source: number | "original"): HTMLElement => {
      const onClick = (): void => {
        this.ownBoxesSource = source;
        this.startOwnBoxes(source);
      };
      return h("button", { type: "button", onclick: onClick }, source === "original" ? "original" : optionLetter(source));
    };
    return [h("span", { class: "hint" }, "Draw on the radiograph. Start from "), buildSourceButton("original"), ...this.data.reviewers.map((_, index) => buildSourceButton(index))];
  }

  private buildTextEditor(name: "stem" | "options" | "explanation" | "category", initialText: string): HTMLElement {
    const setText = (text: string): void => {
      if (name === "options") this.own.options = text.split("\n").map((line) => line.trim()).filter(Boolean);
      else this.own[name] = text;
    };
    setText(initialText);
    return growingTextArea({ rows: 2, "aria-label": `own ${LABELS[name]}`, value: initialText }, setText);
  }

  /** Inputs for the key: one option, several options, or further correct options. */
  private buildKeyEditor(name: "answer" | "also_right"): HTMLElement {
    const { format } = this.data;
    if (format === "open") return growingTextArea({ "aria-label": "own key" }, (text) => (this.own.answer = text));
    const isClosed = format === "closed";
    const choices = isClosed ? ["yes", "no"] : (this.own.options ?? this.data.options);
    const type = name === "answer" && format !== "multiple" ? "radio" : "checkbox";
    const inputs = choices.map((text, index) => h("input", { type, name: `${this.inputNamePrefix}-own-${name}`, "aria-label": `${LABELS[name]} ${isClosed ? text : optionLetter(index)}` }));
    const readInputs = (): void => {
      const checkedIndices = inputs.flatMap((input, index) => (input.checked ? [index] : []));
      if (name === "also_right") this.own.also_right = checkedIndices.map((index) => [index]);
      else if (checkedIndices[0] === undefined) this.own.answer = undefined;
      else this.own.answer = isClosed ? choices[checkedIndices[0]] : checkedIndices;
    };
    if (name === "also_right") this.own.also_right = [];
    return h("span", { class: "ticks", onchange: readInputs }, choices.map((text, index) => h("label", { title: text }, inputs[index], isClosed ? text : optionLetter(index))));
  }
}
