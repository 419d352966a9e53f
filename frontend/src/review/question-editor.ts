// The question: every part of it can be corrected where it is read.

import type { Choice, Question, ReviewData } from "../shared/api";
import { button, fitHeight, growingArea, h, optionLetter } from "../shared/dom";
import type { ChoiceName, Option, OpinionState, TextName } from "./opinion";

/** What may be corrected. */
interface Permissions {
  texts: boolean;
  key: boolean;
}

export class QuestionEditor {
  readonly root: HTMLElement;
  /** Null where texts may not be corrected. */
  stemArea: HTMLTextAreaElement | null = null;
  private readonly options = h("div", { class: "options", role: "group", "aria-label": "Options; the pressed letter is the answer key" });

  /** `changed()` is called after every correction. */
  constructor(
    private readonly data: ReviewData,
    private readonly question: Question,
    private readonly state: OpinionState,
    private readonly may: Permissions,
    private readonly changed: () => void,
  ) {
    this.root = h("section", { class: "question", "aria-label": "Question" }, this.textField("stem", "Stem"), this.options, this.textField("explanation", "Explanation"), this.classification());
    this.paintOptions();
  }

  private textField(name: TextName, label: string): HTMLElement {
    const { texts } = this.state;
    const caption = h("span", { class: "label" }, label);
    const className = `field ${name}-text`;
    if (!this.may.texts) return h("div", { class: className }, caption, h("p", {}, texts[name] || "none"));
    const area = growingArea({ class: "text", "aria-label": label, name, value: texts[name], placeholder: `no ${label.toLowerCase()}` }, (text) => {
      texts[name] = text;
      this.changed();
    });
    if (name === "stem") this.stemArea = area;
    return h("label", { class: className }, caption, area);
  }

  /** Task, category, tier, and what is only read: the file's kind of content, further right answers, the question's id. */
  private classification(): HTMLElement {
    const { contentType, alsoRight, id } = this.question;
    const { tasks, tiers } = this.data.scales;
    const further = [contentType, alsoRight.length > 0 && `also right: ${alsoRight.join(" or ")}`, id].filter(Boolean).join(" · ");
    return h("div", { class: "sorting" }, this.choice("task", "Task", tasks), this.category(), this.choice("difficulty", "Tier", tiers), h("span", { class: "further" }, further));
  }

  private choice(name: ChoiceName, label: string, values: Choice[]): HTMLElement {
    const { choices } = this.state;
    if (!this.may.texts) return h("span", {}, `${label}: ${choices[name] || "none"}`);
    const select = h("select", { name }, !this.question[name] && h("option", { value: "" }, "none"), values.map((value) => h("option", { value: value.id }, value.label)));
    select.value = choices[name];
    select.addEventListener("change", () => {
      choices[name] = select.value;
      this.changed();
    });
    return h("label", { class: "small" }, `${label} `, select);
  }

  private category(): HTMLElement {
    const { texts } = this.state;
    if (!this.may.texts) return h("span", {}, `Category: ${texts.category || "none"}`);
    const input = h("input", { name: "category", value: texts.category, placeholder: this.question.category ?? "none" });
    const take = (text: string): void => {
      texts.category = text;
      this.changed();
    };
    input.addEventListener("input", () => take(input.value));
    input.addEventListener("change", () => {
      if (input.value.trim()) return;
      input.value = this.question.category ?? ""; // it can't be removed: left empty, the field shows again what stays
      take(input.value);
    });
    return h("label", { class: "small" }, "Category ", input);
  }

  private paintOptions(): void {
    const { data, state, may } = this;
    if (data.format === "closed") this.options.replaceChildren(this.yesNoKey());
    else if (data.format === "open") this.options.replaceChildren(this.textKey());
    else {
      this.options.replaceChildren(...state.options.map((option, index) => this.option(option, index)));
      if (may.key) this.options.append(button("+ add option", null, () => this.addOption(), { class: "quiet add-option" }));
    }
    for (const area of this.options.querySelectorAll("textarea")) fitHeight(area);
  }

  private yesNoKey(): HTMLElement {
    const choice = (value: string): HTMLElement => {
      const act = (): void => {
        this.state.answer = value;
        this.repaint();
      };
      return button(value, null, act, { class: "key", disabled: !this.may.key, "aria-pressed": String(this.state.answer === value) });
    };
    return h("div", { class: "option" }, h("span", { class: "label" }, "Key"), choice("yes"), choice("no"));
  }

  private textKey(): HTMLElement {
    const area = growingArea({ class: "text", "aria-label": "Key", value: this.state.answer, readonly: !this.may.key }, (text) => {
      this.state.answer = text;
      this.changed();
    });
    return h("label", { class: "field" }, h("span", { class: "label" }, "Key"), area);
  }

  private option(option: Option, index: number): HTMLElement {
    const { may } = this;
    const { options } = this.state;
    const letter = optionLetter(index);
    const key = button(letter, null, () => this.toggleKey(option), {
      class: "key",
      disabled: !may.key,
      "aria-pressed": String(option.right),
      "aria-label": `${letter} is ${option.right ? "" : "not "}the key`,
      title: may.key && "click to make this the answer key",
    });
    const area = growingArea({ class: "text", "aria-label": `Option ${letter}`, value: option.text, readonly: !may.key }, (text) => {
      option.text = text;
      this.changed();
    });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // an option is one line
    });
    const tool = (sign: string, label: string, disabled: boolean, move: () => void): HTMLElement => {
      const act = (): void => {
        options.splice(index, 1);
        move();
        this.repaint();
      };
      return button(sign, null, act, { class: "quiet", "aria-label": label, disabled });
    };
    const tools = h(
      "span",
      { class: "tools" },
      tool("↑", `move option ${letter} up`, index === 0, () => options.splice(index - 1, 0, option)),
      tool("↓", `move option ${letter} down`, index === options.length - 1, () => options.splice(index + 1, 0, option)),
      tool("✕", `remove option ${letter}`, options.length <= 2, () => undefined),
    );
    return h("div", { class: `option${option.right ? " is-right" : ""}` }, key, area, option.right && h("span", { class: "is-key" }, "key"), may.key && tools);
  }

  private toggleKey(option: Option): void {
    if (this.data.format === "multiple") option.right = !option.right;
    else for (const other of this.state.options) other.right = other === option;
    this.repaint();
  }

  private addOption(): void {
    if (this.state.options.length >= 26) return;
    this.state.options.push({ text: "", from: null, right: false });
    this.repaint();
    this.options.querySelector<HTMLElement>(".option:last-of-type textarea")?.focus();
  }

  private repaint(): void {
    this.paintOptions();
    this.changed();
  }
}
