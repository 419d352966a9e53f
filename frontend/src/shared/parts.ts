// Parts of the page that several forms have.

import type { Patient, Radiograph } from "./api";
import { button, h, keycap, type Child } from "./dom";
import { diffWords } from "./diff";
import type { KeyHelp } from "./keys";

/** Age, sex, views and indication. */
export function patientLine({ patient, radiographs }: { patient: Patient; radiographs: Radiograph[] }, unknown = ""): HTMLElement {
  const words = [patient.age, patient.sex, radiographs.map(({ view }) => view).join(" + ")].filter(Boolean).join(" · ");
  return h("p", { class: "patient" }, h("span", {}, words || unknown), h("span", { class: "indication" }, h("span", { class: "label" }, "Indication "), patient.indication || "not given"));
}

/** The bar of progress with its text: shares of `total` in the order given. */
export function progress(text: string, total: number, shares: { done: number; skipped?: number }): HTMLElement[] {
  const bars = Object.entries(shares).map(([name, count]) => h("span", { class: `bar-${name}`, style: `width:${(100 * count) / Math.max(1, total)}%` }));
  return [h("div", { class: "progress", role: "img", "aria-label": text, title: text }, bars), h("span", { class: "progress-text" }, text)];
}

/** A dialog over the form. A click beside it calls `close`. */
export function veil(title: string, parts: Child, end: HTMLElement, { close, solid = false }: { close?: () => void; solid?: boolean } = {}): HTMLElement {
  const sheet = h("div", { class: "sheet", role: "dialog", "aria-label": title, tabindex: "-1" }, h("h2", {}, title), parts, end);
  return h("div", { class: `veil${solid ? " solid" : ""}`, onclick: (event) => event.target === event.currentTarget && close?.() }, sheet);
}

/** All keys of the form, and those of the viewer where it has any. */
export function keySheet(keys: readonly KeyHelp[], viewers: readonly KeyHelp[] | undefined, close: () => void): HTMLElement {
  const list = (rows: readonly KeyHelp[]): HTMLElement => h("dl", {}, rows.flatMap(([key, help]) => [h("dt", {}, keycap(key)), h("dd", {}, help)]));
  const own = viewers ? keys.filter(([, , isPlainEditors]) => !isPlainEditors) : keys;
  return veil("Keys", [list(own), ...(viewers ? [h("h2", {}, "Radiographs"), list(viewers)] : [])], button("Close", "Esc", close, { class: "primary" }), { close });
}

/** A change of text, word by word: what was removed is struck out, what was added is underlined. */
export const markChanges = (before: string, after: string): HTMLElement[] => diffWords(before, after).map(({ kind, text }) => h(kind === "same" ? "span" : kind, {}, text));
