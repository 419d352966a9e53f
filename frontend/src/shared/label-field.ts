// An input for the label of a box. Typing filters the list, the arrow keys move through it, Enter selects.

import { h } from "./dom";

const WIDTH = 210; // CSS pixels
const LIST_HEIGHT = 190;

/** The element that contains the field; `view` is its size in CSS pixels. */
export interface LabelHost {
  readonly root: HTMLElement;
  readonly view: { readonly width: number; readonly height: number };
}

/** Returns the labels that contain the typed text; labels that start with it come first. The text is appended if no label equals it. */
export function filterLabels(labels: readonly string[], typed: string): string[] {
  const query = typed.trim().toLowerCase();
  if (!query) return [...labels];
  const matches = labels.filter((label) => label.toLowerCase().includes(query));
  const rank = (label: string): number => (label.toLowerCase() === query ? 0 : label.toLowerCase().startsWith(query) ? 1 : 2);
  const sorted = matches.sort((a, b) => rank(a) - rank(b));
  return sorted.some((label) => rank(label) === 0) ? sorted : [...sorted, typed.trim()];
}

/** Opens the field at `position`. `onSave` gets the label once, unless Escape was pressed. Returns a function that closes the field without saving. */
export function openLabelField(host: LabelHost, label: string, labels: readonly string[], position: readonly [number, number], onSave: (label: string) => void): () => void {
  const list = h("ul", { id: "overread-label-list", role: "listbox", "aria-label": "Labels" });
  const field = h("input", {
    class: "label-field", role: "combobox", "aria-label": "Label of the box", "aria-expanded": "true", "aria-controls": list.id, "aria-autocomplete": "list",
    maxlength: "200", placeholder: "label: type to filter", autocomplete: "off", "data-own-escape": true,
  }); // prettier-ignore
  field.value = label;
  const [x, y] = [Math.max(0, Math.min(position[0], host.view.width - WIDTH - 5)), Math.max(0, Math.min(position[1], host.view.height - 28))];
  const isAbove = y > host.view.height - LIST_HEIGHT - 30 && y > LIST_HEIGHT;
  const root = h("div", { class: `label-editor${isAbove ? " above" : ""}` }, field, list);
  root.style.transform = `translate(${x}px, ${y}px)`;
  let isOpen = true;
  let shownLabels: string[] = [];
  let activeIndex = -1;

  const close = (chosen: string | null): void => {
    if (!isOpen) return;
    isOpen = false; // set first: removing the field triggers blur, which calls close again
    root.remove();
    if (chosen !== null && chosen !== label) onSave(chosen);
    host.root.focus({ preventScroll: true });
  };
  const activate = (index: number): void => {
    activeIndex = index;
    [...list.children].forEach((option, position) => option.setAttribute("aria-selected", String(position === activeIndex)));
    const option = list.children[activeIndex];
    option?.scrollIntoView({ block: "nearest" });
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
  };
  const showMatches = (typed: string): void => {
    shownLabels = filterLabels(labels, typed);
    const choose = (event: Event, chosen: string): void => {
      event.preventDefault(); // the field keeps the focus until it is closed
      close(chosen);
    };
    list.replaceChildren(...shownLabels.map((text, index) => h("li", { id: `overread-label-${index}`, role: "option", onpointerdown: (event) => choose(event, text) }, text)));
    list.hidden = shownLabels.length === 0;
    activate(typed.trim() ? 0 : -1);
  };

  field.addEventListener("input", () => showMatches(field.value));
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing) return;
    if (event.key === "Enter") close(shownLabels[activeIndex] ?? field.value.trim());
    else if (event.key === "Escape") close(null);
    else if (event.key === "ArrowDown") activate(Math.min(activeIndex + 1, shownLabels.length - 1));
    else if (event.key === "ArrowUp") activate(Math.max(activeIndex - 1, -1));
    else return;
    event.preventDefault();
  });
  field.addEventListener("blur", () => close(field.value.trim()));
  showMatches("");
  host.root.append(root);
  field.focus({ preventScroll: true });
  field.select();
  return () => close(null);
}
