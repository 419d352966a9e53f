// The mapping between matrix and screen. Pure functions: each returns a new view.
//
// Three grids: the matrix (x column, y row, (0, 0) the outer corner of its first pixel), the screen (CSS pixels
// from the pane's upper left corner), and the device's own pixels (`ratio` per CSS pixel).

import type { Corners } from "./types";

/** How the image is turned and mirrored: a matrix of 0 and ±1 by rows, applied to positions relative to the middle; y points down. */
export type OrientationMatrix = readonly [number, number, number, number];

export const UPRIGHT_ORIENTATION: OrientationMatrix = [1, 0, 0, 1];

export interface View {
  readonly width: number; // of the pane, CSS pixels
  readonly height: number;
  readonly ratio: number;
  readonly columns: number;
  readonly rows: number;
  readonly aspect: readonly [number, number]; // vertical by horizontal size of a pixel (PS3.3 C.7.6.3.1.7)
  readonly zoom: number; // device pixels per pixel of the matrix; per shorter side if pixels are not square
  readonly x: number; // the point of the matrix that is in the middle of the pane
  readonly y: number;
  readonly orientation: OrientationMatrix;
}

/** CSS pixels per column and per row of the matrix, times `factor`. */
export function computeScales({ zoom, ratio, aspect: [vertical, horizontal] }: View, factor = 1): [number, number] {
  const square = (zoom / ratio) * factor;
  return [square * Math.max(1, horizontal / vertical), square * Math.max(1, vertical / horizontal)];
}

export function toScreen(view: View, [x, y]: readonly [number, number]): [number, number] {
  const [kx, ky] = computeScales(view);
  const [a, b, c, d] = view.orientation;
  const [dx, dy] = [(x - view.x) * kx, (y - view.y) * ky];
  return [view.width / 2 + a * dx + b * dy, view.height / 2 + c * dx + d * dy];
}

/** The inverse of `toScreen`; a turn's inverse is its transpose. */
export function toMatrix(view: View, [x, y]: readonly [number, number]): [number, number] {
  const [kx, ky] = computeScales(view);
  const [a, b, c, d] = view.orientation;
  const [dx, dy] = [x - view.width / 2, y - view.height / 2];
  return [view.x + (a * dx + c * dy) / kx, view.y + (b * dx + d * dy) / ky];
}

/** A box on screen as left, top, right, bottom. Only quarter turns exist, so it stays axis-aligned. */
export function boxToScreen(view: View, [x0, y0, x1, y1]: Corners): Corners {
  return toCorners(toScreen(view, [x0, y0]), toScreen(view, [x1, y1]));
}

/** The inverse of `boxToScreen`. */
export function boxToMatrix(view: View, [left, top, right, bottom]: Corners): Corners {
  return toCorners(toMatrix(view, [left, top]), toMatrix(view, [right, bottom]));
}

export function toCorners([ax, ay]: readonly [number, number], [bx, by]: readonly [number, number]): Corners {
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}

/** The zoom at which the whole image is visible. */
export function computeFitZoom(view: View): number {
  const unscaled = { ...view, zoom: view.ratio };
  const [kx, ky] = computeScales(unscaled);
  const isSideways = view.orientation[0] === 0;
  const [across, down] = isSideways ? [view.rows * ky, view.columns * kx] : [view.columns * kx, view.rows * ky];
  return view.ratio * Math.min(view.width / across, view.height / down);
}

export function fitView(view: View): View {
  return { ...view, zoom: computeFitZoom(view), x: view.columns / 2, y: view.rows / 2 };
}

export function computeZoomLimits(view: View): [number, number] {
  const fit = computeFitZoom(view);
  return [Math.min(fit, 1) * 0.5, Math.max(64, fit * 4)];
}

/** Zoom. The position under `anchor` (CSS pixels, by default the middle) stays fixed. */
export function zoomView(view: View, zoom: number, anchor: readonly [number, number] = [view.width / 2, view.height / 2]): View {
  const [min, max] = computeZoomLimits(view);
  const next = { ...view, zoom: Math.min(max, Math.max(min, zoom)) };
  const [before, after] = [toMatrix(view, anchor), toMatrix(next, anchor)];
  return clampView({ ...next, x: next.x + before[0] - after[0], y: next.y + before[1] - after[1] });
}

/** Move the image by `dx` and `dy` CSS pixels. */
export function panView(view: View, dx: number, dy: number): View {
  const [x, y] = toMatrix(view, [view.width / 2 - dx, view.height / 2 - dy]);
  return clampView({ ...view, x, y });
}

/** Keep the middle of the pane on the image. */
function clampView(view: View): View {
  return { ...view, x: Math.min(view.columns, Math.max(0, view.x)), y: Math.min(view.rows, Math.max(0, view.y)) };
}

const multiply = ([a, b, c, d]: OrientationMatrix, [e, f, g, h]: OrientationMatrix): OrientationMatrix => [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h].map((n) => n + 0) as unknown as OrientationMatrix;

const QUARTER_TURN: OrientationMatrix = [0, -1, 1, 0];
const MIRROR: OrientationMatrix = [-1, 0, 0, 1];

/** Rotate a quarter turn to the right as displayed. A fitted view stays fitted. */
export function rotateView(view: View): View {
  return refitView(view, { ...view, orientation: multiply(QUARTER_TURN, view.orientation) });
}

/** Mirror left to right as displayed. */
export function mirrorView(view: View): View {
  return { ...view, orientation: multiply(MIRROR, view.orientation) };
}

export function resetOrientation(view: View): View {
  return refitView(view, { ...view, orientation: UPRIGHT_ORIENTATION });
}

function refitView(before: View, after: View): View {
  return Math.abs(before.zoom / computeFitZoom(before) - 1) < 0.01 ? fitView(after) : after;
}

/** Adapt to another size of the pane: a fitted view stays fitted, any other view keeps its middle and zoom. */
export function resizeView(view: View, width: number, height: number, ratio: number): View {
  const next = { ...view, width, height, ratio };
  return view.width < 2 || Math.abs(view.zoom / computeFitZoom(view) - 1) < 0.01 ? fitView(next) : next;
}
