// The viewer's keys. Letters alone belong to the judging form, C and R to Streamlit, so most of these take Shift.

/** For the key sheet. */
export const SHEET: [string, string][] = [
  ["Drag", "draw a box; on the line of one: move it; Shift: draw on top of one"],
  ["Right drag", "window: across its width, up brighter"],
  [", / . and < / >", "darker, brighter; more, less contrast"],
  ["Wheel", "zoom to the pointer"],
  ["Space or middle drag", "move the image; Shift arrows, no box chosen"],
  ["Shift 1 – 9", "windows, in the order of their list"],
  ["I", "invert"],
  ["Shift W / Shift A", "window by left drag; window of a region"],
  ["+ / − / 0 / O", "zoom in, out, whole image, 1:1"],
  ["Shift T / F / H", "turn right, mirror, as stored"],
  ["Shift M / D / P", "magnifier, ruler, move the image"],
  ["L / Shift L / Shift K", "next radiograph, side by side, linked"],
  ["Shift E", "full screen"],
  ["Tab / Shift Tab", "next, previous box (image in focus)"],
  ["Arrows / Shift arrows", "move the chosen box by 1, by 10 pixels"],
  ["Ctrl arrows", "size of the chosen box; Shift: by 10"],
  ["Shift N", "a new box in the middle of what is shown"],
  ["Enter or double click", "label of the chosen box"],
  ["Del / Shift S", "delete it; copy it to the other side"],
  ["B", "boxes or window with the left button"],
  ["U / Shift U, Ctrl Z / Ctrl Y", "undo, redo"],
  ["D held", "hide all boxes"],
  ["Esc", "let go of the box or the tool"],
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
