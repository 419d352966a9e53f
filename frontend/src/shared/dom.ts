// Elements and events. Text is always inserted as text, never parsed as markup.

export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>;
export type Child = Node | string | false | null | undefined | readonly Child[];

/** An element: `h("button", { class: "x", onclick: f, "aria-pressed": "false" }, "text", child, null)`. */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...flattenChildren(children));
  return element;
}

/** The children as one flat list, without empty ones. */
export function flattenChildren(child: Child): (Node | string)[] {
  if (child === null || child === undefined || child === false) return [];
  return typeof child === "string" || child instanceof Node ? [child] : child.flatMap(flattenChildren);
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG icon of 16 x 16 with one path. */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** The keyboard shortcut on a button. */
export const keycap = (key: string): HTMLElement => h("kbd", { "aria-hidden": "true" }, key);

export function button(text: string, key: string | null, onClick: () => unknown, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick: onClick, ...attributes }, text, key ? keycap(key) : null);
}

/** A text area that grows with its text; `onInput` gets the text after each change. */
export function growingTextArea(attributes: Attributes, onInput: (text: string) => void): HTMLTextAreaElement {
  const area = h("textarea", { rows: 1, spellcheck: "true", ...attributes });
  area.addEventListener("input", () => {
    fitHeight(area);
    onInput(area.value);
  });
  return area;
}

export function fitHeight(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  if (area.scrollHeight) area.style.height = `${area.scrollHeight + 2}px`;
}

export function fitTextAreas(root: ParentNode): void {
  for (const area of root.querySelectorAll("textarea")) fitHeight(area);
}

/** Listens until the returned function is called. */
export function listen<Name extends keyof WindowEventMap>(target: Window, name: Name, listener: (event: WindowEventMap[Name]) => unknown, options?: AddEventListenerOptions): () => void;
export function listen<Name extends keyof DocumentEventMap>(target: Document, name: Name, listener: (event: DocumentEventMap[Name]) => unknown, options?: AddEventListenerOptions): () => void;
export function listen(target: EventTarget, name: string, listener: (event: never) => unknown, options?: AddEventListenerOptions): () => void {
  target.addEventListener(name, listener as EventListener, options);
  return () => target.removeEventListener(name, listener as EventListener, options);
}

/** Whether a key goes into a text field (the canvas' own label field included). */
export function isTyping(event: Event): boolean {
  const target = event.composedPath()[0];
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "range", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || (target instanceof HTMLElement && target.isContentEditable);
}

/** A whole number with thousands separators: 12,345. */
export const formatCount = (count: number): string => count.toLocaleString("en-GB");

/** Seconds as 4:07 or 1:02:09. */
export function formatDuration(seconds: number): string {
  const totalSeconds = Math.floor(seconds);
  const pad = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(totalSeconds / 3600), Math.floor((totalSeconds % 3600) / 60)];
  return `${hours ? `${hours}:${pad(minutes)}` : minutes}:${pad(totalSeconds % 60)}`;
}

/** A moment as the local time of day: 14:03:12. */
export const formatTime = (iso: string): string => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

export const optionLetter = (index: number): string => String.fromCharCode(65 + index);

/** The position of a letter key among the options: a is 0; -1 for any other key. */
export const letterIndex = (key: string): number => (/^[a-z]$/.test(key) ? key.charCodeAt(0) - 97 : -1);

export const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
