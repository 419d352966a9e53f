// Elements. Text only ever goes in as text.

type Attributes = Record<string, string | boolean | null | ((event: Event) => void)>;
type Child = Node | string | null;

export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Listen on the window before anybody else does; gives back what ends it. */
export function on<Name extends keyof WindowEventMap>(name: Name, act: (event: WindowEventMap[Name]) => void): () => void {
  window.addEventListener(name, act, { capture: true });
  return () => window.removeEventListener(name, act, { capture: true });
}

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of 16 x 16, by the path it is made of. */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** Whether a key goes into a field of text. */
export function isTyping(event: Event): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "range", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
