// The keyboard. C and R belong to Streamlit, so they are not used here.

import { isTyping, listen } from "./dom";

/** What a key does, for the list of keys: what is on the button, the words, whether it is the plain editor's. */
export type KeyHelp = readonly [keys: string, help: string, isPlainEditors?: boolean];

/**
 * Calls `act(key, event)` for keys that belong to nobody else; `act` returns whether it took the key.
 *
 * Keys with Ctrl, Alt or Cmd, keys typed into a field, and keys while a dialog of Streamlit's is open are left alone.
 */
export function listenForKeys(act: (key: string, event: KeyboardEvent) => boolean): () => void {
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
      if (act(event.key.length === 1 ? event.key.toLowerCase() : event.key, event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    { capture: true },
  );
}
