// The grey scale by the formulas of PS3.3 C.11.1 and C.11.2.

import { describe, expect, it } from "vitest";

import { computeBrightness, buildGreyTable, computeModalityValues, applyWindow, approximateTable } from "../../src/viewer/lut";
import type { ImageMetadata, Window } from "../../src/viewer/types";
import { createPercentileWindow, computeHistogram, createFullRangeWindow } from "../../src/viewer/windows";

const metadata: ImageMetadata = {
  rows: 2, columns: 4, bits: 12, signed: false, offset: 0, inverted: false, stored_min: 0, stored_max: 4095, padding: null,
  modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
  windows: [], voi_tables: [], automatic: { center: 2048, width: 4096 }, spacing: null, aspect: [1, 1], orientation: null,
}; // prettier-ignore
const window = (center: number, width: number, kind: Window["function"] = "LINEAR"): Window => ({ name: "", center, width, function: kind });
const greyLevel = (table: Uint32Array, wire: number): number => table[wire]! & 255;

describe("windows", () => {
  it("LINEAR with centre 2048 and width 4096 maps 0 to black and 4095 to white (C.11.2.1.2.1, note)", () => {
    expect(applyWindow(0, window(2048, 4096))).toBe(0);
    expect(applyWindow(4095, window(2048, 4096))).toBe(1);
    // ((x - (c - 0.5)) / (w - 1) + 0.5)
    expect(applyWindow(1000, window(2048, 4096))).toBeCloseTo((1000 - 2047.5) / 4095 + 0.5, 12);
  });

  it("LINEAR of width 1 is a threshold at center - 0.5", () => {
    expect([9, 9.5, 9.6].map((value) => applyWindow(value, window(10, 1)))).toEqual([0, 0, 1]);
  });

  it("LINEAR_EXACT: (x - c) / w + 0.5 (C.11.2.1.3.2)", () => {
    expect([0, 25, 50, 100].map((value) => applyWindow(value, window(50, 100, "LINEAR_EXACT")))).toEqual([0, 0.25, 0.5, 1]);
  });

  it("SIGMOID: 1 / (1 + exp(-4 (x - c) / w)) (C.11.2.1.3.1)", () => {
    expect(applyWindow(50, window(50, 100, "SIGMOID"))).toBe(0.5);
    expect(applyWindow(75, window(50, 100, "SIGMOID"))).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
  });

  it("a stored table is indexed by value minus first value, clamped at its ends (C.11.2.1.1)", () => {
    const table = { name: "", first: 100, bits: 8, values: [0, 51, 255] };
    expect([0, 100, 101, 102, 4000].map((value) => computeBrightness(value, table))).toEqual([0, 0, 0.2, 1, 1]);
  });

  it("a window drag starts from an approximation of the table", () => {
    const ramp = { name: "", first: 1000, bits: 10, values: Array.from({ length: 1024 }, (_, index) => index) };
    const { center, width } = approximateTable(ramp, 0, 4095);
    expect(center).toBeCloseTo(1512, -1.5);
    expect(width).toBeCloseTo(1000, -2);
  });
});

describe("modality", () => {
  it("rescale: slope and intercept apply to the stored value without its offset", () => {
    const signed: ImageMetadata = { ...metadata, signed: true, offset: 32768, modality: { ...metadata.modality, kind: "linear", slope: 2, intercept: -10 } };
    expect(computeModalityValues(signed)[32768 - 5]).toBe(-20);
  });

  it("a table is extended with its end values", () => {
    const values = computeModalityValues({ ...metadata, modality: { kind: "table", slope: 1, intercept: 0, table_first: 10, table: [7, 8, 9] } });
    expect([0, 10, 11, 12, 500].map((wire) => values[wire])).toEqual([7, 7, 8, 9, 9]);
  });
});

describe("grey levels", () => {
  const values = computeModalityValues(metadata);

  it("MONOCHROME1 is inverted once, and the person can invert it back", () => {
    const full = window(2048, 4096);
    expect(greyLevel(buildGreyTable(metadata, values, full, false), 4095)).toBe(255);
    expect(greyLevel(buildGreyTable({ ...metadata, inverted: true }, values, full, false), 4095)).toBe(0);
    expect(greyLevel(buildGreyTable({ ...metadata, inverted: true }, values, full, true), 4095)).toBe(255);
  });

  it("padding is black at either polarity, including both ends of its range", () => {
    const table = buildGreyTable({ ...metadata, inverted: true, padding: [0, 2], stored_min: 3 }, values, window(2048, 4096), false);
    expect([0, 2, 3].map((wire) => greyLevel(table, wire))).toEqual([0, 0, 255]);
  });
});

describe("windows computed from the image", () => {
  const matrix = Uint16Array.from([0, 10, 20, 30, 40, 50, 60, 4000]);
  const values = computeModalityValues(metadata);

  it("span from percentile to percentile", () => {
    const { center, width } = createPercentileWindow(computeHistogram(matrix, metadata), values, 25, 75, "");
    expect([center - width / 2, center + width / 2]).toEqual([10, 50]); // the 2nd and the 6th of eight
  });

  it("use a region, and exclude padding", () => {
    const counts = computeHistogram(matrix, { ...metadata, padding: [10, 10] }, [1, 0, 3, 1]);
    expect([counts[0], counts[10], counts[20]]).toEqual([0, 0, 1]);
  });

  it("span from the lowest to the highest value", () => {
    expect(createFullRangeWindow({ ...metadata, stored_min: 100, stored_max: 300 }, values)).toMatchObject({ center: 200, width: 200 });
  });
});
