// The question as it stands: every part of it can be corrected where it is read.

import { growing, h, letter } from "./dom.js";

export class QuestionView {
  /** `changed()` after every correction. `may.texts`, `may.key` say what may be corrected. */
  constructor({ data, state, may, changed }) {
    Object.assign(this, { data, state, may, changed });
    this.root = h("section", { class: "question", "aria-label": "Question" });
    this.options = h("div", { class: "options", role: "group", "aria-label": "Options; the pressed letter is the key" });
    this.stem = this.text("stem", "Stem", "stem-text");
    this.explanation = this.text("explanation", "Explanation", "explanation-text");
    this.root.append(this.stem, this.options, this.explanation, this.sorting());
    this.paintOptions();
  }

  text(name, label, className) {
    const { state } = this;
    if (!this.may.texts) {
      const said = state.texts[name];
      return h("div", { class: `field ${className}` }, h("span", { class: "label" }, label), h("p", {}, said || "none"));
    }
    const area = growing({
      class: "text",
      "aria-label": label,
      name,
      value: state.texts[name],
      placeholder: `no ${label.toLowerCase()}`,
      oninput: () => {
        state.texts[name] = area.value;
        this.changed();
      },
    });
    if (name === "stem") this.stemArea = area;
    return h("label", { class: `field ${className}` }, h("span", { class: "label" }, label), area);
  }

  /** Task, category, tier: small, on one line. */
  sorting() {
    const { data, state } = this;
    const choice = (name, label, values) => {
      if (!this.may.texts) return h("span", {}, `${label}: ${state.choices[name] || "none"}`);
      const select = h(
        "select",
        {
          name,
          onchange: () => {
            state.choices[name] = select.value;
            this.changed();
          },
        },
        data.full[name] ? null : h("option", { value: "" }, "none"),
        values.map((value) => h("option", { value }, value)),
      );
      select.value = state.choices[name];
      return h("label", { class: "small" }, `${label} `, select);
    };
    const category = () => {
      if (!this.may.texts) return h("span", {}, `Category: ${state.texts.category || "none"}`);
      const input = h("input", {
        name: "category",
        value: state.texts.category,
        placeholder: data.full.category ?? "none",
        oninput: () => {
          state.texts.category = input.value;
          this.changed();
        },
        // It can't be taken away: left empty, the field shows again what stays.
        onchange: () => {
          if (input.value.trim()) return;
          input.value = state.texts.category = data.full.category ?? "";
          this.changed();
        },
      });
      return h("label", { class: "small" }, "Category ", input);
    };
    return h("div", { class: "sorting" }, choice("task", "Task", data.words.tasks), category(), choice("difficulty", "Tier", data.words.difficulties), this.further());
  }

  /** What is only read: the file's own kind of content, further right answers, the question's id. */
  further() {
    const { contentType, alsoRight, id } = this.data.full;
    return h("span", { class: "further" }, [contentType, alsoRight.length ? `also right: ${alsoRight.join(" or ")}` : null, id].filter(Boolean).join(" · "));
  }

  paintOptions() {
    const { data, state } = this;
    if (data.format === "closed" || data.format === "open") {
      this.options.replaceChildren(this.plainAnswer());
      return;
    }
    this.options.replaceChildren(
      ...state.options.map((option, index) => this.option(option, index)),
      this.may.key ? h("button", { type: "button", class: "quiet add-option", onclick: () => this.addOption() }, "+ add option") : "",
    );
    for (const area of this.options.querySelectorAll("textarea")) area.fit();
  }

  plainAnswer() {
    const { data, state } = this;
    const set = (value) => {
      state.answer = value;
      this.paintOptions();
      this.changed();
    };
    if (data.format === "closed") {
      return h(
        "div",
        { class: "option" },
        h("span", { class: "label" }, "Key"),
        ["yes", "no"].map((value) =>
          h("button", { type: "button", class: "key", disabled: !this.may.key, "aria-pressed": String(state.answer === value), onclick: () => set(value) }, value),
        ),
      );
    }
    const area = growing({ class: "text", "aria-label": "Key", value: state.answer, readonly: !this.may.key });
    area.addEventListener("input", () => {
      state.answer = area.value;
      this.changed();
    });
    queueMicrotask(() => area.fit());
    return h("label", { class: "field" }, h("span", { class: "label" }, "Key"), area);
  }

  option(option, index) {
    const { state } = this;
    const multiple = this.data.format === "multiple";
    const mark = h(
      "button",
      {
        type: "button",
        class: "key",
        disabled: !this.may.key,
        "aria-pressed": String(option.right),
        "aria-label": `${letter(index)} is ${option.right ? "" : "not "}the key`,
        title: this.may.key ? "click: make this the key" : null,
        onclick: () => {
          if (multiple) option.right = !option.right;
          else for (const other of state.options) other.right = other === option;
          this.repaint();
        },
      },
      letter(index),
    );
    const area = growing({ class: "text", "aria-label": `Option ${letter(index)}`, value: option.text, readonly: !this.may.key });
    area.addEventListener("input", () => {
      option.text = area.value;
      this.changed();
    });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // an option is one line
    });
    const move = (by) => {
      state.options.splice(index, 1);
      state.options.splice(index + by, 0, option);
      this.repaint();
    };
    const tools = h(
      "span",
      { class: "tools" },
      h("button", { type: "button", class: "quiet", "aria-label": `move option ${letter(index)} up`, disabled: index === 0, onclick: () => move(-1) }, "↑"),
      h("button", { type: "button", class: "quiet", "aria-label": `move option ${letter(index)} down`, disabled: index === state.options.length - 1, onclick: () => move(1) }, "↓"),
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-label": `remove option ${letter(index)}`,
          disabled: state.options.length <= 2,
          onclick: () => {
            state.options.splice(index, 1);
            this.repaint();
          },
        },
        "✕",
      ),
    );
    return h("div", { class: `option${option.right ? " is-right" : ""}` }, mark, area, option.right ? h("span", { class: "is-key" }, "key") : null, this.may.key ? tools : null);
  }

  addOption() {
    if (this.state.options.length >= 26) return;
    this.state.options.push({ text: "", from: null, right: false });
    this.repaint();
    this.options.querySelector(".option:last-of-type textarea")?.focus();
  }

  repaint() {
    this.paintOptions();
    this.changed();
  }

  fit() {
    for (const area of this.root.querySelectorAll("textarea")) area.fit();
  }
}
