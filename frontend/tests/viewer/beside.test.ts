// What is written beside the image: letters, lengths, values, labels.

import { describe, expect, it } from "vitest";

import { edgeLetters, length, pixelText } from "../../src/viewer/facts";
import { firstAction, laterAction } from "../../src/viewer/keys";
import { placeLabel } from "../../src/viewer/labels";
import { mirrored, turned, UPRIGHT, type View } from "../../src/viewer/transform";
import type { Corners, Facts } from "../../src/viewer/types";

const view: View = { width: 800, height: 600, ratio: 1, columns: 2500, rows: 3000, aspect: [1, 1], zoom: 0.2, x: 1250, y: 1500, turn: UPRIGHT };
const facts = { rows: 2, columns: 3, signed: false, spacing: { row_mm: 0.2, column_mm: 0.1, kind: "detector plane", note: "" } } as Facts;

describe("orientation letters", () => {
  const pa: [string, string] = ["L", "F"]; // rows run to the patient's left, columns to the feet

  it("stand at the edges that rows and columns run to, and their opposites across", () => {
    expect(edgeLetters(pa, UPRIGHT)).toEqual({ right: "L", left: "R", bottom: "F", top: "H" });
  });

  it("follow a quarter turn to the right", () => {
    expect(edgeLetters(pa, turned(view).turn)).toEqual({ right: "H", left: "F", bottom: "L", top: "R" });
  });

  it("follow a mirror", () => {
    expect(edgeLetters(pa, mirrored(view).turn)).toEqual({ right: "R", left: "L", bottom: "F", top: "H" });
  });

  it("have opposites of each of their letters", () => {
    expect(edgeLetters(["LP", "FA"], UPRIGHT)).toMatchObject({ left: "RA", top: "HP" });
  });
});

describe("lengths", () => {
  it("are by the spacing down and across, and say of which plane", () => {
    // 300 columns of 0.1 mm and 200 rows of 0.2 mm: 30 and 40 mm
    expect(length(facts, [0, 0], [300, 200])).toBe("50.0 mm (detector plane) · 361 px");
  });

  it("are in pixels alone where no spacing is valid", () => {
    const without = { ...facts, spacing: { row_mm: null, column_mm: null, kind: null, note: "" } };
    expect(length(without, [0, 0], [3, 4])).toBe("5 px");
    expect(length({ ...facts, spacing: null }, [0, 0], [3, 4])).toBe("5 px");
  });
});

describe("the value under the pointer", () => {
  const values = Float32Array.from({ length: 10 }, (_, wire) => 2 * wire);

  it("names column, row, value and what is stored", () => {
    expect(pixelText(facts, Uint16Array.from([0, 1, 2, 3, 4, 5]), values, [1.9, 1.2])).toBe("x 1 y 1: 8 (stored 4)");
  });

  it("is none off the image", () => {
    expect(pixelText(facts, new Uint16Array(6), values, [3, 0])).toBe("");
  });
});

describe("a label", () => {
  const pane = { width: 800, height: 600 };
  const overlaps = ([a, b, c, d]: Corners, [x, y]: [number, number]): boolean => x < c && x + 60 > a && y < d && y + 20 > b;

  it("never covers its own box, wherever that is", () => {
    for (let x = 0; x <= 700; x += 50) {
      for (let y = 0; y <= 500; y += 50) {
        const box: Corners = [x, y, x + 100, y + 100];
        expect(overlaps(box, placeLabel(box, 60, 20, pane, []))).toBe(false);
      }
    }
  });

  it("stays clear of another box where there is room", () => {
    const [box, above]: [Corners, Corners] = [[300, 300, 400, 400], [290, 200, 420, 295]];
    expect(overlaps(above, placeLabel(box, 60, 20, pane, [above]))).toBe(false);
  });
});

describe("keys", () => {
  const key = (name: string, more: object = {}): KeyboardEvent => ({ key: name, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more }) as KeyboardEvent;

  it("leave every letter that the judging form or Streamlit uses alone", () => {
    for (const letter of "avxszfqwpgtkjyenmhrc12345") {
      expect(firstAction(key(letter), false), letter).toBeNull();
      expect(laterAction(key(letter)), letter).toBeNull();
    }
  });

  it("leave Shift C and Shift R to Streamlit", () => {
    for (const letter of "CR") expect(firstAction(key(letter, { shiftKey: true }), true)).toBeNull();
  });

  it("take arrows only while a box is chosen: else they go to another question", () => {
    expect(firstAction(key("ArrowLeft"), false)).toBeNull();
    expect(firstAction(key("ArrowLeft"), true)).toBe("arrowleft");
  });
});
