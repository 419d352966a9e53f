// Field by field: whose value the question is to have. The rows are those in which anybody differs from the machine.

import { difference } from "./diff.js";
import { growing, h, letter } from "./dom.js";

const CALLED = { stem: "Stem", options: "Options", answer: "Key", also_right: "Also right by itself", explanation: "Explanation", task: "Task", category: "Category", difficulty: "Difficulty", boxes: "Boxes" };

let groups = 0;

export class Picks {
  /** `boxes(start)`: draw own boxes beginning with that side's; null: show everybody's. */
  constructor({ data, changed, boxes }) {
    Object.assign(this, { data, changed, boxes });
    this.decision = null; // "stand", "reject"
    this.whose = Object.fromEntries(data.fields.map(({ name }) => [name, null]));
    this.own = {};
    groups += 1;
    this.group = `settling-${groups}`;
    const keyToo = ["single", "multiple"].includes(data.format);
    this.names = [...new Set([...data.fields.map(({ name }) => name), "answer", ...(keyToo ? ["also_right"] : []), "boxes"])];
    this.root = h("div", { class: "picks" });
    this.build();
  }

  build() {
    this.inputs = new Map();
    this.rejectBox = h("input", { type: "checkbox", onchange: () => (this.rejectBox.checked ? this.reject() : this.stand()) });
    const people = this.data.reviewers.map(({ called }) => called);
    this.rows = h("tbody", {}, this.names.map((name) => this.row(name)));
    this.root.replaceChildren(
      h("h3", {}, "What it is to be"),
      h("table", {}, h("thead", {}, h("tr", {}, ["", "Machine", ...people, "Own"].map((text) => h("th", { scope: "col" }, text)))), this.rows),
      h("label", { class: "reject" }, this.rejectBox, "Reject the question (X)"),
    );
  }

  row(name) {
    const field = this.data.fields.find((each) => each.name === name) ?? { name, machine: this.machineWords(name), values: this.data.reviewers.map((each) => (each.decision === "reject" ? null : this.machineWords(name))) };
    const cell = (whose, text, base) => {
      if (text === null) return h("td", { class: "nothing" }, "rejected");
      const input = h("input", { type: "radio", name: `${this.group}-${name}`, onchange: () => this.pick(name, whose), "aria-label": `${CALLED[name]}: ${whose}` });
      this.inputs.set(`${name}/${whose}`, input);
      return h("td", {}, h("label", {}, input, h("span", { class: "value" }, base === undefined ? text : marked(base, text))));
    };
    this.ownPlaces ??= new Map();
    const place = h("div", { class: "own" });
    this.ownPlaces.set(name, place);
    return h("tr", {}, h("th", { scope: "row" }, CALLED[name]), cell("machine", field.machine), field.values.map((text, at) => cell(at, text, field.machine)), h("td", {}, cell("own", "own").firstChild, place));
  }

  machineWords(name) {
    if (name === "answer") return this.data.key;
    if (name === "boxes") return this.data.radiographs.flatMap((each) => each.machineBoxes ?? []).map(({ label }) => label).join("\n") || "no box";
    return "none";
  }

  pick(name, whose) {
    this.stand();
    this.whose[name] = whose;
    const input = this.inputs.get(`${name}/${whose}`);
    if (input) input.checked = true;
    this.ownPlaces.get(name).replaceChildren();
    if (whose === "own") this.openOwn(name);
    else delete this.own[name];
    if (name === "boxes") this.boxes(whose === "own" ? this.ownStart ?? "machine" : null);
    this.changed();
  }

  /** A whole verdict: one reviewer's, or the machine's own question. */
  take(whose) {
    if (whose !== "machine" && this.data.reviewers[whose].decision === "reject") {
      this.reject();
      return;
    }
    for (const name of this.names) this.pick(name, whose);
  }

  reject() {
    this.decision = "reject";
    this.rejectBox.checked = true;
    this.root.classList.add("rejected");
    this.changed();
  }

  stand() {
    this.decision = "stand";
    this.rejectBox.checked = false;
    this.root.classList.remove("rejected");
  }

  get drawsBoxes() {
    return this.decision === "stand" && this.whose.boxes === "own";
  }

