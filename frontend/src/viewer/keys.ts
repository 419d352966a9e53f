// The viewer's keys. Letters alone belong to the judging form, C and R to Streamlit, so most of these take Shift.

/** For the key sheet. */
export const KEY_HELP: [string, string][] = [
  ["Drag", "draw a box; drag its outline to move it; Shift: draw over another box"],
  ["Right drag", "adjust the window: horizontally its width, upwards brighter"],
  [", / . and < / >", "darker or brighter; more or less contrast"],
  ["Wheel", "zoom at the pointer"],
  ["Space or middle drag", "move the image; also Shift arrows if no box is selected"],
  ["Shift 1 – 9", "window presets, in the order of the list"],
  ["I", "invert"],
  ["Shift W / Shift A", "adjust the window by left drag; window of a region"],
  ["+ / − / 0 / O", "zoom in, zoom out, fit, 1:1"],
  ["Shift T / F / H", "rotate right, mirror, reset orientation"],
  ["Shift M / D / P", "magnifier, ruler, pan"],
  ["L / Shift L / Shift K", "next radiograph, side by side, link views"],
  ["Shift E", "full screen"],
  ["Shift Q / Shift Z", "in full screen: hide or show the question; move it to the other side"],
  ["Tab / Shift Tab", "next or previous box (when the image has the focus)"],
  ["Arrows / Shift arrows", "move the selected box by 1 or 10 pixels"],
  ["Ctrl arrows", "resize the selected box by 1 pixel; with Shift by 10"],
  ["Shift N", "new box in the centre of the view"],
  ["Enter or double click", "edit the label of the selected box"],
  ["Del / Shift S", "delete the selected box; copy it to the other side"],
  ["B", "switch the left button between boxes and window"],
  ["U / Shift U, Ctrl Z / Ctrl Y", "undo, redo"],
  ["Hold D", "hide all boxes"],
  ["Esc", "deselect the box or the tool"],
];

const SHIFT_ACTIONS: Record<string, string> = {
  w: "window", a: "region", p: "pan", d: "ruler", m: "magnify", t: "rotate", f: "mirror", h: "reset-orientation",
  l: "side-by-side", k: "link", e: "full-screen", s: "mirror-box", u: "redo", b: "boxes", n: "new-box",
}; // prettier-ignore

const PLAIN_ACTIONS: Record<string, string> = {
  b: "toggle-tool", i: "invert", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "0": "fit", o: "actual-size", l: "next", u: "undo",
  delete: "remove", d: "hide", " ": "space",
  ",": "darker", ".": "brighter", "<": "more-contrast", ";": "more-contrast", ">": "less-contrast", ":": "less-contrast",
}; // prettier-ignore

/** The action of a key that has priority over the form's keys: keys with Shift, and keys of the selected box. */
export function findPriorityAction(event: KeyboardEvent, hasSelection: boolean): string | null {
  const key = event.key.toLowerCase();
  if (hasSelection) {
    if (key.startsWith("arrow")) return key;
    if (key === "enter") return "label";
    if (key === "delete") return "remove";
  }
  if (key === "escape") return "escape";
  if (!event.shiftKey) return null;
  if (key.startsWith("arrow")) return `pan-${key.slice(5)}`;
  const digit = /^Digit([1-9])$/.exec(event.code);
  if (digit) return `window-${digit[1]}`;
  return SHIFT_ACTIONS[key] ?? null;
}

/** The action of a key that the form does not use. */
export function findFallbackAction(event: KeyboardEvent): string | null {
  return event.shiftKey && event.key.length === 1 && /[a-z]/i.test(event.key) ? null : (PLAIN_ACTIONS[event.key.toLowerCase()] ?? null);
}

/** Whether an action repeats while its key is held. */
export const isRepeatable = (action: string): boolean => /^(arrow|pan-|size-)/.test(action) || ["zoom-in", "zoom-out", "undo", "redo", "darker", "brighter", "more-contrast", "less-contrast"].includes(action);

/** The action of a key with Ctrl: undo, redo, and the size of the selected box. */
export function findControlAction(event: KeyboardEvent): string | null {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  if (key.startsWith("arrow")) return event.ctrlKey ? `size-${key.slice(5)}` : null;
  if (key === "y" || (key === "z" && event.shiftKey)) return "redo";
  return key === "z" ? "undo" : null;
}
