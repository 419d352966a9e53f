// The grey scale by the formulas of PS3.3 C.11.1 and C.11.2.

import { describe, expect, it } from "vitest";

import { brightness, greyTable, modalityValues, windowed, windowLike } from "../../src/viewer/lut";
import type { Facts, Window } from "../../src/viewer/types";
import { percentileWindow, histogram, fullRange } from "../../src/viewer/windows";

const facts: Facts = {
  rows: 2, columns: 4, bits: 12, signed: false, offset: 0, inverted: false, stored_min: 0, stored_max: 4095, padding: null,
  modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
  windows: [], voi_tables: [], automatic: { center: 2048, width: 4096 }, spacing: null, aspect: [1, 1], orientation: null,
}; // prettier-ignore
const window = (center: number, width: number, kind: Window["function"] = "LINEAR"): Window => ({ name: "", center, width, function: kind });
const level = (table: Uint32Array, wire: number): number => table[wire]! & 255;

describe("windows", () => {
  it("LINEAR: 2048, 4096 takes 0 to black and 4095 to white (C.11.2.1.2.1, note)", () => {
    expect(windowed(0, window(2048, 4096))).toBe(0);
    expect(windowed(4095, window(2048, 4096))).toBe(1);
    // ((x - (c - 0.5)) / (w - 1) + 0.5)
    expect(windowed(1000, window(2048, 4096))).toBeCloseTo((1000 - 2047.5) / 4095 + 0.5, 12);
  });

  it("LINEAR of width 1 is a threshold at center - 0.5", () => {
    expect([9, 9.5, 9.6].map((value) => windowed(value, window(10, 1)))).toEqual([0, 0, 1]);
  });

  it("LINEAR_EXACT: (x - c) / w + 0.5 (C.11.2.1.3.2)", () => {
    expect([0, 25, 50, 100].map((value) => windowed(value, window(50, 100, "LINEAR_EXACT")))).toEqual([0, 0.25, 0.5, 1]);
  });

  it("SIGMOID: 1 / (1 + exp(-4 (x - c) / w)) (C.11.2.1.3.1)", () => {
    expect(windowed(50, window(50, 100, "SIGMOID"))).toBe(0.5);
    expect(windowed(75, window(50, 100, "SIGMOID"))).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
  });

  it("a stored table is asked with the value less its first, held at its ends (C.11.2.1.1)", () => {
    const table = { name: "", first: 100, bits: 8, values: [0, 51, 255] };
    expect([0, 100, 101, 102, 4000].map((value) => brightness(value, table))).toEqual([0, 0, 0.2, 1, 1]);
  });

  it("a window drag begins from about what a table shows", () => {
    const ramp = { name: "", first: 1000, bits: 10, values: Array.from({ length: 1024 }, (_, at) => at) };
    const { center, width } = windowLike(ramp, 0, 4095);
    expect(center).toBeCloseTo(1512, -1.5);
    expect(width).toBeCloseTo(1000, -2);
  });
});

describe("modality", () => {
  it("rescale: slope and intercept on the stored value, which has its offset taken off", () => {
    const signed: Facts = { ...facts, signed: true, offset: 32768, modality: { ...facts.modality, kind: "linear", slope: 2, intercept: -10 } };
    expect(modalityValues(signed)[32768 - 5]).toBe(-20);
  });

  it("a table goes on with its ends", () => {
    const values = modalityValues({ ...facts, modality: { kind: "table", slope: 1, intercept: 0, table_first: 10, table: [7, 8, 9] } });
    expect([0, 10, 11, 12, 500].map((wire) => values[wire])).toEqual([7, 7, 8, 9, 9]);
  });
});

describe("greys", () => {
  const values = modalityValues(facts);

  it("MONOCHROME1 is turned round once, and back by the person's own inversion", () => {
    const full = window(2048, 4096);
    expect(level(greyTable(facts, values, full, false), 4095)).toBe(255);
    expect(level(greyTable({ ...facts, inverted: true }, values, full, false), 4095)).toBe(0);
    expect(level(greyTable({ ...facts, inverted: true }, values, full, true), 4095)).toBe(255);
  });

  it("padding is black whatever the polarity, both ends included", () => {
    const table = greyTable({ ...facts, inverted: true, padding: [0, 2], stored_min: 3 }, values, window(2048, 4096), false);
    expect([0, 2, 3].map((wire) => level(table, wire))).toEqual([0, 0, 255]);
  });
});

describe("windows that are read off the image", () => {
  const matrix = Uint16Array.from([0, 10, 20, 30, 40, 50, 60, 4000]);
  const values = modalityValues(facts);

  it("go from percentile to percentile", () => {
    const { center, width } = percentileWindow(histogram(matrix, facts), values, 25, 75, "");
    expect([center - width / 2, center + width / 2]).toEqual([10, 50]); // the 2nd and the 6th of eight
  });

  it("know a region, and leave padding out", () => {
    const counts = histogram(matrix, { ...facts, padding: [10, 10] }, [1, 0, 3, 1]);
    expect([counts[0], counts[10], counts[20]]).toEqual([0, 0, 1]);
  });

  it("reach from the least to the highest value", () => {
    expect(fullRange({ ...facts, stored_min: 100, stored_max: 300 }, values)).toMatchObject({ center: 200, width: 200 });
  });
});
