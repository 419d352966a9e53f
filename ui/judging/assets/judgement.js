// The reviewer's own part: ratings, yes/no, difficulty, kinds of error, texts.

import { growing, h, keycap } from "./dom.js";
import { steps } from "./model.js";

const MORE_FLAGS = [
  ["image_centric", "Image-centric"],
  ["clinically_relevant", "Clinically relevant"],
];

export class Judgement {
  /** `changed()` after every choice; `locked` when nothing can be saved (closed batch). */
  constructor({ data, state, changed }) {
    Object.assign(this, { data, state, changed });
    this.steps = steps(data, state);
    this.rows = new Map();
    this.marking = false;
    this.anchor = h("p", { class: "anchor" });
    this.root = h("section", { class: "judgement", "aria-label": "Judgement" });
    const ratings = h("div", { class: "ratings" }, data.asks.ratings.map((rating) => this.rating(rating)));
    if (data.asks.ratings.length) this.root.append(h("div", {}, ratings, this.anchor));
    if (data.asks.flags) this.root.append(this.flags());
    this.root.append(this.errors(), this.texts());
    this.paint();
  }

  step(name) {
    return this.steps.find((step) => step.name === name);
  }

  choice(name, values, { label, className = "" }) {
    const fieldset = h(
      "fieldset",
      { class: `row ${className}`, "data-step": name },
      h("legend", {}, label),
      values.map(({ value, text, key, title }) =>
        h(
          "button",
          {
            type: "button",
            class: "choice",
            title,
            "data-value": String(value),
            onclick: () => this.set(name, this.value(name) === value && className === "optional" ? null : value),
            onpointerenter: () => this.showAnchor(name, value),
            onfocus: () => this.showAnchor(name, value),
          },
          text,
          key ? keycap(key) : null,
        ),
      ),
    );
    fieldset.addEventListener("pointerleave", () => this.showAnchor());
    this.rows.set(name, fieldset);
    return fieldset;
  }

  rating({ name, label, anchors }) {
    const values = anchors.map((anchor, index) => ({ value: index + 1, text: String(index + 1), title: `${index + 1}: ${anchor}` }));
    return this.choice(name, values, { label, className: "rating" });
  }

  flags() {
    const yesNo = (keys) => [
      { value: true, text: "yes", key: keys ? "Y" : null },
      { value: false, text: "no", key: keys ? "N" : null },
    ];
    const { data } = this;
    return h(
      "div",
      { class: "flags" },
      this.choice("domain_specific", yesNo(true), { label: "Needs radiology" }),
      this.choice("cognitive_depth", yesNo(true), { label: "More than recall" }),
      this.choice(
        "difficulty",
        data.words.difficulties.map((value) => ({ value, text: value, key: value[0].toUpperCase() })),
        { label: `Your difficulty (machine: ${data.full.difficulty ?? "none"})`, className: "wide" },
      ),
      ...MORE_FLAGS.map(([name, label]) => this.choice(name, yesNo(false), { label, className: "optional" })),
    );
  }

  errors() {
    const { data, state } = this;
    this.errorBox = h(
      "fieldset",
      { class: "errors", "data-step": "errors" },
      h("legend", {}, "Kinds of error ", keycap("F")),
      data.words.errors.map((kind, index) =>
        h("button", { type: "button", class: "choice chip", "data-error": kind, onclick: () => this.toggleError(kind) }, h("kbd", { "aria-hidden": "true" }, String.fromCharCode(97 + index)), kind),
      ),
    );
    return this.errorBox;
  }

  texts() {
    const { state } = this;
    const area = (name, label, key) => {
      const field = growing({ name, value: state[name], placeholder: "optional", "aria-label": label });
      field.addEventListener("input", () => {
        state[name] = field.value;
        this.changed();
      });
      return h("label", { class: "field free" }, h("span", { class: "label" }, label, " ", key ? keycap(key) : null), field);
    };
    const comment = area("comment", "Comment", "W");
    this.commentArea = comment.querySelector("textarea");
    const why = this.data.last ? area("why", "Why you change your verdict", null) : null;
    return h("div", { class: "texts" }, why, this.data.asks.flags ? area("clinical_reasoning", "Clinical reasoning", null) : null, comment);
  }

  value(name) {
    return this.step(name) ? this.step(name).get() : this.state.flags[name];
  }

