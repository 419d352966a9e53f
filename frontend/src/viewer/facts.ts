// What is said beside the image: orientation letters, lengths, the value under the pointer. Pure.

import { offsetOf } from "./lut";
import type { Turn } from "./transform";
import { isTable, type Facts, type Voi } from "./types";

const OPPOSITE: Record<string, string> = { A: "P", P: "A", R: "L", L: "R", H: "F", F: "H" };
const opposite = (letters: string): string => letters.replace(/./g, (letter) => OPPOSITE[letter] ?? "");

export interface Edges {
  top: string;
  right: string;
  bottom: string;
  left: string;
}

/** The letters at the edges (PS3.3 C.7.6.1.1.1), which follow the image when it is turned or mirrored. */
export function edgeLetters(orientation: readonly [string, string] | null, [a, b, c, d]: Turn): Edges | null {
  if (!orientation) return null;
  const [row, column] = orientation;
  const along = (x: number, y: number): string => (x === 1 ? row : x === -1 ? opposite(row) : y === 1 ? column : y === -1 ? opposite(column) : "");
  // the direction of the matrix that a direction of the screen is: the turn's transpose
  return { right: along(a, b), left: along(-a, -b), bottom: along(c, d), top: along(-c, -d) };
}

/** The length from one place of the matrix to another, and of what plane; without a valid spacing in pixels alone. */
export function length(facts: Facts, from: readonly [number, number], to: readonly [number, number]): string {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const pixels = `${Math.hypot(dx, dy).toFixed(0)} px`;
  const { spacing } = facts;
  if (!spacing?.kind || !spacing.row_mm || !spacing.column_mm) return pixels;
  const millimetres = Math.hypot(dx * spacing.column_mm, dy * spacing.row_mm);
  return `${millimetres.toFixed(1)} mm (${spacing.kind}) · ${pixels}`;
}

/** Whether lengths in millimetres may be read, and why not. */
export function rulerNote(facts: Facts): string {
  const { spacing } = facts;
  if (spacing?.kind) return spacing.note || `lengths ${spacing.kind}`;
  return spacing?.note || "The file has no valid pixel spacing. The ruler shows pixels.";
}

const short = (value: number): string => (Math.abs(value) >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2));

/** Column, row and value of the pixel at a place of the matrix; empty off the image. */
export function pixelText(facts: Facts, matrix: Uint16Array, values: Float32Array, [x, y]: readonly [number, number]): string {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  if (column < 0 || row < 0 || column >= facts.columns || row >= facts.rows) return "";
  const wire = matrix[row * facts.columns + column]!;
  const stored = wire - offsetOf(facts);
  const shown = short(values[wire]!);
  return `x ${column} y ${row}: ${shown}${shown === String(stored) ? "" : ` (stored ${stored})`}`;
}

export function windowText(voi: Voi): string {
  return isTable(voi) ? `table ${voi.name}` : `C ${short(voi.center)} W ${short(voi.width)}`;
}
