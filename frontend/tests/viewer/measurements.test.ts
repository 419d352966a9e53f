// Measurements: lengths, cardiothoracic ratio, angles.

import { describe, expect, it } from "vitest";

import { addLine, computeAngle, computeHeartRatio, findLineStart, formatLength, formatMeasurement, moveEnd, type Line } from "../../src/viewer/measurements";
import type { ImageMetadata } from "../../src/viewer/types";

const metadata = { rows: 2, columns: 3, signed: false, aspect: [1, 1], spacing: { row_mm: 0.2, column_mm: 0.1, kind: "detector plane", note: "" } } as ImageMetadata;
const withoutSpacing: ImageMetadata = { ...metadata, spacing: null };

describe("lengths", () => {
  it("use row and column spacing, and name the plane", () => {
    // 300 columns of 0.1 mm and 200 rows of 0.2 mm: 30 and 40 mm
    expect(formatLength(metadata, [0, 0], [300, 200])).toBe("50.0 mm (detector plane) · 361 px");
  });

  it("are in pixels without valid spacing", () => {
    const withUnknownSpacing = { ...metadata, spacing: { row_mm: null, column_mm: null, kind: null, note: "" } };
    expect(formatLength(withUnknownSpacing, [0, 0], [3, 4])).toBe("5 px");
    expect(formatLength({ ...metadata, spacing: null }, [0, 0], [3, 4])).toBe("5 px");
  });
});

describe("the cardiothoracic ratio", () => {
  const heart: Line = [[1000, 2000], [2400, 2000]];
  const thorax: Line = [[300, 2300], [3100, 2300]];

  it("is the width of the heart divided by the width of the thorax, in mm if the spacing is known", () => {
    // 1400 of 2800 columns of 0.1 mm: 140.0 mm of 280.0 mm
    expect(computeHeartRatio(metadata, heart, thorax)).toBeCloseTo(0.5, 12);
    expect(formatMeasurement(metadata, { kind: "heart-ratio", lines: [heart, thorax] })).toBe("ratio 0.50 · heart 140.0 mm · thorax 280.0 mm");
  });

  it("is in pixels without spacing, and takes account of the aspect of pixels that are not square", () => {
    expect(formatMeasurement(withoutSpacing, { kind: "heart-ratio", lines: [heart, thorax] })).toBe("ratio 0.50 · heart 1400 px · thorax 2800 px");
    // pixels twice as high as wide: 300 columns and 200 rows are 300 and 400 pixel widths, 500 along the diagonal
    expect(computeHeartRatio({ ...withoutSpacing, aspect: [2, 1] }, [[0, 0], [300, 200]], [[0, 0], [1000, 0]])).toBeCloseTo(0.5, 12);
  });

  it("asks for the thorax after the heart, and is not defined for a thorax without width", () => {
    expect(formatMeasurement(metadata, { kind: "heart-ratio", lines: [heart] })).toBe("heart 140.0 mm · drag across the thorax");
    expect(formatMeasurement(metadata, { kind: "heart-ratio", lines: [heart, [[5, 5], [5, 5]]] })).toContain("not defined");
  });

  it("begins a new measurement with a third line", () => {
    const one = addLine(null, "heart-ratio", heart);
    const both = addLine(one, "heart-ratio", thorax);
    expect(both.lines).toEqual([heart, thorax]);
    expect(addLine(both, "heart-ratio", heart).lines).toEqual([heart]);
    expect(addLine(both, "ruler", heart)).toEqual({ kind: "ruler", lines: [heart] });
  });
});

describe("an angle", () => {
  const squarePixels = withoutSpacing;

  it.each([
    [[100, 0], 90],
    [[100, -100], 135],
    [[0, 100], 0],
    [[0, -70], 180],
    [[Math.sqrt(3), 1], 60],
  ])("between a leg downwards and a leg to %j is %d degrees", (end, degrees) => {
    expect(computeAngle(squarePixels, [[0, 100], [0, 0]], [[0, 0], end as [number, number]])).toBeCloseTo(degrees, 9);
  });

  it("counts millimetres, not pixels", () => {
    // 100 columns of 0.1 mm and 50 rows of 0.2 mm: 10 mm each, so 45 degrees to the row
    expect(computeAngle(metadata, [[100, 0], [0, 0]], [[0, 0], [100, 50]])).toBeCloseTo(45, 9);
  });

  it("has its second leg start at the vertex, and keeps both joined when the vertex moves", () => {
    const one = addLine(null, "angle", [[0, 100], [0, 0]]);
    expect(findLineStart(one, "angle", [30, 30])).toEqual([0, 0]);
    const both = addLine(one, "angle", [[30, 30], [100, 0]]);
    expect(both.lines[1]).toEqual([[0, 0], [100, 0]]);
    expect(moveEnd(both, 0, 1, [5, 6]).lines).toEqual([[[0, 100], [5, 6]], [[5, 6], [100, 0]]]);
    expect(moveEnd(both, 1, 0, [5, 6]).lines).toEqual([[[0, 100], [5, 6]], [[5, 6], [100, 0]]]);
    expect(moveEnd(both, 0, 0, [5, 6]).lines).toEqual([[[5, 6], [0, 0]], [[0, 0], [100, 0]]]);
    expect(formatMeasurement(squarePixels, both)).toBe("90.0°");
  });

  it("is not defined if a leg has no length", () => {
    expect(formatMeasurement(squarePixels, { kind: "angle", lines: [[[0, 0], [0, 0]], [[0, 0], [1, 1]]] })).toBe("not defined°");
  });
});
