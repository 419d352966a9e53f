// Windows to choose from: those stored in the file, the whole range, and percentiles of what is in the image.
//
// CR and DX values have no common scale as Hounsfield units are one, so a window that suits "the lung" or "the bones"
// is read off the image, or off a region of it that the reader marks.

import { offsetOf, windowLike } from "./lut";
import { isTable, type Corners, type Facts, type Voi, type Window } from "./types";

/** How often each value on the wire occurs in a region (the whole without one), in at most a million pixels; padding left out. */
export function histogram(matrix: Uint16Array, facts: Facts, region: Corners | null = null): Uint32Array {
  const { rows, columns } = facts;
  const [x0, y0, x1, y1] = region ?? [0, 0, columns, rows];
  const [left, top] = [Math.max(0, Math.floor(x0)), Math.max(0, Math.floor(y0))];
  const [right, bottom] = [Math.min(columns, Math.ceil(x1)), Math.min(rows, Math.ceil(y1))];
  const step = Math.max(1, Math.floor(Math.sqrt(((right - left) * (bottom - top)) / 1_000_000)));
  const counts = new Uint32Array(65_536);
  for (let y = top; y < bottom; y += step) {
    for (let x = left; x < right; x += step) counts[matrix[y * columns + x]!]! += 1;
  }
  if (!facts.padding) return counts;
  const offset = offsetOf(facts);
  const kept = counts.slice().fill(0, Math.max(0, facts.padding[0] + offset), Math.max(0, facts.padding[1] + offset + 1));
  return kept.some((count) => count > 0) ? kept : counts; // a region of nothing but padding is taken as it is
}

/** The window from one percentile to another of what is counted; `values` has what each value on the wire stands for. */
export function percentileWindow(counts: Uint32Array, values: Float32Array, low: number, high: number, name: string): Window {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const at = (percent: number): number => {
    let seen = 0;
    for (let wire = 0; wire < counts.length; wire += 1) {
      seen += counts[wire]!;
      if (seen > 0 && seen >= (total * percent) / 100) return values[wire]!;
    }
    return values[counts.length - 1]!;
  };
  return between(name, at(low), at(high));
}

/** The window whose ends are two values, in either order. */
function between(name: string, some: number, other: number): Window {
  return { name, center: (some + other) / 2, width: Math.max(Math.abs(other - some), 1), function: "LINEAR_EXACT" };
}

/** From the least to the highest value that occurs. */
export function fullRange(facts: Facts, values: Float32Array): Window {
  const offset = offsetOf(facts);
  return between("Full range", values[facts.stored_min + offset]!, values[facts.stored_max + offset]!);
}

/** A window to go on from: a table as the window that does about the same. */
export function asWindow(voi: Voi, range: Window): Window {
  return isTable(voi) ? windowLike(voi, range.center - range.width / 2, range.center + range.width / 2) : voi;
}

/** One step by key: `brighter` and `wider` are shares of the window's width. */
export function windowStep(voi: Voi, { facts, values }: { facts: Facts; values: Float32Array }, invert: boolean, brighter: number, wider: number): Window {
  const range = fullRange(facts, values);
  const begin = asWindow(voi, range);
  const darker = facts.inverted === invert ? 1 : -1; // an inverted image is brighter where values are low
  const width = Math.max(1, range.width / 1000, begin.width * (1 + wider));
  return { name: "", function: begin.function, width, center: begin.center - brighter * begin.width * darker };
}

/** All windows on offer, the one to begin with first. */
export function presets(facts: Facts, matrix: Uint16Array, values: Float32Array): Voi[] {
  const counts = histogram(matrix, facts);
  const automatic: Window = { name: "Automatic", center: facts.automatic.center, width: facts.automatic.width, function: "LINEAR_EXACT" };
  const { kind, index } = facts.first_look ?? { kind: "automatic", index: 0 };
  const first: Voi = (kind === "table" ? facts.voi_tables[index] : kind === "window" ? facts.windows[index] : null) ?? automatic;
  const stored = [...facts.voi_tables, ...facts.windows, automatic].filter((voi) => voi !== first);
  return [
    first,
    ...stored,
    fullRange(facts, values),
    percentileWindow(counts, values, 1, 60, "Dark regions (1st to 60th percentile)"),
    percentileWindow(counts, values, 40, 99.8, "Bright regions (40th to 99.8th percentile)"),
    percentileWindow(counts, values, 10, 90, "More contrast (10th to 90th percentile)"),
  ];
}
