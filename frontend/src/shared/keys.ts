// Key presses on a page. domain/shortcuts.json declares what they do.

import { isTyping, listen } from "./dom";

/** One line of the list of keys: the key and its effect. */
export type KeyHelp = readonly [keys: string, help: string];

/**
 * Calls `handler(event)` for key presses that may be shortcuts. The handler returns whether it handled the key.
 *
 * Keys with Ctrl or Cmd, Alt with anything but a digit, keys in a text field, and keys while a Streamlit dialog is open are ignored.
 */
export function listenForKeys(handler: (event: KeyboardEvent) => boolean): () => void {
  return listen(
    document,
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.isComposing) return;
      if (event.altKey && !event.code.startsWith("Digit")) return;
      if (document.querySelector('[data-testid="stDialog"], [data-testid="stModal"]')) return;
      if (isTyping(event)) {
        const field = event.composedPath()[0] as HTMLElement;
        if (event.key === "Escape" && !field.hasAttribute("data-own-escape")) field.blur();
        return;
      }
      if (handler(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    { capture: true },
  );
}
