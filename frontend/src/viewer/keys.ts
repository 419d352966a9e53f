// The viewer's keys. Letters alone belong to the judging form, C and R to Streamlit, so most of these take Shift.

/** For the key sheet. */
export const SHEET: [string, string][] = [
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

const SHIFTED: Record<string, string> = {
  w: "window", a: "region", p: "pan", d: "ruler", m: "magnify", t: "turn", f: "mirror", h: "upright",
  l: "together", k: "link", e: "full", s: "other", u: "redo", b: "boxes", n: "new",
}; // prettier-ignore

const PLAIN: Record<string, string> = {
  b: "toggle", i: "invert", "+": "in", "=": "in", "-": "out", "0": "fit", o: "one", l: "next", u: "undo",
  delete: "remove", d: "hide", " ": "space",
  ",": "darker", ".": "brighter", "<": "harder", ";": "harder", ">": "softer", ":": "softer",
}; // prettier-ignore

/** What a key does before the judging form has it: all with Shift, and those of the chosen box. */
export function firstAction(event: KeyboardEvent, chosen: boolean): string | null {
  const key = event.key.toLowerCase();
  if (chosen) {
    if (key.startsWith("arrow")) return key;
    if (key === "enter") return "label";
    if (key === "delete") return "remove";
  }
  if (key === "escape") return "escape";
  if (!event.shiftKey) return null;
  if (key.startsWith("arrow")) return `pan-${key.slice(5)}`;
  const digit = /^Digit([1-9])$/.exec(event.code);
  if (digit) return `window-${digit[1]}`;
  return SHIFTED[key] ?? null;
}

/** What a key does when the judging form has no use for it. */
export function laterAction(event: KeyboardEvent): string | null {
  return event.shiftKey && event.key.length === 1 && /[a-z]/i.test(event.key) ? null : (PLAIN[event.key.toLowerCase()] ?? null);
}

/** Keys that go on while they are held. */
export const isHeldOn = (action: string): boolean => /^(arrow|pan-|size-)/.test(action) || ["in", "out", "undo", "redo", "darker", "brighter", "harder", "softer"].includes(action);

/** Keys with Ctrl: undo and redo as every editor has them, and the size of the chosen box. */
export function controlAction(event: KeyboardEvent): string | null {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  if (key.startsWith("arrow")) return event.ctrlKey ? `size-${key.slice(5)}` : null;
  if (key === "y" || (key === "z" && event.shiftKey)) return "redo";
  return key === "z" ? "undo" : null;
}
