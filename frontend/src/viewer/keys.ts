// The fixed keys of the viewer. domain/shortcuts.json declares those that a person can change.

import type { KeyHelp } from "../shared/keys";

/** For the list of keys. */
export const KEY_HELP: readonly KeyHelp[] = [
  ["Left drag", "use the selected tool; Shift: draw over another box"],
  ["Right drag", "adjust the window: horizontally its width, upwards brighter"],
  ["Wheel", "zoom at the pointer"],
  ["Space or middle drag", "move the image; also Shift arrows if no box is selected"],
  ["Tab / Shift Tab", "next or previous box (when the image has the focus)"],
  ["Arrows / Shift arrows", "move the selected box by 1 or 10 pixels"],
  ["Ctrl arrows", "resize the selected box by 1 pixel; with Shift by 10"],
  ["Enter or double click", "edit the label of the selected box"],
  ["Ctrl Z / Ctrl Y", "undo, redo"],
  ["Esc", "deselect the box or the tool"],
];

/** The action of a fixed key. A button with the focus keeps Space and Enter. */
export function findFixedAction(event: KeyboardEvent, { hasSelection, isOnButton }: { hasSelection: boolean; isOnButton: boolean }): string | null {
  const key = event.key.toLowerCase();
  if (key === "escape") return "escape";
  if (key === " ") return isOnButton ? null : "space";
  if (hasSelection && key.startsWith("arrow")) return key;
  if (hasSelection && key === "enter" && !event.shiftKey) return isOnButton ? null : "label";
  return event.shiftKey && key.startsWith("arrow") ? `pan-${key.slice(5)}` : null;
}

/** Whether a fixed action repeats while its key is held. */
export const isFixedRepeatable = (action: string): boolean => /^(arrow|pan-|size-)/.test(action);

/** The action of a key with Ctrl: undo, redo, and the size of the selected box. */
export function findControlAction(event: KeyboardEvent): string | null {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  if (key.startsWith("arrow")) return event.ctrlKey ? `size-${key.slice(5)}` : null;
  if (key === "y" || (key === "z" && event.shiftKey)) return "redo";
  return key === "z" ? "undo" : null;
}