  set(name, value) {
    if (name === "image_alignment" && this.data.fixedAlignment !== null && value !== this.data.fixedAlignment) {
      this.changed({ note: `Image alignment was rated ${this.data.fixedAlignment} before the report was opened, and stays.` });
      return;
    }
    if (this.step(name)) this.step(name).set(value);
    else this.state.flags[name] = value;
    this.lastSet = name;
    this.paint();
    this.changed();
  }

  /** The first part that is not judged yet: where the next digit or letter goes. */
  cursor() {
    return this.steps.find((step) => step.get() === null) ?? null;
  }

  /** A digit goes to the next rating, Y and N to the next yes/no, E M H to the difficulty. */
  key(key) {
    if (this.marking) return this.markKey(key);
    if (key === "f") return this.setMarking(true);
    if (/^[1-5]$/.test(key)) return this.fill("rating", Number(key));
    if (!this.data.asks.flags) return key === "Backspace" ? this.back() : false;
    if (key === "y" || key === "n") return this.fill("flag", key === "y");
    const difficulty = { e: "easy", m: "medium", h: "hard" }[key];
    if (difficulty) {
      this.set("difficulty", difficulty);
      return true;
    }
    return key === "Backspace" ? this.back() : false;
  }

  fill(kind, value) {
    const step = this.steps.find((each) => each.kind === kind && each.get() === null);
    if (step) this.set(step.name, value);
    else this.changed({ note: kind === "rating" ? "All ratings are given; Backspace takes the last one back." : "Both are given; Backspace takes the last one back." });
    return true;
  }

  back() {
    const given = this.steps.filter((step) => step.get() !== null && !(step.name === "image_alignment" && this.data.fixedAlignment !== null));
    const last = given.find((step) => step.name === this.lastSet) ?? given[given.length - 1];
    if (last) {
      last.set(null);
      const before = this.steps.slice(0, this.steps.indexOf(last)).filter((step) => step.get() !== null);
      this.lastSet = before[before.length - 1]?.name;
      this.paint();
      this.changed();
    }
    return true;
  }

  setMarking(on) {
    this.marking = on;
    this.errorBox.classList.toggle("marking", on);
    if (on) this.errorBox.scrollIntoView({ block: "nearest" });
    return true;
  }

  markKey(key) {
    const index = key.length === 1 ? key.charCodeAt(0) - 97 : -1;
    if (index >= 0 && index < this.data.words.errors.length) this.toggleError(this.data.words.errors[index]);
    this.setMarking(false);
    return true;
  }

  toggleError(kind) {
    const { errors } = this.state;
    if (!errors.delete(kind)) errors.add(kind);
    this.paint();
    this.changed();
  }

  /** What each value of a rating means: of the one in turn, or of the one that is pointed at. */
  showAnchor(name, value) {
    const { ratings } = this.data.asks;
    const wanted = [name, this.cursor()?.name, this.lastSet].map((each) => ratings.find((rating) => rating.name === each)).find(Boolean);
    const rating = wanted ?? ratings[ratings.length - 1];
    if (!rating) return;
    const said = value ?? this.value(rating.name);
    this.anchor.replaceChildren(...rating.anchors.map((text, index) => h("span", { class: index + 1 === said ? "meant" : null }, h("b", {}, String(index + 1)), ` ${text}`)));
  }

  paint() {
    const cursor = this.cursor()?.name;
    for (const [name, row] of this.rows) {
      const value = this.value(name);
      row.classList.toggle("current", name === cursor);
      const fixed = name === "image_alignment" ? this.data.fixedAlignment : null;
      for (const button of row.querySelectorAll(".choice")) {
        button.setAttribute("aria-pressed", String(button.dataset.value === String(value)));
        button.disabled = fixed !== null && button.dataset.value !== String(fixed);
      }
    }
    for (const button of this.errorBox.querySelectorAll("[data-error]")) {
      button.setAttribute("aria-pressed", String(this.state.errors.has(button.dataset.error)));
    }
    this.showAnchor();
  }

  /** Bring a part into sight and make it plain that it is meant. */
  point(name) {
    const row = this.rows.get(name) ?? (name === "errors" ? this.errorBox : null);
    if (!row) return false;
    row.scrollIntoView({ block: "nearest" });
    row.classList.remove("pointed");
    void row.offsetWidth; // restart the animation
    row.classList.add("pointed");
    row.querySelector("button")?.focus({ preventScroll: true });
    return true;
  }

  fit() {
    for (const area of this.root.querySelectorAll("textarea")) area.fit();
  }
}
