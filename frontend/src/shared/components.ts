// Elements that several forms use.

import type { Decision, Patient, Radiograph } from "./api";
import { button, h, keycap, type Child } from "./dom";
import { diffWords } from "./diff";
import type { KeyHelp } from "./keys";
import { isViewerAction, listShortcuts, type KeyContext } from "./shortcuts";
import type { ImageViewer } from "./viewer";

/** Decisions as states, as in "Saved 10:05 (accepted)". */
export const DECISION_TEXTS: Record<Decision, string> = { accept: "accepted", revise: "revised", reject: "rejected" };

/** Age, sex, views and indication. */
export function patientLine({ patient, radiographs }: { patient: Patient; radiographs: Radiograph[] }, placeholder = ""): HTMLElement {
  const details = [patient.age, patient.sex, radiographs.map(({ view }) => view).join(" + ")].filter(Boolean).join(" · ");
  return h("p", { class: "patient" }, h("span", {}, details || placeholder), h("span", { class: "indication" }, h("span", { class: "label" }, "Indication "), patient.indication || "not given"));
}

/** A progress bar with its text. `shares` are drawn in their order. Narrow windows omit `details`. */
export function progressBar(text: string, total: number, shares: { done: number; skipped?: number }, details = ""): HTMLElement[] {
  const fullText = text + details;
  const bars = Object.entries(shares).map(([name, count]) => h("span", { class: `bar-${name}`, style: `width:${(100 * count) / Math.max(1, total)}%` }));
  return [h("div", { class: "progress", role: "img", "aria-label": fullText, title: fullText }, bars), h("span", { class: "progress-text" }, text, h("span", { class: "progress-details" }, details))];
}

/** A dialog over the form. A click beside it calls `close`. */
export function dialogOverlay(title: string, content: Child, footer: HTMLElement, { close, isOpaque = false }: { close?: () => void; isOpaque?: boolean } = {}): HTMLElement {
  const sheet = h("div", { class: "sheet", role: "dialog", "aria-label": title, tabindex: "-1" }, h("h2", {}, title), content, footer);
  return h("div", { class: `dialog-overlay${isOpaque ? " opaque" : ""}`, onclick: (event) => event.target === event.currentTarget && close?.() }, sheet);
}

/** The list of shortcuts: by group those that the person can change, then the fixed keys, including drags on radiographs. */
export function shortcutsDialog(context: KeyContext, viewer: ImageViewer, close: () => void): HTMLElement {
  const definitionList = (rows: readonly KeyHelp[]): HTMLElement => h("dl", {}, rows.flatMap(([key, help]) => [h("dt", {}, keycap(key)), h("dd", {}, help)]));
  const groups = listShortcuts(context, (id) => viewer.hasAction(id) || !isViewerAction(id)).map(({ group, rows }) => h("section", {}, h("h3", {}, group), definitionList(rows)));
  const fixed = h("section", {}, h("h3", {}, "Fixed"), definitionList([...FIXED_KEYS, ...(viewer.keyHelp ?? [])]));
  const hint = h("p", { class: "hint" }, "You can change your shortcuts on the page My account.");
  return dialogOverlay("Shortcuts", [hint, h("div", { class: "key-groups" }, groups, fixed)], button("Close", "Esc", close, { class: "primary" }), { close });
}

const FIXED_KEYS: readonly KeyHelp[] = [
  ["Esc", "leave a text field"],
  ["Shift Enter", "save without seeing the radiograph"],
  ["← / →", "previous, next question"],
];

/** Mark a change of text word by word: deleted words are struck out, inserted words are underlined. */
export const markChanges = (before: string, after: string): HTMLElement[] => diffWords(before, after).map(({ kind, text }) => h(kind === "same" ? "span" : kind, {}, text));
