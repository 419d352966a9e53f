// Radiographs that are looked at together: what is done to one is done to the other, in its own measure.

import type { Pane } from "./pane";
import { fitZoom } from "./transform";
import { isTable } from "./types";
import { fullRange } from "./windows";

/** The same zoom relative to the whole, the same place as a share of the image, the same window as a share of the range. */
export function link(from: Pane, to: Pane): void {
  if (!from.picture || !to.picture || !from.voi) return;
  const { view } = from;
  const { columns, rows } = to.view;
  const turned = { ...to.view, turn: view.turn };
  to.setView({ ...turned, zoom: (fitZoom(turned) * view.zoom) / fitZoom(view), x: (view.x / view.columns) * columns, y: (view.y / view.rows) * rows });
  const preset = from.presets.indexOf(from.voi);
  const same = to.presets[preset];
  if (preset >= 0 && same?.name === from.voi.name) {
    to.setVoi(same, from.invert);
    return;
  }
  if (isTable(from.voi)) return;
  const [mine, other] = [fullRange(from.picture.facts, from.picture.values), fullRange(to.picture.facts, to.picture.values)];
  const share = other.width / mine.width;
  const center = other.center + (from.voi.center - mine.center) * share;
  to.setVoi({ name: "", center, width: Math.max(1, from.voi.width * share), function: from.voi.function }, from.invert);
}
