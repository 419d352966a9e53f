// DICOM's grey scale as one table: a grey level for every value that can be on the wire.

import { isTable, type Facts, type Voi, type Window } from "./types";

const EVERY = 65_536;

export const offsetOf = (facts: Facts): number => facts.offset ?? (facts.signed ? 32_768 : 0);

/** The value after the modality transform (PS3.3 C.11.1) of each value on the wire. */
export function modalityValues(facts: Facts): Float32Array {
  const { kind, slope, intercept, table_first: first, table } = facts.modality;
  const offset = offsetOf(facts);
  const values = new Float32Array(EVERY);
  for (let wire = 0; wire < EVERY; wire += 1) {
    const stored = wire - offset;
    if (kind === "linear") values[wire] = stored * slope + intercept;
    else if (kind === "table") values[wire] = table[Math.min(Math.max(stored - first, 0), table.length - 1)]!;
    else values[wire] = stored;
  }
  return values;
}

/** Brightness, 0 to 1, that a window gives a value: PS3.3 C.11.2.1.2.1, C.11.2.1.3.1 and C.11.2.1.3.2. */
export function windowed(value: number, window: Window): number {
  const { center, width } = window;
  if (window.function === "SIGMOID") return 1 / (1 + Math.exp((-4 * (value - center)) / width));
  const exact = window.function === "LINEAR_EXACT";
  const middle = exact ? center : center - 0.5;
  const span = exact ? width : width - 1;
  if (value <= middle - span / 2) return 0;
  if (value > middle + span / 2) return 1;
  return (value - middle) / span + 0.5;
}

/** Brightness, 0 to 1, that a window or a stored table (PS3.3 C.11.2.1.1) gives a value. */
export function brightness(value: number, voi: Voi): number {
  if (!isTable(voi)) return windowed(value, voi);
  const { values, first, bits } = voi;
  return Math.min(1, values[Math.min(Math.max(Math.round(value) - first, 0), values.length - 1)]! / (2 ** bits - 1));
}

/**
 * Opaque grey pixels, as a canvas has them, for each value on the wire.
 *
 * Polarity comes last (PS3.3 C.7.6.3.1.2): `facts.inverted`, and once more where the person asks for it. Padding is
 * background and black whatever the polarity (C.7.5.1.1.2).
 */
export function greyTable(facts: Facts, values: Float32Array, voi: Voi, invert: boolean, table = new Uint32Array(EVERY)): Uint32Array {
  const offset = offsetOf(facts);
  const turned = facts.inverted !== invert;
  const first = Math.max(facts.stored_min + offset, 0);
  const last = Math.min(facts.stored_max + offset, EVERY - 1);
  for (let wire = first; wire <= last; wire += 1) {
    const shown = brightness(values[wire]!, voi);
    const level = Math.round((turned ? 1 - shown : shown) * 255);
    table[wire] = 0xff000000 | (level << 16) | (level << 8) | level;
  }
  table.fill(table[first]!, 0, first); // between image and padding, means of both occur
  table.fill(table[last]!, last + 1);
  if (facts.padding) table.fill(0xff000000, Math.max(facts.padding[0] + offset, 0), Math.max(facts.padding[1] + offset + 1, 0));
  return table;
}

/** A plain window that does about what the table does: from where it leaves black to where it reaches white. */
export function windowLike(table: VoiTableLike, least: number, most: number): Window {
  const steps = 512;
  let [low, high] = [least, most];
  for (let at = 0; at <= steps; at += 1) {
    const value = least + ((most - least) * at) / steps;
    const shown = brightness(value, table);
    if (shown <= 0.03) low = value;
    if (shown >= 0.97) {
      high = value;
      break;
    }
  }
  return { name: "", center: (low + high) / 2, width: Math.max(1, high - low), function: "LINEAR_EXACT" };
}

type VoiTableLike = Extract<Voi, { values: number[] }>;
