// Elements that several forms use.

import type { Patient, Radiograph } from "./api";
import { button, h, keycap, type Child } from "./dom";
import { diffWords } from "./diff";
import type { KeyHelp } from "./keys";

/** Age, sex, views and indication. */
export function patientLine({ patient, radiographs }: { patient: Patient; radiographs: Radiograph[] }, placeholder = ""): HTMLElement {
  const details = [patient.age, patient.sex, radiographs.map(({ view }) => view).join(" + ")].filter(Boolean).join(" · ");
  return h("p", { class: "patient" }, h("span", {}, details || placeholder), h("span", { class: "indication" }, h("span", { class: "label" }, "Indication "), patient.indication || "not given"));
}

/** A progress bar with its text. `shares` are drawn in their order. */
export function progressBar(text: string, total: number, shares: { done: number; skipped?: number }): HTMLElement[] {
  const bars = Object.entries(shares).map(([name, count]) => h("span", { class: `bar-${name}`, style: `width:${(100 * count) / Math.max(1, total)}%` }));
  return [h("div", { class: "progress", role: "img", "aria-label": text, title: text }, bars), h("span", { class: "progress-text" }, text)];
}

/** A dialog over the form. A click beside it calls `close`. */
export function dialogOverlay(title: string, content: Child, footer: HTMLElement, { close, isOpaque = false }: { close?: () => void; isOpaque?: boolean } = {}): HTMLElement {
  const sheet = h("div", { class: "sheet", role: "dialog", "aria-label": title, tabindex: "-1" }, h("h2", {}, title), content, footer);
  return h("div", { class: `dialog-overlay${isOpaque ? " opaque" : ""}`, onclick: (event) => event.target === event.currentTarget && close?.() }, sheet);
}

/** All keys of the form, and those of the viewer where it has any. */
export function keyHelpDialog(keys: readonly KeyHelp[], viewerKeys: readonly KeyHelp[] | undefined, close: () => void): HTMLElement {
  const definitionList = (rows: readonly KeyHelp[]): HTMLElement => h("dl", {}, rows.flatMap(([key, help]) => [h("dt", {}, keycap(key)), h("dd", {}, help)]));
  const formKeys = viewerKeys ? keys.filter(([, , isPlainEditorOnly]) => !isPlainEditorOnly) : keys;
  return dialogOverlay("Keys", [definitionList(formKeys), ...(viewerKeys ? [h("h2", {}, "Radiographs"), definitionList(viewerKeys)] : [])], button("Close", "Esc", close, { class: "primary" }), { close });
}

/** Mark a change of text word by word: deleted words are struck out, inserted words are underlined. */
export const markChanges = (before: string, after: string): HTMLElement[] => diffWords(before, after).map(({ kind, text }) => h(kind === "same" ? "span" : kind, {}, text));
