// DICOM's grey scale as one table: a grey level for every value that can be transferred.

import { isTable, type ImageMetadata, type Voi, type Window } from "./types";

const VALUE_COUNT = 65_536;

export const getOffset = (metadata: ImageMetadata): number => metadata.offset ?? (metadata.signed ? 32_768 : 0);

/** The value after the modality transform (PS3.3 C.11.1) of each transferred value. */
export function computeModalityValues(metadata: ImageMetadata): Float32Array {
  const { kind, slope, intercept, table_first: first, table } = metadata.modality;
  const offset = getOffset(metadata);
  const values = new Float32Array(VALUE_COUNT);
  for (let transferred = 0; transferred < VALUE_COUNT; transferred += 1) {
    const stored = transferred - offset;
    if (kind === "linear") values[transferred] = stored * slope + intercept;
    else if (kind === "table") values[transferred] = table[Math.min(Math.max(stored - first, 0), table.length - 1)]!;
    else values[transferred] = stored;
  }
  return values;
}

/** Brightness, 0 to 1, that a window gives a value: PS3.3 C.11.2.1.2.1, C.11.2.1.3.1 and C.11.2.1.3.2. */
export function applyWindow(value: number, window: Window): number {
  const { center, width } = window;
  if (window.function === "SIGMOID") return 1 / (1 + Math.exp((-4 * (value - center)) / width));
  const isExact = window.function === "LINEAR_EXACT";
  const middle = isExact ? center : center - 0.5;
  const span = isExact ? width : width - 1;
  if (value <= middle - span / 2) return 0;
  if (value > middle + span / 2) return 1;
  return (value - middle) / span + 0.5;
}

/** Brightness, 0 to 1, that a window or a stored table (PS3.3 C.11.2.1.1) gives a value. */
export function computeBrightness(value: number, voi: Voi): number {
  if (!isTable(voi)) return applyWindow(value, voi);
  const { values, first, bits } = voi;
  return Math.min(1, values[Math.min(Math.max(Math.round(value) - first, 0), values.length - 1)]! / (2 ** bits - 1));
}

/**
 * The pixel of a canvas, an opaque grey, for each transferred value.
 *
 * Inversion comes last (PS3.3 C.7.6.3.1.2): once for `metadata.inverted`, once if the user inverts. Padding is
 * background and always black (C.7.5.1.1.2).
 */
export function buildGreyTable(metadata: ImageMetadata, values: Float32Array, voi: Voi, invert: boolean, table = new Uint32Array(VALUE_COUNT)): Uint32Array {
  const offset = getOffset(metadata);
  const isInverted = metadata.inverted !== invert;
  const first = Math.max(metadata.stored_min + offset, 0);
  const last = Math.min(metadata.stored_max + offset, VALUE_COUNT - 1);
  for (let transferred = first; transferred <= last; transferred += 1) {
    const brightness = computeBrightness(values[transferred]!, voi);
    const level = Math.round((isInverted ? 1 - brightness : brightness) * 255);
    table[transferred] = 0xff000000 | (level << 16) | (level << 8) | level;
  }
  table.fill(table[first]!, 0, first); // means of image and padding, as in pyramid.ts, are outside the range
  table.fill(table[last]!, last + 1);
  if (metadata.padding) table.fill(0xff000000, Math.max(metadata.padding[0] + offset, 0), Math.max(metadata.padding[1] + offset + 1, 0));
  return table;
}

/** The window that approximates a table: from where it leaves black to where it reaches white. */
export function approximateTable(table: VoiTableLike, min: number, max: number): Window {
  const stepCount = 512;
  let [low, high] = [min, max];
  for (let step = 0; step <= stepCount; step += 1) {
    const value = min + ((max - min) * step) / stepCount;
    const brightness = computeBrightness(value, table);
    if (brightness <= 0.03) low = value;
    if (brightness >= 0.97) {
      high = value;
      break;
    }
  }
  return { name: "", center: (low + high) / 2, width: Math.max(1, high - low), function: "LINEAR_EXACT" };
}

type VoiTableLike = Extract<Voi, { values: number[] }>;