  openOwn(name) {
    const { data } = this;
    const place = this.ownPlaces.get(name);
    if (name === "boxes") {
      const start = (whose) => {
        this.ownStart = whose;
        this.boxes(whose);
      };
      const sides = ["machine", ...data.reviewers.keys()];
      place.replaceChildren(h("span", { class: "hint" }, "Draw on the radiograph. Begin with "), ...sides.map((whose) => h("button", { type: "button", onclick: () => start(whose) }, whose === "machine" ? "machine" : letter(whose))));
      return;
    }
    if (name === "answer" || name === "also_right") {
      place.replaceChildren(this.keyEditor(name));
      return;
    }
    if (name === "task" || name === "difficulty") {
      const choice = h("select", { "aria-label": CALLED[name], onchange: () => (this.own[name] = choice.value || undefined) }, h("option", { value: "" }, "choose"), (name === "task" ? data.words.tasks : data.words.difficulties).map((each) => h("option", { value: each }, each)));
      place.replaceChildren(choice);
      return;
    }
    const start = name === "options" ? data.options.join("\n") : name === "stem" ? data.stem : name === "explanation" ? data.explanation : "";
    const area = growing({ rows: 2, "aria-label": `own ${CALLED[name]}`, oninput: () => this.write(name, area.value) });
    area.value = start;
    place.replaceChildren(area, name === "options" ? h("span", { class: "hint" }, "one a line, without letters") : "");
    this.write(name, start);
  }

  write(name, text) {
    this.own[name] = name === "options" ? text.split("\n").map((line) => line.trim()).filter(Boolean) : text;
  }

  /** The key by ticking: one option, several that belong together, or others that are right by themselves. */
  keyEditor(name) {
    const { format } = this.data;
    const options = this.own.options ?? this.data.options;
    if (format === "open") {
      const area = growing({ rows: 1, "aria-label": "own key", oninput: () => (this.own.answer = area.value) });
      return area;
    }
    const choices = format === "closed" ? ["yes", "no"] : options;
    const kind = name === "answer" && format !== "multiple" ? "radio" : "checkbox";
    const inputs = choices.map((text, at) => h("input", { type: kind, name: `${this.group}-own-${name}`, "aria-label": `${CALLED[name]} ${format === "closed" ? text : letter(at)}` }));
    const read = () => {
      const ticked = inputs.flatMap((input, at) => (input.checked ? [at] : []));
      if (name === "also_right") this.own.also_right = ticked.map((at) => [at]);
      else if (format === "closed") this.own.answer = ticked.length ? choices[ticked[0]] : undefined;
      else this.own.answer = ticked.length ? ticked : undefined;
    };
    if (name === "also_right") this.own.also_right = [];
    return h("span", { class: "ticks", onchange: read }, choices.map((text, at) => h("label", { title: text }, inputs[at], format === "closed" ? text : letter(at))));
  }

  /** What is still to be said, or null. */
  missing() {
    if (this.decision === null) return "Take one of the verdicts (1, 2), combine them field by field, or reject (X).";
    if (this.decision === "reject") return null;
    const open = this.data.fields.find(({ name }) => this.whose[name] === null || this.whose[name] === undefined);
    if (open) return `Say whose ${CALLED[open.name].toLowerCase()} it is to have.`;
    const empty = Object.entries(this.whose).find(([name, whose]) => whose === "own" && name !== "boxes" && this.own[name] === undefined);
    return empty ? `Say your own ${CALLED[empty[0]].toLowerCase()}.` : null;
  }

  /** As the server takes it. */
  said() {
    const picks = Object.fromEntries(Object.entries(this.whose).filter(([, whose]) => whose !== null && whose !== undefined));
    const own = Object.fromEntries(Object.entries(this.own).filter(([name]) => picks[name] === "own"));
    return { decision: this.decision, picks: this.decision === "reject" ? {} : picks, own: this.decision === "reject" ? {} : own };
  }
}

/** A reviewer's value with what is different from the machine's marked, word by word. */
function marked(before, after) {
  return difference(before, after).map(({ kind, text }) => (kind === "same" ? text : h(kind, {}, text)));
}
