// What the pointer does between pressing and letting go.

import { held, LEAST_SIDE } from "./boxes";
import type { Pane } from "./pane";
import { boxToScreen, ordered, panned, toMatrix } from "./transform";
import type { Corners } from "./types";
import { asWindow, fullRange, histogram, percentileWindow } from "./windows";

export type Tool = "boxes" | "window" | "pan" | "region" | "ruler";

export interface Drag {
  move: (event: PointerEvent) => void;
  /** Gives what was drawn, if it was to be drawn. */
  up: (event: PointerEvent) => Corners | null;
  cancel: () => void;
}

const nothing = (): null => null;

/** To the right wider, upwards brighter: a step is a share of the window, so that fine windows can be set finely. */
export function windowDrag(pane: Pane, event: PointerEvent, moved: () => void): Drag {
  const { picture, voi } = pane;
  if (!picture || !voi) return { move: nothing, up: nothing, cancel: nothing };
  const range = fullRange(picture.facts, picture.values);
  const begin = asWindow(voi, range);
  const step = Math.max(begin.width, range.width / 50) / 400;
  const darker = picture.facts.inverted === pane.invert ? 1 : -1; // an inverted image is brighter where values are low
  const [x, y] = [event.clientX, event.clientY];
  pane.setBusy(true);
  return {
    move: ({ clientX, clientY }) => {
      const width = Math.max(1, range.width / 1000, begin.width + (clientX - x) * step * 2);
      pane.setVoi({ name: "", function: begin.function, width, center: begin.center + (clientY - y) * step * darker });
      moved();
    },
    up: () => {
      pane.setBusy(false);
      return null;
    },
    cancel: () => {
      pane.setBusy(false);
      pane.setVoi(voi);
    },
  };
}

export function panDrag(pane: Pane, event: PointerEvent, moved: () => void): Drag {
  const before = pane.view;
  let [x, y] = [event.clientX, event.clientY];
  pane.setBusy(true);
  return {
    move: ({ clientX, clientY }) => {
      pane.setView(panned(pane.view, clientX - x, clientY - y));
      [x, y] = [clientX, clientY];
      moved();
    },
    up: () => {
      pane.setBusy(false);
      return null;
    },
    cancel: () => {
      pane.setBusy(false);
      pane.setView(before);
    },
  };
}

/** A rectangle: a new box, or with `dashed` a region that is only asked about. Gives its corners in the matrix. */
export function rectangleDrag(pane: Pane, event: PointerEvent, dashed: boolean): Drag {
  const { rows, columns } = pane.view;
  const begin = toMatrix(pane.view, pane.place(event));
  let drawn: Corners | null = null;
  const move = (now: PointerEvent): void => {
    const end = toMatrix(pane.view, pane.place(now)); // the wheel may zoom meanwhile
    drawn = held(ordered(begin, end), { rows, columns });
    pane.layer.showGhost(boxToScreen(pane.view, drawn), dashed);
  };
  return {
    move,
    up: (now) => {
      move(now);
      pane.layer.showGhost(null);
      if (!drawn) return null;
      const [left, top, right, bottom] = boxToScreen(pane.view, drawn);
      const isClick = right - left < 4 && bottom - top < 4;
      const isThin = drawn[2] - drawn[0] < LEAST_SIDE || drawn[3] - drawn[1] < LEAST_SIDE;
      return isClick || isThin ? null : drawn;
    },
    cancel: () => pane.layer.showGhost(null),
  };
}

export function rulerDrag(pane: Pane, event: PointerEvent): Drag {
  const begin = toMatrix(pane.view, pane.place(event));
  pane.setRuler(null);
  return {
    move: (now) => pane.setRuler([begin, toMatrix(pane.view, pane.place(now))]),
    up: nothing,
    cancel: () => pane.setRuler(null),
  };
}

/** The window that shows a region best: between its 1st and 99th percentile. */
export function showRegion(pane: Pane, region: Corners): void {
  if (!pane.picture) return;
  const { facts, levels, values } = pane.picture;
  pane.setVoi(percentileWindow(histogram(levels[0].matrix, facts, region), values, 1, 99, "Region"));
}
