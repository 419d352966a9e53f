// The question: each part can be corrected in place.

import type { Choice, Question, ReviewData } from "../shared/api";
import { button, fitHeight, growingTextArea, h, keycap, optionLetter } from "../shared/dom";
import type { ChoiceName, Option, OpinionState, TextName } from "./opinion";

/** Which parts may be corrected. */
interface Permissions {
  texts: boolean;
  key: boolean;
}

export class QuestionEditor {
  readonly root: HTMLElement;
  /** Null where texts may not be corrected. */
  stemArea: HTMLTextAreaElement | null = null;
  private readonly options = h("div", { class: "options", role: "group", "aria-label": "Options; the pressed letter is the answer key" });

  /** `onChange()` runs after every correction. */
  constructor(
    private readonly data: ReviewData,
    private readonly question: Question,
    private readonly state: OpinionState,
    private readonly permissions: Permissions,
    private readonly onChange: () => void,
  ) {
    this.root = h("section", { class: "question", "aria-label": "Question" }, this.buildTextField("stem", "Stem"), this.options, this.buildTextField("explanation", "Explanation"), this.buildClassification());
    this.paintOptions();
  }

  /** Whether the next digit changes the answer key. */
  get isChoosingKey(): boolean {
    return this.options.classList.contains("marking");
  }

  /** Let the next digit change the answer key, or focus the field of a text answer key. Returns false if it may not be corrected. */
  startKeyChange(): boolean {
    if (!this.permissions.key) return false;
    const textKey = this.options.querySelector<HTMLElement>(".key-text");
    if (textKey) textKey.focus();
    else this.setChoosingKey(true);
    return true;
  }

  /** Choose the option with the pressed digit, or yes (1) or no (2). Any other key press only ends the choice. */
  chooseKey(pressedKey: string): true {
    this.setChoosingKey(false);
    if (/^[1-9]$/.test(pressedKey)) this.options.querySelectorAll<HTMLButtonElement>("button.key")[Number(pressedKey) - 1]?.click();
    return true;
  }

  private setChoosingKey(enabled: boolean): void {
    this.options.classList.toggle("marking", enabled);
    this.options.querySelectorAll("button.key").forEach((key, index) => {
      if (enabled && index < 9) key.append(keycap(String(index + 1)));
      else key.querySelector("kbd")?.remove();
    });
    if (enabled) this.options.scrollIntoView({ block: "nearest" });
  }

  private buildTextField(name: TextName, label: string): HTMLElement {
    const { texts } = this.state;
    const caption = h("span", { class: "label" }, label);
    const className = `field ${name}-text`;
    if (!this.permissions.texts) return h("div", { class: className }, caption, h("p", {}, texts[name] || "none"));
    const area = growingTextArea({ class: "text", "aria-label": label, name, value: texts[name], placeholder: `no ${label.toLowerCase()}` }, (text) => {
      texts[name] = text;
      this.onChange();
    });
    if (name === "stem") this.stemArea = area;
    return h("label", { class: className }, caption, area);
  }

  /** Task, category and, after the verdict, tier; read-only: content type, other correct answers and id of the question. */
  private buildClassification(): HTMLElement {
    const { contentType, alsoRight, id } = this.question;
    const { tasks, tiers } = this.data.choices;
    const details = [contentType && `Content type: ${contentType}`, alsoRight.length > 0 && `also correct: ${alsoRight.join(" or ")}`, id].filter(Boolean).join(" · ");
    return h("div", { class: "sorting" }, this.buildSelect("task", "Task", tasks), this.buildCategoryField(), this.data.last && this.buildSelect("difficulty", "Difficulty", tiers), h("span", { class: "further" }, details));
  }

  private buildSelect(name: ChoiceName, label: string, values: Choice[]): HTMLElement {
    const { choices } = this.state;
    if (!this.permissions.texts) return h("span", {}, `${label}: ${choices[name] || "none"}`);
    const select = h("select", { name }, !this.question[name] && h("option", { value: "" }, "none"), values.map((value) => h("option", { value: value.id }, value.label)));
    select.value = choices[name];
    select.addEventListener("change", () => {
      choices[name] = select.value;
      this.onChange();
    });
    return h("label", { class: "small" }, `${label} `, select);
  }

