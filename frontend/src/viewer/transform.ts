// Where a pixel of the matrix stands on screen. Pure: every function gives back a new view.
//
// Three grids: the matrix (x column, y row, (0, 0) the outer corner of its first pixel), the screen (CSS pixels
// from the pane's upper left corner), and the device's own pixels (`ratio` of them to a CSS pixel).

import type { Corners } from "./types";

/** Turned and mirrored: a matrix of 0 and ±1 by rows, applied to places relative to the middle; y points down. */
export type Turn = readonly [number, number, number, number];

export const UPRIGHT: Turn = [1, 0, 0, 1];

export interface View {
  readonly width: number; // of the pane, CSS pixels
  readonly height: number;
  readonly ratio: number;
  readonly columns: number;
  readonly rows: number;
  readonly aspect: readonly [number, number]; // vertical by horizontal size of a pixel (PS3.3 C.7.6.3.1.7)
  readonly zoom: number; // device pixels to a pixel of the matrix; of pixels that are not square, to the shorter side
  readonly x: number; // the place of the matrix that is in the middle of the pane
  readonly y: number;
  readonly turn: Turn;
}

/** CSS pixels to a column and to a row of the matrix, times `factor`. */
export function scales({ zoom, ratio, aspect: [vertical, horizontal] }: View, factor = 1): [number, number] {
  const square = (zoom / ratio) * factor;
  return [square * Math.max(1, horizontal / vertical), square * Math.max(1, vertical / horizontal)];
}

export function toScreen(view: View, [x, y]: readonly [number, number]): [number, number] {
  const [kx, ky] = scales(view);
  const [a, b, c, d] = view.turn;
  const [dx, dy] = [(x - view.x) * kx, (y - view.y) * ky];
  return [view.width / 2 + a * dx + b * dy, view.height / 2 + c * dx + d * dy];
}

/** The inverse of `toScreen`; a turn's inverse is its transpose. */
export function toMatrix(view: View, [x, y]: readonly [number, number]): [number, number] {
  const [kx, ky] = scales(view);
  const [a, b, c, d] = view.turn;
  const [dx, dy] = [x - view.width / 2, y - view.height / 2];
  return [view.x + (a * dx + c * dy) / kx, view.y + (b * dx + d * dy) / ky];
}

/** A box on screen as left, top, right, bottom. Turns are by quarters, so it stays upright. */
export function boxToScreen(view: View, [x0, y0, x1, y1]: Corners): Corners {
  return ordered(toScreen(view, [x0, y0]), toScreen(view, [x1, y1]));
}

/** The inverse of `boxToScreen`. */
export function boxToMatrix(view: View, [left, top, right, bottom]: Corners): Corners {
  return ordered(toMatrix(view, [left, top]), toMatrix(view, [right, bottom]));
}

export function ordered([ax, ay]: readonly [number, number], [bx, by]: readonly [number, number]): Corners {
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}

/** The zoom at which the whole image is in sight. */
export function fitZoom(view: View): number {
  const one = { ...view, zoom: view.ratio };
  const [kx, ky] = scales(one);
  const lying = view.turn[0] === 0;
  const [across, down] = lying ? [view.rows * ky, view.columns * kx] : [view.columns * kx, view.rows * ky];
  return view.ratio * Math.min(view.width / across, view.height / down);
}

export function fitted(view: View): View {
  return { ...view, zoom: fitZoom(view), x: view.columns / 2, y: view.rows / 2 };
}

export function zoomLimits(view: View): [number, number] {
  const fit = fitZoom(view);
  return [Math.min(fit, 1) * 0.5, Math.max(64, fit * 4)];
}

/** Another zoom; the place under `anchor` (CSS pixels, the middle without one) stays where it is. */
export function zoomed(view: View, zoom: number, anchor: readonly [number, number] = [view.width / 2, view.height / 2]): View {
  const [least, most] = zoomLimits(view);
  const next = { ...view, zoom: Math.min(most, Math.max(least, zoom)) };
  const [was, is] = [toMatrix(view, anchor), toMatrix(next, anchor)];
  return kept({ ...next, x: next.x + was[0] - is[0], y: next.y + was[1] - is[1] });
}

/** Moved by so many CSS pixels. */
export function panned(view: View, dx: number, dy: number): View {
  const [x, y] = toMatrix(view, [view.width / 2 - dx, view.height / 2 - dy]);
  return kept({ ...view, x, y });
}

/** Some of the image stays in sight. */
function kept(view: View): View {
  return { ...view, x: Math.min(view.columns, Math.max(0, view.x)), y: Math.min(view.rows, Math.max(0, view.y)) };
}

const times = ([a, b, c, d]: Turn, [e, f, g, h]: Turn): Turn => [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h].map((n) => n + 0) as unknown as Turn;

const QUARTER: Turn = [0, -1, 1, 0];
const SIDES: Turn = [-1, 0, 0, 1];

/** A quarter to the right, as one sees it. What was whole in sight stays so. */
export function turned(view: View): View {
  return refitted(view, { ...view, turn: times(QUARTER, view.turn) });
}

/** Mirrored left to right, as one sees it. */
export function mirrored(view: View): View {
  return { ...view, turn: times(SIDES, view.turn) };
}

export function upright(view: View): View {
  return refitted(view, { ...view, turn: UPRIGHT });
}

function refitted(before: View, after: View): View {
  return Math.abs(before.zoom / fitZoom(before) - 1) < 0.01 ? fitted(after) : after;
}

/** Another size of the pane: a fitted view stays fitted, any other keeps its middle and zoom. */
export function resized(view: View, width: number, height: number, ratio: number): View {
  const next = { ...view, width, height, ratio };
  return view.width < 2 || Math.abs(view.zoom / fitZoom(view) - 1) < 0.01 ? fitted(next) : next;
}
