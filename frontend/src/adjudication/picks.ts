// Field by field: whose value the question takes. There is a row for each field in which anybody differs from the machine.

import type { AdjudicationRequest, DisputeData, DisputedField, FieldDifference, OwnValues, Side } from "../shared/api";
import { growingArea, h, optionLetter } from "../shared/dom";
import { markChanges } from "../shared/parts";

const LABELS: Record<DisputedField, string> = {
  stem: "Stem", options: "Options", answer: "Key", also_right: "Also right", explanation: "Explanation",
  task: "Task", category: "Category", difficulty: "Difficulty", boxes: "Boxes",
}; // prettier-ignore

let groups = 0;

export class Picks {
  readonly root = h("div", { class: "picks" });
  private decision: AdjudicationRequest["decision"] | null = null;
  private readonly sides = new Map<DisputedField, Side>();
  private own: OwnValues = {};
  private ownBoxesStart: Side = "machine";
  private readonly names: DisputedField[];
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly ownPlaces = new Map<DisputedField, HTMLElement>();
  private readonly rejectBox: HTMLInputElement;
  private readonly group: string;

  /** `showBoxes(start)`: let own boxes be drawn beginning with that side's; null: show everybody's. */
  constructor(
    private readonly data: DisputeData,
    private readonly changed: () => void,
    private readonly showBoxes: (start: Side | null) => void,
  ) {
    groups += 1;
    this.group = `settling-${groups}`;
    const hasOptions = data.format === "single" || data.format === "multiple";
    this.names = [...new Set<DisputedField>([...data.fields.map(({ name }) => name), "answer", ...(hasOptions ? (["also_right"] as const) : []), "boxes"])];
    this.rejectBox = h("input", { type: "checkbox", onchange: () => (this.rejectBox.checked ? this.reject() : this.stand()) });
    const columns = ["", "Original", ...data.reviewers.map(({ called }) => called), "Own"];
    this.root.append(
      h("h3", {}, "Final version"),
      h("table", {}, h("thead", {}, h("tr", {}, columns.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, this.names.map((name) => this.row(name)))),
      h("label", { class: "reject" }, this.rejectBox, "Reject the question (X)"),
    );
  }

  /** Whether the adjudicator's own boxes count. */
  get drawsBoxes(): boolean {
    return this.decision === "stand" && this.sides.get("boxes") === "own";
  }

  /** A whole verdict: one reviewer's, or the machine's own question. */
  take(side: number | "machine"): void {
    if (side !== "machine" && this.data.reviewers[side]?.decision === "reject") this.reject();
    else for (const name of this.names) this.pick(name, side);
  }

  reject(): void {
    this.decision = "reject";
    this.rejectBox.checked = true;
    this.root.classList.add("rejected");
    this.changed();
  }

  /** What is still needed, or null. */
  missing(): string | null {
    if (this.decision === null) return "Use one of the versions (1, 2), combine them field by field, or reject the question (X).";
    if (this.decision === "reject") return null;
    const open = this.data.fields.find(({ name }) => !this.sides.has(name));
    if (open) return `Choose a version for: ${LABELS[open.name].toLowerCase()}.`;
    const empty = this.names.find((name) => name !== "boxes" && this.sides.get(name) === "own" && this.own[name] === undefined);
    return empty ? `Enter your own version of: ${LABELS[empty].toLowerCase()}.` : null;
  }

  /** As the server takes it. Only called when nothing is missing. */
  request(): Pick<AdjudicationRequest, "decision" | "picks" | "own"> {
    if (this.decision !== "stand") return { decision: "reject", picks: {}, own: {} };
    const own = Object.entries(this.own).filter(([name]) => this.sides.get(name as DisputedField) === "own");
    return { decision: "stand", picks: Object.fromEntries(this.sides), own: Object.fromEntries(own) };
  }

  private row(name: DisputedField): HTMLElement {
    const field = this.data.fields.find((each) => each.name === name) ?? this.undisputed(name);
    const choice = (side: Side, ...content: (Node | string)[]): HTMLElement => {
      const input = h("input", { type: "radio", name: `${this.group}-${name}`, onchange: () => this.pick(name, side), "aria-label": `${LABELS[name]}: ${side}` });
      this.inputs.set(`${name}/${side}`, input);
      return h("label", {}, input, h("span", { class: "value" }, content));
    };
    const values = field.values.map((text, at) => (text === null ? h("td", { class: "nothing" }, "rejected") : h("td", {}, choice(at, ...markChanges(field.machine, text)))));
    const place = h("div", { class: "own" });
    this.ownPlaces.set(name, place);
    return h("tr", {}, h("th", { scope: "row" }, LABELS[name]), h("td", {}, choice("machine", field.machine)), values, h("td", {}, choice("own", "own"), place));
  }

  /** A field in which nobody differs from the machine. */
  private undisputed(name: DisputedField): FieldDifference {
    const { data } = this;
    const boxes = data.radiographs.flatMap((each) => each.machineBoxes ?? []).map(({ label }) => label).join("\n");
    const machine = name === "answer" ? data.key : name === "boxes" ? boxes || "no box" : "none";
    return { name, machine, values: data.reviewers.map(({ decision }) => (decision === "reject" ? null : machine)) };
  }

  private pick(name: DisputedField, side: Side): void {
    this.stand();
    this.sides.set(name, side);
    const input = this.inputs.get(`${name}/${side}`);
    if (input) input.checked = true;
    this.ownPlaces.get(name)?.replaceChildren(...(side === "own" ? this.ownEditor(name) : []));
    if (side !== "own" && name !== "boxes") this.own = { ...this.own, [name]: undefined };
    if (name === "boxes") this.showBoxes(side === "own" ? this.ownBoxesStart : null);
    this.changed();
  }

  private stand(): void {
    this.decision = "stand";
    this.rejectBox.checked = false;
    this.root.classList.remove("rejected");
  }

  /** The editor of an own value, with what it starts with already taken. */
  private ownEditor(name: DisputedField): (Node | string)[] {
    const { data } = this;
    switch (name) {
      case "boxes":
        return this.boxStarts();
      case "answer":
      case "also_right":
        return [this.keyEditor(name)];
      case "task":
      case "difficulty": {
        const values = name === "task" ? data.words.tasks : data.words.difficulties;
        const select = h("select", { "aria-label": LABELS[name] }, h("option", { value: "" }, "choose"), values.map((value) => h("option", { value }, value)));
        select.addEventListener("change", () => (this.own[name] = select.value || undefined));
        return [select];
      }
      case "options":
        return [this.textEditor(name, data.options.join("\n")), h("span", { class: "hint" }, "one option per line, without letters")];
      default:
        return [this.textEditor(name, name === "category" ? "" : data[name])];
    }
  }

  private boxStarts(): (Node | string)[] {
    const start = (side: number | "machine"): HTMLElement => {
      const act = (): void => {
        this.ownBoxesStart = side;
        this.showBoxes(side);
      };
      return h("button", { type: "button", onclick: act }, side === "machine" ? "original" : optionLetter(side));
    };
    return [h("span", { class: "hint" }, "Draw on the radiograph. Start from "), start("machine"), ...this.data.reviewers.map((_, at) => start(at))];
  }

  private textEditor(name: "stem" | "options" | "explanation" | "category", start: string): HTMLElement {
    const write = (text: string): void => {
      if (name === "options") this.own.options = text.split("\n").map((line) => line.trim()).filter(Boolean);
      else this.own[name] = text;
    };
    write(start);
    return growingArea({ rows: 2, "aria-label": `own ${LABELS[name]}`, value: start }, write);
  }

  /** The key by ticking: one option, several that belong together, or others that are right by themselves. */
  private keyEditor(name: "answer" | "also_right"): HTMLElement {
    const { format } = this.data;
    if (format === "open") return growingArea({ "aria-label": "own key" }, (text) => (this.own.answer = text));
    const isClosed = format === "closed";
    const choices = isClosed ? ["yes", "no"] : (this.own.options ?? this.data.options);
    const type = name === "answer" && format !== "multiple" ? "radio" : "checkbox";
    const inputs = choices.map((text, at) => h("input", { type, name: `${this.group}-own-${name}`, "aria-label": `${LABELS[name]} ${isClosed ? text : optionLetter(at)}` }));
    const read = (): void => {
      const ticked = inputs.flatMap((input, at) => (input.checked ? [at] : []));
      if (name === "also_right") this.own.also_right = ticked.map((at) => [at]);
      else if (ticked[0] === undefined) this.own.answer = undefined;
      else this.own.answer = isClosed ? choices[ticked[0]] : ticked;
    };
    if (name === "also_right") this.own.also_right = [];
    return h("span", { class: "ticks", onchange: read }, choices.map((text, at) => h("label", { title: text }, inputs[at], isClosed ? text : optionLetter(at))));
  }
}
