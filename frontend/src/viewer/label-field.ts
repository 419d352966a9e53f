// A field over a box's label, to write another.

import { h } from "../shared/dom";
import type { Pane } from "./pane";

/** Opens the field at `position`. `onSave` gets the text once, unless Escape was pressed. */
export function openLabelField(pane: Pane, label: string, position: readonly [number, number], onSave: (label: string) => void): void {
  const field = h("input", { class: "label-field", list: "overread-labels", "aria-label": "Label of the box", maxlength: "200", placeholder: "label" });
  field.value = label;
  const [x, y] = [Math.min(position[0], Math.max(0, pane.view.width - 195)), Math.min(position[1], Math.max(0, pane.view.height - 28))];
  field.style.transform = `translate(${x}px, ${y}px)`;
  let isOpen = true;
  const close = (shouldSave: boolean): void => {
    if (!isOpen) return;
    isOpen = false; // taking it away makes it lose the focus, too
    const text = field.value.trim();
    field.remove();
    if (shouldSave && text !== label) onSave(text);
    pane.root.focus({ preventScroll: true });
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") close(true);
    if (event.key === "Escape") close(false);
    event.stopPropagation();
  });
  field.addEventListener("blur", () => close(true));
  pane.root.append(field);
  field.select();
}
