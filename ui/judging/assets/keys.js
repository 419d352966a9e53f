// The keyboard. C and R belong to Streamlit, so they are not used here.

const TYPES = new Set(["INPUT", "TEXTAREA", "SELECT"]);

/** Whether the key goes into a text field (the canvas' own label field included). */
export function isTyping(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  if (target.tagName === "INPUT" && ["checkbox", "radio", "range", "button"].includes(target.type)) return false;
  return TYPES.has(target.tagName) || target.isContentEditable;
}

/** What each key does, for the key sheet: what stands on the buttons, the words, whether it is the plain editor's. */
export const SHEET = [
  ["1 – 5", "rate; the marked row, then the next"],
  ["Y / N", "needs radiology, then more than recall"],
  ["E / M / H", "your difficulty: easy, medium, hard"],
  ["Backspace", "take back the last of these"],
  ["A", "accept and go on"],
  ["V", "save the corrections (revise) and go on"],
  ["X", "reject and go on"],
  ["S", "skip, with a reason"],
  ["Z", "reopen the last verdict"],
  ["F, then a – n", "kinds of error"],
  ["Q", "correct the stem (Esc leaves a text)"],
  ["W", "write a comment"],
  ["L", "next radiograph", true],
  ["B", "draw boxes, or move and resize them", true],
  ["Del", "delete the chosen box", true],
  ["U / Shift U", "undo, redo a box", true],
  ["I", "invert the picture", true],
  ["+ / − / 0", "zoom in, out, whole picture", true],
  ["K, ← / J, →", "previous, next question"],
  ["P", "open the report"],
  ["G", "guideline"],
  ["T", "try again, when something was not saved"],
  ["?", "this list"],
];

/**
 * Calls `act(key, event)` for keys that are nobody else's; `act` says whether it took the key.
 *
 * Keys with Ctrl, Alt or Cmd, keys typed into a field, and keys while a dialog of Streamlit's is open pass by.
 */
export function listen(act) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector('[data-testid="stDialog"], [data-testid="stModal"]')) return;
    if (isTyping(event)) {
      if (event.key === "Escape") event.composedPath()[0].blur();
      return;
    }
    if (act(event.key.length === 1 ? event.key.toLowerCase() : event.key, event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  document.addEventListener("keydown", pressed, { capture: true });
  return () => document.removeEventListener("keydown", pressed, { capture: true });
}
