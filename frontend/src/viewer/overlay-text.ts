// The text overlays of the image: orientation letters, lengths, pixel values. Pure functions.

import { getOffset } from "./lut";
import type { OrientationMatrix } from "./transform";
import { isTable, type ImageMetadata, type Voi } from "./types";

const OPPOSITE: Record<string, string> = { A: "P", P: "A", R: "L", L: "R", H: "F", F: "H" };
const opposite = (letters: string): string => letters.replace(/./g, (letter) => OPPOSITE[letter] ?? "");

export interface Edges {
  top: string;
  right: string;
  bottom: string;
  left: string;
}

/** The letters at the edges (PS3.3 C.7.6.1.1.1), which follow the image when it is turned or mirrored. */
export function findEdgeLetters(orientation: readonly [string, string] | null, [a, b, c, d]: OrientationMatrix): Edges | null {
  if (!orientation) return null;
  const [row, column] = orientation;
  const letterAlong = (x: number, y: number): string => (x === 1 ? row : x === -1 ? opposite(row) : y === 1 ? column : y === -1 ? opposite(column) : "");
  // the transposed orientation maps directions of the screen to directions of the matrix
  return { right: letterAlong(a, b), left: letterAlong(-a, -b), bottom: letterAlong(c, d), top: letterAlong(-c, -d) };
}

/** Where the ruler's millimetres are measured, or why it shows only pixels. */
export function rulerNote(metadata: ImageMetadata): string {
  const { spacing } = metadata;
  if (spacing?.kind) return spacing.note || `lengths ${spacing.kind}`;
  return spacing?.note || "The file has no valid pixel spacing. The ruler shows pixels.";
}

const formatValue = (value: number): string => (Math.abs(value) >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2));

/** Column, row and value of the pixel at a position of the matrix; empty outside the image. */
export function formatPixel(metadata: ImageMetadata, matrix: Uint16Array, values: Float32Array, [x, y]: readonly [number, number]): string {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  if (column < 0 || row < 0 || column >= metadata.columns || row >= metadata.rows) return "";
  const transferred = matrix[row * metadata.columns + column]!;
  const stored = transferred - getOffset(metadata);
  const formatted = formatValue(values[transferred]!);
  return `x ${column} y ${row}: ${formatted}${formatted === String(stored) ? "" : ` (stored ${stored})`}`;
}

export function formatWindow(voi: Voi): string {
  return isTable(voi) ? `table ${voi.name}` : `W ${formatValue(voi.width)} C ${formatValue(voi.center)}`;
}
