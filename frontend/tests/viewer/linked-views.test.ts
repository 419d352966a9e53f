// The view of one radiograph applied to another of a different size.

import { expect, it, vi } from "vitest";

import { syncView } from "../../src/viewer/linked-views";
import type { Pane } from "../../src/viewer/pane";
import { computeFitZoom, rotateView, UPRIGHT_ORIENTATION, zoomView, type View } from "../../src/viewer/transform";

const frontal: View = { width: 400, height: 600, ratio: 1, columns: 2000, rows: 2500, aspect: [1, 1], zoom: 0.2, x: 1000, y: 1250, orientation: UPRIGHT_ORIENTATION };
const lateral: View = { ...frontal, columns: 1000, rows: 2000, zoom: 0.3, x: 500, y: 1000 };
const voi = { name: "Normal", center: 100, width: 200 };

/** The parts of a pane that linking reads; `setView` stores the view. */
function makePane(view: View): Pane {
  const pane = { picture: {}, voi, presets: [voi], invert: false, view, setVoi: vi.fn(), setView: (next: View) => (pane.view = next) };
  return pane as unknown as Pane;
}

it("a rotated and zoomed view is applied with its orientation and relative zoom", () => {
  const rotated = zoomView(rotateView(frontal), 2, [200, 300]);
  const target = makePane(lateral);
  syncView(makePane(rotated), target);
  expect(target.view.orientation).toEqual(rotated.orientation);
  expect(target.view.zoom / computeFitZoom(target.view)).toBeCloseTo(rotated.zoom / computeFitZoom(rotated), 9);
  expect([target.view.x / 1000, target.view.y / 2000]).toEqual([rotated.x / 2000, rotated.y / 2500]);
});
