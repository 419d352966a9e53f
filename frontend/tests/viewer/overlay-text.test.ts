// Text overlays: letters, lengths, values, labels.

import { describe, expect, it } from "vitest";

import { findEdgeLetters, formatPixel, formatWindow } from "../../src/viewer/overlay-text";
import { placeLabel } from "../../src/viewer/label-placement";
import { mirrorView, rotateView, UPRIGHT_ORIENTATION, type View } from "../../src/viewer/transform";
import type { Corners, ImageMetadata, Voi } from "../../src/viewer/types";

const view: View = { width: 800, height: 600, ratio: 1, columns: 2500, rows: 3000, aspect: [1, 1], zoom: 0.2, x: 1250, y: 1500, orientation: UPRIGHT_ORIENTATION };
const metadata = { rows: 2, columns: 3, signed: false, spacing: { row_mm: 0.2, column_mm: 0.1, kind: "detector plane", note: "" } } as ImageMetadata;

describe("orientation letters", () => {
  const pa: [string, string] = ["L", "F"]; // rows run to the patient's left, columns to the feet

  it("label the edges that rows and columns point to, and their opposites", () => {
    expect(findEdgeLetters(pa, UPRIGHT_ORIENTATION)).toEqual({ right: "L", left: "R", bottom: "F", top: "H" });
  });

  it("rotate with a quarter turn to the right", () => {
    expect(findEdgeLetters(pa, rotateView(view).orientation)).toEqual({ right: "H", left: "F", bottom: "L", top: "R" });
  });

  it("follow a mirrored image", () => {
    expect(findEdgeLetters(pa, mirrorView(view).orientation)).toEqual({ right: "R", left: "L", bottom: "F", top: "H" });
  });

  it("in pairs are replaced by the opposites of both letters", () => {
    expect(findEdgeLetters(["LP", "FA"], UPRIGHT_ORIENTATION)).toMatchObject({ left: "RA", top: "HP" });
  });
});

describe("the window", () => {
  it("shows width and centre, or the name of the table", () => {
    expect(formatWindow({ center: 40, width: 400 } as Voi)).toBe("W 400 C 40");
    expect(formatWindow({ name: "Bone", values: [] } as unknown as Voi)).toBe("table Bone");
  });
});

describe("the value under the pointer", () => {
  const values = Float32Array.from({ length: 10 }, (_, wire) => 2 * wire);

  it("shows column, row, value and stored value", () => {
    expect(formatPixel(metadata, Uint16Array.from([0, 1, 2, 3, 4, 5]), values, [1.9, 1.2])).toBe("x 1 y 1: 8 (stored 4)");
  });

  it("is empty outside of the image", () => {
    expect(formatPixel(metadata, new Uint16Array(6), values, [3, 0])).toBe("");
  });
});

describe("a label", () => {
  const pane = { width: 800, height: 600 };
  const overlaps = ([a, b, c, d]: Corners, [x, y]: [number, number]): boolean => x < c && x + 60 > a && y < d && y + 20 > b;

  it("never covers its own box", () => {
    for (let x = 0; x <= 700; x += 50) {
      for (let y = 0; y <= 500; y += 50) {
        const box: Corners = [x, y, x + 100, y + 100];
        expect(overlaps(box, placeLabel(box, 60, 20, pane, []))).toBe(false);
      }
    }
  });

  it("avoids another box if there is room", () => {
    const [box, above]: [Corners, Corners] = [[300, 300, 400, 400], [290, 200, 420, 295]];
    expect(overlaps(above, placeLabel(box, 60, 20, pane, [above]))).toBe(false);
  });
});