  private buildCategoryField(): HTMLElement {
    const { texts } = this.state;
    if (!this.permissions.texts) return h("span", {}, `Category: ${texts.category || "none"}`);
    const input = h("input", { name: "category", value: texts.category, placeholder: this.question.category ?? "none" });
    const setCategory = (text: string): void => {
      texts.category = text;
      this.onChange();
    };
    input.addEventListener("input", () => setCategory(input.value));
    input.addEventListener("change", () => {
      if (input.value.trim()) return;
      input.value = this.question.category ?? ""; // a category cannot be removed: an empty field shows the original one again
      setCategory(input.value);
    });
    return h("label", { class: "small" }, "Category ", input);
  }

  private paintOptions(): void {
    const { data, state, permissions } = this;
    if (data.format === "closed") this.options.replaceChildren(this.buildYesNoKey());
    else if (data.format === "open") this.options.replaceChildren(this.buildTextKey());
    else {
      this.options.replaceChildren(...state.options.map((option, index) => this.buildOption(option, index)));
      if (permissions.key) this.options.append(button("+ Add option", null, () => this.addOption(), { class: "quiet add-option" }));
    }
    for (const area of this.options.querySelectorAll("textarea")) fitHeight(area);
  }

  private buildYesNoKey(): HTMLElement {
    const buildKeyButton = (value: string): HTMLElement => {
      const onClick = (): void => {
        this.state.answer = value;
        this.repaint();
      };
      return button(value, null, onClick, { class: "key", disabled: !this.permissions.key, "aria-pressed": String(this.state.answer === value) });
    };
    return h("div", { class: "option" }, h("span", { class: "label" }, "Key"), buildKeyButton("yes"), buildKeyButton("no"));
  }

  private buildTextKey(): HTMLElement {
    const area = growingTextArea({ class: "text key-text", "aria-label": "Key", value: this.state.answer, readonly: !this.permissions.key }, (text) => {
      this.state.answer = text;
      this.onChange();
    });
    return h("label", { class: "field" }, h("span", { class: "label" }, "Key"), area);
  }

  private buildOption(option: Option, index: number): HTMLElement {
    const { permissions } = this;
    const { options } = this.state;
    const letter = optionLetter(index);
    const key = button(letter, null, () => this.toggleKey(option), {
      class: "key",
      disabled: !permissions.key,
      "aria-pressed": String(option.isCorrect),
      "aria-label": `${letter} is ${option.isCorrect ? "" : "not "}the key`,
      title: permissions.key && "click to make this the answer key",
    });
    const area = growingTextArea({ class: "text", "aria-label": `Option ${letter}`, value: option.text, readonly: !permissions.key }, (text) => {
      option.text = text;
      this.onChange();
    });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // an option is one line
    });
    const buildToolButton = (symbol: string, label: string, disabled: boolean, reinsert: () => void): HTMLElement => {
      const onClick = (): void => {
        options.splice(index, 1);
        reinsert();
        this.repaint();
      };
      return button(symbol, null, onClick, { class: "quiet", "aria-label": label, disabled });
    };
    const tools = h(
      "span",
      { class: "tools" },
      buildToolButton("↑", `move option ${letter} up`, index === 0, () => options.splice(index - 1, 0, option)),
      buildToolButton("↓", `move option ${letter} down`, index === options.length - 1, () => options.splice(index + 1, 0, option)),
      buildToolButton("✕", `remove option ${letter}`, options.length <= 2, () => undefined),
    );
    return h("div", { class: `option${option.isCorrect ? " is-right" : ""}` }, key, area, option.isCorrect && h("span", { class: "is-key" }, "answer key"), permissions.key && tools);
  }

  private toggleKey(option: Option): void {
    if (this.data.format === "multiple") option.isCorrect = !option.isCorrect;
    else for (const candidate of this.state.options) candidate.isCorrect = candidate === option;
    this.repaint();
  }

  private addOption(): void {
    if (this.state.options.length >= 26) return;
    this.state.options.push({ text: "", originalIndex: null, isCorrect: false });
    this.repaint();
    this.options.querySelector<HTMLElement>(".option:last-of-type textarea")?.focus();
  }

  private repaint(): void {
    this.paintOptions();
    this.onChange();
  }
}
