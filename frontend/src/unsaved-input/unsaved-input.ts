// Keeps text that was entered into long text fields until it is saved, and offers it if the field has
// another text and has not been edited. Text is restored only on request.

import { h, listen } from "../shared/dom";
import { mountOnce } from "../shared/mount";

const PREFIX = "overread-unsaved-input:";
const FIELD_SELECTOR = '[data-testid="stMain"] textarea, [data-testid="stMain"] input[type="text"]';
const SUCCESS_SELECTOR = '[data-testid="stAlertContentSuccess"]';
const MIN_LENGTH = 20; // characters; shorter texts (names, search words) are quicker to enter again

type Field = HTMLInputElement | HTMLTextAreaElement;

interface StoredText {
  text: string;
  at: number;
}

interface Offer extends StoredText {
  field: Field;
  key: string;
}

const findWidgetKey = (field: Field): string | undefined => [...(field.closest('[class*="st-key-"]')?.classList ?? [])].find((name) => name.startsWith("st-key-"));
const listFields = (): Field[] => [...document.querySelectorAll<Field>(FIELD_SELECTOR)];
const listStorageKeys = (prefix: string): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
const formatTimeOfDay = (at: number): string => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

class UnsavedInput {
  private readonly root = h("div", { class: "unsaved-input", role: "status" });
  private readonly touchedFields = new WeakSet<Field>();
  private readonly personPrefix: string;
  private readonly cleanups: (() => void)[];
  private shownOffersJson = "";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parent: HTMLElement, person: number) {
    parent.append(this.root);
    this.personPrefix = `${PREFIX}${person}:`;
    for (const key of listStorageKeys(PREFIX)) if (!key.startsWith(this.personPrefix)) sessionStorage.removeItem(key);
    const observer = new MutationObserver((changes) => this.handlePageChange(changes));
    const app = document.querySelector('[data-testid="stApp"]');
    if (app) observer.observe(app, { childList: true, subtree: true });
    const onInput = ({ target }: Event): void => {
      if (target instanceof Element && target.matches(FIELD_SELECTOR)) this.storeText(target as Field);
    };
    this.cleanups = [listen(document, "input", onInput), () => observer.disconnect(), () => clearTimeout(this.timer)];
    this.updateOffers();
  }

  update(): void {} // the person of a page does not change

  end(): void {
    for (const end of this.cleanups) end();
    this.root.remove();
  }

  /** Handle a redraw of part of the page. */
  private handlePageChange(changes: MutationRecord[]): void {
    const showsSuccess = (node: Node): boolean => node instanceof Element && node.querySelector(SUCCESS_SELECTOR) !== null;
    if (changes.some((change) => [...change.addedNodes].some(showsSuccess))) setTimeout(() => this.removeSavedTexts(), 500);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.updateOffers(), 300);
  }

  private get pagePrefix(): string {
    return `${this.personPrefix}${location.pathname}:`;
  }

  private getStorageKey(field: Field): string | null {
    const name = findWidgetKey(field);
    return name === undefined ? null : this.pagePrefix + name;
  }

  private storeText(field: Field): void {
    const key = this.getStorageKey(field);
    if (key === null) return;
    this.touchedFields.add(field);
    if (field.value.length < MIN_LENGTH) sessionStorage.removeItem(key);
    else {
      try {
        const storedText: StoredText = { text: field.value, at: Date.now() };
        sessionStorage.setItem(key, JSON.stringify(storedText));
      } catch {
        // Storage is full: the text is only in its field.
      }
    }
    this.updateOffers();
  }

  /** Offer the stored texts of the fields on the page. */
  private updateOffers(): void {
    const offers: Offer[] = [];
    for (const field of listFields()) {
      const key = this.getStorageKey(field);
      const stored = key === null || this.touchedFields.has(field) ? null : sessionStorage.getItem(key);
      if (key === null || stored === null) continue;
      const storedText = JSON.parse(stored) as StoredText;
      if (storedText.text === field.value) sessionStorage.removeItem(key); // it is saved
      else if (field.offsetParent) offers.push({ field, key, ...storedText });
    }
    const offersJson = JSON.stringify(offers.map(({ key, at }) => [key, at]));
    if (offersJson === this.shownOffersJson) return;
    this.shownOffersJson = offersJson;
    this.root.replaceChildren(...offers.map((offer) => this.buildOffer(offer)));
  }

  private buildOffer({ field, key, text, at }: Offer): HTMLElement {
    const excerpt = text.length > 60 ? `${text.slice(0, 60)} …` : text;
    const sentence = `${field.getAttribute("aria-label") || "Text"}: entered at ${formatTimeOfDay(at)}, not saved. “${excerpt}”`;
    const createButton = (label: string, action: () => void): HTMLElement => {
      const onClick = (): void => {
        action();
        this.updateOffers();
      };
      return h("button", { type: "button", onclick: onClick }, label);
    };
    return h("div", { class: "offer" }, h("p", {}, sentence), createButton("Restore", () => restoreText(field, text)), createButton("Discard", () => sessionStorage.removeItem(key)));
  }

  /** After a save: remove the stored texts of fields that are no longer on the page. */
  private removeSavedTexts(): void {
    const presentKeys = new Set(listFields().map((field) => this.getStorageKey(field)));
    for (const key of listStorageKeys(this.pagePrefix)) if (!presentKeys.has(key)) sessionStorage.removeItem(key);
  }
}

/** Set a text like keyboard input. React detects a value only through the native setter and an event. */
function restoreText(field: Field, text: string): void {
  const { prototype } = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  field.focus();
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.scrollIntoView({ block: "center" });
}

export default mountOnce<{ person: number }>(({ parentElement, data }) => new UnsavedInput(parentElement, data.person));
