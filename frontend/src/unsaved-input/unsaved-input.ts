// What is typed into a page's long texts, kept while the field does not show it saved, and offered where the field has
// another text and has not been touched. Nothing is put back unasked.

import { h, listen } from "../shared/dom";
import { mountOnce } from "../shared/mount";

const PREFIX = "overread-typed:";
const FIELDS = '[data-testid="stMain"] textarea, [data-testid="stMain"] input[type="text"]';
const SUCCESS = '[data-testid="stAlertContentSuccess"]';
const LONG = 20; // characters; shorter texts (names, search words) are typed again sooner than looked for

type Field = HTMLInputElement | HTMLTextAreaElement;

interface KeptText {
  text: string;
  at: number;
}

interface Offer extends KeptText {
  field: Field;
  key: string;
}

const widgetKey = (field: Field): string | undefined => [...(field.closest('[class*="st-key-"]')?.classList ?? [])].find((name) => name.startsWith("st-key-"));
const fieldsOfPage = (): Field[] => [...document.querySelectorAll<Field>(FIELDS)];
const keysBeginning = (prefix: string): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
const timeOfDay = (at: number): string => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

class UnsavedInput {
  private readonly root = h("div", { class: "typed", role: "status" });
  private readonly touched = new WeakSet<Field>();
  private readonly ofPerson: string;
  private readonly ends: (() => void)[];
  private offered = "";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parent: HTMLElement, person: number) {
    parent.append(this.root);
    this.ofPerson = `${PREFIX}${person}:`;
    for (const key of keysBeginning(PREFIX)) if (!key.startsWith(this.ofPerson)) sessionStorage.removeItem(key);
    const observer = new MutationObserver((changes) => this.pageChanged(changes));
    const app = document.querySelector('[data-testid="stApp"]');
    if (app) observer.observe(app, { childList: true, subtree: true });
    const typed = ({ target }: Event): void => {
      if (target instanceof Element && target.matches(FIELDS)) this.keep(target as Field);
    };
    this.ends = [listen(document, "input", typed), () => observer.disconnect(), () => clearTimeout(this.timer)];
    this.offer();
  }

  update(): void {} // the person of a page does not change

  end(): void {
    for (const end of this.ends) end();
    this.root.remove();
  }

  /** Part of the page was drawn anew. */
  private pageChanged(changes: MutationRecord[]): void {
    const showsSuccess = (node: Node): boolean => node instanceof Element && node.querySelector(SUCCESS) !== null;
    if (changes.some((change) => [...change.addedNodes].some(showsSuccess))) setTimeout(() => this.dropSaved(), 500);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.offer(), 300);
  }

  private get ofPage(): string {
    return `${this.ofPerson}${location.pathname}:`;
  }

  private keyOf(field: Field): string | null {
    const name = widgetKey(field);
    return name === undefined ? null : this.ofPage + name;
  }

  private keep(field: Field): void {
    const key = this.keyOf(field);
    if (key === null) return;
    this.touched.add(field);
    if (field.value.length < LONG) sessionStorage.removeItem(key);
    else {
      try {
        const kept: KeptText = { text: field.value, at: Date.now() };
        sessionStorage.setItem(key, JSON.stringify(kept));
      } catch {
        // No room: the text is in its field, as it was before.
      }
    }
    this.offer();
  }

  /** Offer what was kept of the fields that are there. */
  private offer(): void {
    const offers: Offer[] = [];
    for (const field of fieldsOfPage()) {
      const key = this.keyOf(field);
      const stored = key === null || this.touched.has(field) ? null : sessionStorage.getItem(key);
      if (key === null || stored === null) continue;
      const kept = JSON.parse(stored) as KeptText;
      if (kept.text === field.value) sessionStorage.removeItem(key); // it is saved
      else if (field.offsetParent) offers.push({ field, key, ...kept });
    }
    const offered = JSON.stringify(offers.map(({ key, at }) => [key, at]));
    if (offered === this.offered) return;
    this.offered = offered;
    this.root.replaceChildren(...offers.map((each) => this.offerBox(each)));
  }

  private offerBox({ field, key, text, at }: Offer): HTMLElement {
    const beginning = text.length > 60 ? `${text.slice(0, 60)} …` : text;
    const sentence = `${field.getAttribute("aria-label") || "Text"}: entered at ${timeOfDay(at)}, not saved. “${beginning}”`;
    const button = (label: string, act: () => void): HTMLElement => {
      const clicked = (): void => {
        act();
        this.offer();
      };
      return h("button", { type: "button", onclick: clicked }, label);
    };
    return h("div", { class: "offer" }, h("p", {}, sentence), button("Restore", () => putBack(field, text)), button("Discard", () => sessionStorage.removeItem(key)));
  }

  /** Something of this page was saved: what was typed into fields that are gone since is not needed any more. */
  private dropSaved(): void {
    const present = new Set(fieldsOfPage().map((field) => this.keyOf(field)));
    for (const key of keysBeginning(this.ofPage)) if (!present.has(key)) sessionStorage.removeItem(key);
  }
}

/** As if it were typed: React notices a value only by the element's own setter and an event. */
function putBack(field: Field, text: string): void {
  const { prototype } = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  field.focus();
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.scrollIntoView({ block: "center" });
}

export default mountOnce<{ person: number }>(({ parentElement, data }) => new UnsavedInput(parentElement, data.person));
