// Mapping pixels of the matrix to the screen and back, for every orientation, zoom, position and pixel ratio.

import { describe, expect, it } from "vitest";

import { boxToMatrix, boxToScreen, fitView, computeFitZoom, mirrorView, panView, resizeView, computeScales, toMatrix, toScreen, rotateView, UPRIGHT_ORIENTATION, resetOrientation, zoomView, type View } from "../../src/viewer/transform";
import type { Corners } from "../../src/viewer/types";

const uprightView: View = { width: 800, height: 600, ratio: 1, columns: 2500, rows: 3000, aspect: [1, 1], zoom: 0.2, x: 1250, y: 1500, orientation: UPRIGHT_ORIENTATION };

function listOrientations(view: View): View[] {
  const quarters = [view, rotateView(view), rotateView(rotateView(view)), rotateView(rotateView(rotateView(view)))];
  return [...quarters, ...quarters.map(mirrorView)];
}

const views = [0.13, 1, 4, 37.5].flatMap((zoom) =>
  [1, 1.5, 2, 3].flatMap((ratio) => ([[1, 1], [2, 1], [3, 4]] as const).flatMap((aspect) => listOrientations({ ...uprightView, zoom, ratio, aspect, x: 700.25, y: 2100.5 }))),
);

describe("matrix and screen", () => {
  it("mapping to the screen and back returns the same position in every view", () => {
    for (const view of views) {
      for (const position of [[0, 0], [2500, 3000], [1203.4, 877.25]] as const) {
        const [x, y] = toMatrix(view, toScreen(view, position));
        expect(Math.hypot(x - position[0], y - position[1])).toBeLessThan(1e-8);
      }
    }
  });

  it("mapping a box to the screen and back returns the same corners in every view", () => {
    const box: Corners = [310.5, 42, 355.25, 99.75];
    for (const view of views) boxToMatrix(view, boxToScreen(view, box)).forEach((value, index) => expect(value).toBeCloseTo(box[index]!, 8));
  });

  it("the middle of the pane shows the view's position", () => {
    for (const view of views) expect(toScreen(view, [700.25, 2100.5])).toEqual([400, 300]);
  });

  it("at a zoom of 1, a pixel of the matrix takes one pixel of the device", () => {
    expect(computeScales({ ...uprightView, zoom: 1, ratio: 2 })).toEqual([0.5, 0.5]);
  });

  it("pixels that are twice as high as wide are displayed with these proportions", () => {
    expect(computeScales({ ...uprightView, zoom: 1, aspect: [2, 1] })).toEqual([1, 2]);
  });
});

describe("orientation", () => {
  it("a quarter turn to the right moves the left edge to the top", () => {
    const view = rotateView({ ...uprightView, zoom: 0.1 });
    expect(toScreen(view, [0, 1500])[1]).toBeLessThan(300);
    expect(toScreen(view, [1250, 0])[0]).toBeGreaterThan(400); // and the top edge to the right
  });

  it("four quarter turns or two mirrors restore the orientation", () => {
    expect(rotateView(rotateView(rotateView(rotateView(uprightView)))).orientation).toEqual(UPRIGHT_ORIENTATION);
    expect(mirrorView(mirrorView(uprightView)).orientation).toEqual(UPRIGHT_ORIENTATION);
  });

  it("a mirror exchanges left and right of the display, in every orientation", () => {
    for (const view of listOrientations(uprightView)) {
      const [x, y] = toScreen(view, [300, 400]);
      expect(toScreen(mirrorView(view), [300, 400])).toEqual([800 - x, y]);
    }
  });

  it("a fitted image stays fitted after a rotation", () => {
    const view = rotateView(fitView(uprightView));
    expect(view.zoom).toBeCloseTo(Math.min(800 / 3000, 600 / 2500), 10);
    expect(resetOrientation(view)).toEqual(fitView(uprightView));
  });
});

describe("zoom and position", () => {
  it("zooming keeps the position under the pointer", () => {
    for (const view of listOrientations({ ...uprightView, zoom: 0.5 })) {
      const position = toMatrix(view, [523, 211]);
      const [x, y] = toMatrix(zoomView(view, 1.7, [523, 211]), [523, 211]);
      expect(Math.hypot(x - position[0], y - position[1])).toBeLessThan(1e-8);
    }
  });

  it("a drag moves the image with the pointer", () => {
    for (const view of listOrientations({ ...uprightView, zoom: 1 })) {
      const [x, y] = toScreen(view, [1200, 1400]);
      const [nowX, nowY] = toScreen(panView(view, 30, -12), [1200, 1400]);
      expect([nowX - x, nowY - y].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([30, -12]);
    }
  });

  it("the middle of the view stays on the image", () => {
    const { x, y } = panView({ ...uprightView, zoom: 1 }, 1e6, -1e6);
    expect([x, y]).toEqual([0, 3000]);
  });

  it("a fitted image is completely visible", () => {
    for (const view of listOrientations(uprightView).map(fitView)) {
      const [left, top, right, bottom] = boxToScreen(view, [0, 0, 2500, 3000]);
      expect(Math.min(left, top, 800 - right, 600 - bottom)).toBeGreaterThan(-1e-6);
    }
  });

  it("a resized pane keeps a fitted image fitted, and any other zoom unchanged", () => {
    const larger = resizeView(fitView(uprightView), 1600, 1200, 2);
    expect(larger.zoom).toBeCloseTo(computeFitZoom(larger), 10);
    expect(resizeView({ ...uprightView, zoom: 3 }, 1600, 1200, 2).zoom).toBe(3);
  });
});
