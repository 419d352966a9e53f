// Label placement: outside of the box, clear of other boxes and labels, within the pane. Pure functions.

import type { Corners } from "./types";

const GAP = 3;

const computeOverlap = ([a, b, c, d]: Corners, [e, f, g, h]: Corners): number =>
  Math.max(0, Math.min(c, g) - Math.max(a, e)) * Math.max(0, Math.min(d, h) - Math.max(b, f));

/** The positions beside a box in order of preference: above and below, aligned left, then right; right and left, aligned at the top, then at the bottom. */
function listPositions([left, top, right, bottom]: Corners, width: number, height: number): [number, number][] {
  return [
    [left, top - height - GAP],
    [left, bottom + GAP],
    [right - width, top - height - GAP],
    [right - width, bottom + GAP],
    [right + GAP, top],
    [left - width - GAP, top],
    [right + GAP, bottom - height],
    [left - width - GAP, bottom - height],
  ];
}

/**
 * The upper left corner for the label of `box`; all in CSS pixels of the pane.
 *
 * It is the first of the eight positions beside the box that covers none of `others`; if each covers some, the one that covers
 * least. A label never covers the box that it names, unless the box fills the pane.
 */
export function placeLabel(box: Corners, width: number, height: number, pane: { width: number; height: number }, others: readonly Corners[]): [number, number] {
  let best: [number, number] = [box[0], box[1]];
  let leastCovered = Infinity;
  for (const [x, y] of listPositions(box, width, height)) {
    const position: [number, number] = [Math.min(Math.max(x, 0), Math.max(0, pane.width - width)), Math.min(Math.max(y, 0), Math.max(0, pane.height - height))];
    const label: Corners = [position[0], position[1], position[0] + width, position[1] + height];
    const covered = others.reduce((sum, other) => sum + computeOverlap(label, other), 0) + 1000 * computeOverlap(label, box);
    if (covered < leastCovered) [best, leastCovered] = [position, covered];
    if (covered === 0) break;
  }
  return best;
}
