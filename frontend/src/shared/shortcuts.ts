// The keyboard shortcuts: the declarations of domain/shortcuts.json with the person's own keys.
//
// C and R belong to Streamlit. Escape, Tab, Shift Enter, arrows and keys with Ctrl are fixed and not declared.

import declarations from "../../../domain/shortcuts.json";
import type { KeyHelp } from "./keys";

export type ActionId = keyof typeof declarations;

/** Where a shortcut is active: own answer before the key is shown, judging, reading, adjudication. */
export type KeyContext = "answer" | "judge" | "read" | "adjudicate";

interface Shortcut {
  group: string;
  label: string;
  key: string;
  contexts: string[];
  /** The help text of a row of similar actions, such as the digits of the options. */
  family?: string;
  /** Whether the action repeats while the key is held. */
  repeats?: boolean;
}

const SHORTCUTS: Record<ActionId, Shortcut> = declarations;
export const ACTIONS = Object.keys(SHORTCUTS) as ActionId[];

/** The same key with or without Shift on another keyboard: "=" is "+" without Shift on an English one. */
const SIBLINGS: Record<string, string> = { "=": "+", _: "-", ";": "<", ":": ">" };
const SYMBOLS: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Delete: "Del", "-": "−" };

let ownKeys: Readonly<Record<string, string>> = {};

/** Use a person's own keys, by action; an empty key turns a shortcut off. */
export function setOwnKeys(keys: Readonly<Record<string, string>>): void {
  ownKeys = keys;
}

/** The key of an action: "A", "Shift+1", "ArrowLeft"; empty if it has none. */
export const keyOf = (id: ActionId): string => ownKeys[id] ?? (SHORTCUTS as Partial<typeof SHORTCUTS>)[id]?.key ?? ""; // ids that are built from data, such as those of flags, may be undeclared

/** The key of an action as shown on buttons: "Shift 1", "←". */
export const shortcutLabel = (id: ActionId): string => formatKey(keyOf(id));

/** The key in brackets for a sentence, with a blank before it; empty if the action has none. */
export const keyHint = (id: ActionId): string => (keyOf(id) ? ` (${shortcutLabel(id)})` : "");

function formatKey(key: string): string {
  const parts = key.split(/\+(?=.)/);
  return parts.map((part) => SYMBOLS[part] ?? part).join(" ");
}

/** The name of a pressed key. Digits of the upper row are read by position, so that they work on every layout. */
export function readKey({ key, code, shiftKey, altKey }: KeyboardEvent): string {
  const digit = /^Digit(\d)$/.exec(code)?.[1];
  const name = digit ?? (key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key);
  const isShifted = shiftKey && (name.length > 1 || /[\p{L}\d]/u.test(name));
  return `${altKey ? "Alt+" : ""}${isShifted ? "Shift+" : ""}${name}`;
}

/** The action of a pressed key. */
export function findAction(event: KeyboardEvent, context: KeyContext): ActionId | null {
  const key = readKey(event);
  const find = (name: string): ActionId | undefined => ACTIONS.find((id) => keyOf(id) === name && SHORTCUTS[id].contexts.includes(context));
  const sibling = SIBLINGS[key];
  const producedAction = /^[^\p{L}\s]$/u.test(event.key) ? find(event.key) : undefined; // "+" is Shift with a digit on some keyboards
  return find(key) ?? producedAction ?? (sibling === undefined ? null : find(sibling)) ?? null;
}

export const isRepeatable = (id: ActionId): boolean => SHORTCUTS[id].repeats === true;

const VIEWER_GROUPS = ["Radiograph", "Tools of the left button", "Boxes"];

/** Whether an action belongs to the viewer of the radiographs. */
export const isViewerAction = (id: ActionId): boolean => VIEWER_GROUPS.includes(SHORTCUTS[id].group);

/** The part of an id after the prefix `kind`: "4" for "rating-4" and "rating-"; null if the id has another prefix. */
export const matchAction = (id: ActionId, kind: string): string | null => (id.startsWith(kind) ? id.slice(kind.length) : null);

/** The shortcuts of a context by group, for the list of keys. Actions without a key are left out. */
export function listShortcuts(context: KeyContext, isShown: (id: ActionId) => boolean = () => true): { group: string; rows: KeyHelp[] }[] {
  const groups = new Map<string, Map<string, { caps: string[]; isOwn: boolean }>>();
  for (const id of ACTIONS) {
    const { group, label, family, contexts } = SHORTCUTS[id];
    if (!contexts.includes(context) || !keyOf(id) || !isShown(id)) continue;
    const rows = groups.get(group) ?? new Map<string, { caps: string[]; isOwn: boolean }>();
    const row = rows.get(family ?? label) ?? { caps: [], isOwn: false };
    row.caps.push(shortcutLabel(id));
    row.isOwn ||= id in ownKeys;
    groups.set(group, rows.set(family ?? label, row));
  }
  const joinCaps = (caps: string[], isOwn: boolean): string => (caps.length > 2 && !isOwn ? `${caps[0] ?? ""} – ${caps.at(-1) ?? ""}` : caps.join(", "));
  return [...groups].map(([group, rows]) => ({ group, rows: [...rows].map(([help, { caps, isOwn }]) => [joinCaps(caps, isOwn), help]) }));
}
