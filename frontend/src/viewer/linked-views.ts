// Linked views: the view and window of one radiograph are applied to the other, scaled to it.

import type { Pane } from "./pane";
import { computeFitZoom, type View } from "./transform";
import { isTable } from "./types";
import { createFullRangeWindow } from "./windows";

/** Apply orientation, relative zoom, relative position and relative window of one pane to another. */
export function syncView(from: Pane, to: Pane): void {
  if (!from.picture || !to.picture || !from.voi) return;
  const { view } = from;
  const { columns, rows } = to.view;
  const rotated: View = { ...to.view, orientation: view.orientation };
  to.setView({ ...rotated, zoom: (computeFitZoom(rotated) * view.zoom) / computeFitZoom(view), x: (view.x / view.columns) * columns, y: (view.y / view.rows) * rows });
  const presetIndex = from.presets.indexOf(from.voi);
  const matchingPreset = to.presets[presetIndex];
  if (presetIndex >= 0 && matchingPreset?.name === from.voi.name) {
    to.setVoi(matchingPreset, from.invert);
    return;
  }
  if (isTable(from.voi)) return;
  const [fromRange, toRange] = [createFullRangeWindow(from.picture.metadata, from.picture.values), createFullRangeWindow(to.picture.metadata, to.picture.values)];
  const ratio = toRange.width / fromRange.width;
  const center = toRange.center + (from.voi.center - fromRange.center) * ratio;
  to.setVoi({ name: "", center, width: Math.max(1, from.voi.width * ratio), function: from.voi.function }, from.invert);
}
