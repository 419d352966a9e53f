// The way from pixels of the matrix to the screen and back, at every turn, zoom, place and pixel ratio.

import { describe, expect, it } from "vitest";

import { boxToMatrix, boxToScreen, fitted, fitZoom, mirrored, panned, resized, scales, toMatrix, toScreen, turned, UPRIGHT, upright, zoomed, type View } from "../../src/viewer/transform";
import type { Corners } from "../../src/viewer/types";

const plain: View = { width: 800, height: 600, ratio: 1, columns: 2500, rows: 3000, aspect: [1, 1], zoom: 0.2, x: 1250, y: 1500, turn: UPRIGHT };

function everyTurn(view: View): View[] {
  const quarters = [view, turned(view), turned(turned(view)), turned(turned(turned(view)))];
  return [...quarters, ...quarters.map(mirrored)];
}

const everyView = [0.13, 1, 4, 37.5].flatMap((zoom) =>
  [1, 1.5, 2, 3].flatMap((ratio) => ([[1, 1], [2, 1], [3, 4]] as const).flatMap((aspect) => everyTurn({ ...plain, zoom, ratio, aspect, x: 700.25, y: 2100.5 }))),
);

describe("matrix and screen", () => {
  it("there and back is the same place, in every view", () => {
    for (const view of everyView) {
      for (const place of [[0, 0], [2500, 3000], [1203.4, 877.25]] as const) {
        const [x, y] = toMatrix(view, toScreen(view, place));
        expect(Math.hypot(x - place[0], y - place[1])).toBeLessThan(1e-8);
      }
    }
  });

  it("a box there and back has the same corners, in every view", () => {
    const box: Corners = [310.5, 42, 355.25, 99.75];
    for (const view of everyView) boxToMatrix(view, boxToScreen(view, box)).forEach((value, at) => expect(value).toBeCloseTo(box[at]!, 8));
  });

  it("the middle of the pane shows the view's place", () => {
    for (const view of everyView) expect(toScreen(view, [700.25, 2100.5])).toEqual([400, 300]);
  });

  it("a zoom of 1 gives a pixel of the matrix a pixel of the device", () => {
    expect(scales({ ...plain, zoom: 1, ratio: 2 })).toEqual([0.5, 0.5]);
  });

  it("pixels that are twice as high as wide are drawn so", () => {
    expect(scales({ ...plain, zoom: 1, aspect: [2, 1] })).toEqual([1, 2]);
  });
});

describe("turning", () => {
  it("a quarter to the right brings the left edge up", () => {
    const view = turned({ ...plain, zoom: 0.1 });
    expect(toScreen(view, [0, 1500])[1]).toBeLessThan(300);
    expect(toScreen(view, [1250, 0])[0]).toBeGreaterThan(400); // and what was above to the right
  });

  it("four quarters, or two mirrors, are none", () => {
    expect(turned(turned(turned(turned(plain)))).turn).toEqual(UPRIGHT);
    expect(mirrored(mirrored(plain)).turn).toEqual(UPRIGHT);
  });

  it("mirrors left and right as one sees them, turned or not", () => {
    for (const view of everyTurn(plain)) {
      const [x, y] = toScreen(view, [300, 400]);
      expect(toScreen(mirrored(view), [300, 400])).toEqual([800 - x, y]);
    }
  });

  it("a whole image stays whole when it is turned", () => {
    const view = turned(fitted(plain));
    expect(view.zoom).toBeCloseTo(Math.min(800 / 3000, 600 / 2500), 10);
    expect(upright(view)).toEqual(fitted(plain));
  });
});

describe("zoom and place", () => {
  it("what is under the pointer stays there", () => {
    for (const view of everyTurn({ ...plain, zoom: 0.5 })) {
      const under = toMatrix(view, [523, 211]);
      const [x, y] = toMatrix(zoomed(view, 1.7, [523, 211]), [523, 211]);
      expect(Math.hypot(x - under[0], y - under[1])).toBeLessThan(1e-8);
    }
  });

  it("a drag takes the image along with the pointer", () => {
    for (const view of everyTurn({ ...plain, zoom: 1 })) {
      const [x, y] = toScreen(view, [1200, 1400]);
      const [nowX, nowY] = toScreen(panned(view, 30, -12), [1200, 1400]);
      expect([nowX - x, nowY - y].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([30, -12]);
    }
  });

  it("the image can't be lost: its middle of view stays on it", () => {
    const { x, y } = panned({ ...plain, zoom: 1 }, 1e6, -1e6);
    expect([x, y]).toEqual([0, 3000]);
  });

  it("a fitted image is in sight to its corners", () => {
    for (const view of everyTurn(plain).map(fitted)) {
      const [left, top, right, bottom] = boxToScreen(view, [0, 0, 2500, 3000]);
      expect(Math.min(left, top, 800 - right, 600 - bottom)).toBeGreaterThan(-1e-6);
    }
  });

  it("another size of the pane keeps a fitted image fitted, and any other zoom as it is", () => {
    const larger = resized(fitted(plain), 1600, 1200, 2);
    expect(larger.zoom).toBeCloseTo(fitZoom(larger), 10);
    expect(resized({ ...plain, zoom: 3 }, 1600, 1200, 2).zoom).toBe(3);
  });
});
