// Available windows: those stored in the file, the full range, and percentiles of the pixel values.
//
// CR and DX values have no common scale such as Hounsfield units, so a window that suits "the lung" or "the bones"
// is computed from the image, or from a region of it that the person marks.

import { getOffset, approximateTable } from "./lut";
import { isTable, type Corners, type ImageMetadata, type Voi, type Window } from "./types";

/** Count the transferred values in a region (by default the whole image), in at most a million pixels, without padding. */
export function computeHistogram(matrix: Uint16Array, metadata: ImageMetadata, region: Corners | null = null): Uint32Array {
  const { rows, columns } = metadata;
  const [x0, y0, x1, y1] = region ?? [0, 0, columns, rows];
  const [left, top] = [Math.max(0, Math.floor(x0)), Math.max(0, Math.floor(y0))];
  const [right, bottom] = [Math.min(columns, Math.ceil(x1)), Math.min(rows, Math.ceil(y1))];
  const step = Math.max(1, Math.floor(Math.sqrt(((right - left) * (bottom - top)) / 1_000_000)));
  const counts = new Uint32Array(65_536);
  for (let y = top; y < bottom; y += step) {
    for (let x = left; x < right; x += step) counts[matrix[y * columns + x]!]! += 1;
  }
  if (!metadata.padding) return counts;
  const offset = getOffset(metadata);
  const unpadded = counts.slice().fill(0, Math.max(0, metadata.padding[0] + offset), Math.max(0, metadata.padding[1] + offset + 1));
  return unpadded.some((count) => count > 0) ? unpadded : counts; // in a region that contains only padding, the padding is counted
}

/** The window between two percentiles of the counts. `values` maps transferred values to modality values. */
export function createPercentileWindow(counts: Uint32Array, values: Float32Array, low: number, high: number, name: string): Window {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const findValue = (percent: number): number => {
    let cumulative = 0;
    for (let transferred = 0; transferred < counts.length; transferred += 1) {
      cumulative += counts[transferred]!;
      if (cumulative > 0 && cumulative >= (total * percent) / 100) return values[transferred]!;
    }
    return values[counts.length - 1]!;
  };
  return createWindow(name, findValue(low), findValue(high));
}

/** The window between two values, in either order. */
function createWindow(name: string, first: number, second: number): Window {
  return { name, center: (first + second) / 2, width: Math.max(Math.abs(second - first), 1), function: "LINEAR_EXACT" };
}

/** The window from the lowest to the highest value of the image. */
export function createFullRangeWindow(metadata: ImageMetadata, values: Float32Array): Window {
  const offset = getOffset(metadata);
  return createWindow("Full range", values[metadata.stored_min + offset]!, values[metadata.stored_max + offset]!);
}

/** Returns a window unchanged, and the window that approximates a lookup table. */
export function toWindow(voi: Voi, range: Window): Window {
  return isTable(voi) ? approximateTable(voi, range.center - range.width / 2, range.center + range.width / 2) : voi;
}

/** One step by key: `brighter` and `wider` are shares of the window's width. */
export function stepWindow(voi: Voi, { metadata, values }: { metadata: ImageMetadata; values: Float32Array }, invert: boolean, brighter: number, wider: number): Window {
  const range = createFullRangeWindow(metadata, values);
  const start = toWindow(voi, range);
  const direction = metadata.inverted === invert ? 1 : -1; // an inverted image is brighter where values are low
  const width = Math.max(1, range.width / 1000, start.width * (1 + wider));
  return { name: "", function: start.function, width, center: start.center - brighter * start.width * direction };
}

/** All window presets, the initial one first. */
export function listPresets(metadata: ImageMetadata, matrix: Uint16Array, values: Float32Array): Voi[] {
  const counts = computeHistogram(matrix, metadata);
  const automatic: Window = { name: "Automatic", center: metadata.automatic.center, width: metadata.automatic.width, function: "LINEAR_EXACT" };
  const { kind, index } = metadata.first_look ?? { kind: "automatic", index: 0 };
  const first: Voi = (kind === "table" ? metadata.voi_tables[index] : kind === "window" ? metadata.windows[index] : null) ?? automatic;
  const stored = [...metadata.voi_tables, ...metadata.windows, automatic].filter((voi) => voi !== first);
  return [
    first,
    ...stored,
    createFullRangeWindow(metadata, values),
    createPercentileWindow(counts, values, 1, 60, "Dark regions (1st to 60th percentile)"),
    createPercentileWindow(counts, values, 40, 99.8, "Bright regions (40th to 99.8th percentile)"),
    createPercentileWindow(counts, values, 10, 90, "More contrast (10th to 90th percentile)"),
  ];
}
