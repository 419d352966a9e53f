// The keyboard. C and R belong to Streamlit, so they are not used here.

import { isTyping, listen } from "./dom";

/** One line of the list of keys: the key, its effect, and whether it belongs to the plain editor. */
export type KeyHelp = readonly [keys: string, help: string, isPlainEditorOnly?: boolean];

/**
 * Calls `handler(key, event)` for unreserved keys. The handler returns whether it handled the key.
 *
 * Keys with Ctrl, Alt or Cmd, keys in a text field, and keys while a Streamlit dialog is open are ignored.
 */
export function listenForKeys(handler: (key: string, event: KeyboardEvent) => boolean): () => void {
  return listen(
    document,
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (document.querySelector('[data-testid="stDialog"], [data-testid="stModal"]')) return;
      if (isTyping(event)) {
        if (event.key === "Escape") (event.composedPath()[0] as HTMLElement).blur();
        return;
      }
      if (handler(event.key.length === 1 ? event.key.toLowerCase() : event.key, event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    { capture: true },
  );
}
