// The drags of the pointer tools.

import { clampBox, MIN_SIDE } from "./boxes";
import { addLine, findLineStart, moveEnd, type MeasurementKind } from "./measurements";
import type { Pane } from "./pane";
import { boxToScreen, toCorners, panView, toMatrix } from "./transform";
import type { Corners } from "./types";
import { toWindow, createFullRangeWindow, computeHistogram, createPercentileWindow } from "./windows";

export type Tool = "boxes" | "window" | "pan" | "region" | MeasurementKind;

export interface Drag {
  move: (event: PointerEvent) => void;
  /** Finish the drag. Returns the corners of the drawn rectangle, if any. */
  finish: (event: PointerEvent) => Corners | null;
  cancel: () => void;
}

const doNothing = (): null => null;

/** Dragging right widens the window, dragging up brightens the image. A step is a share of the window, so that narrow windows can be set precisely. */
export function createWindowDrag(pane: Pane, event: PointerEvent, onMove: () => void): Drag {
  const { picture, voi } = pane;
  if (!picture || !voi) return { move: doNothing, finish: doNothing, cancel: doNothing };
  const range = createFullRangeWindow(picture.metadata, picture.values);
  const start = toWindow(voi, range);
  const step = Math.max(start.width, range.width / 50) / 400;
  const direction = picture.metadata.inverted === pane.invert ? 1 : -1; // an inverted image is brighter where values are low
  const [x, y] = [event.clientX, event.clientY];
  pane.setBusy(true);
  return {
    move: ({ clientX, clientY }) => {
      const width = Math.max(1, range.width / 1000, start.width + (clientX - x) * step * 2);
      pane.setVoi({ name: "", function: start.function, width, center: start.center + (clientY - y) * step * direction });
      onMove();
    },
    finish: () => {
      pane.setBusy(false);
      return null;
    },
    cancel: () => {
      pane.setBusy(false);
      pane.setVoi(voi);
    },
  };
}

export function createPanDrag(pane: Pane, event: PointerEvent, onMove: () => void): Drag {
  const before = pane.view;
  let [x, y] = [event.clientX, event.clientY];
  pane.setBusy(true);
  return {
    move: ({ clientX, clientY }) => {
      pane.setView(panView(pane.view, clientX - x, clientY - y));
      [x, y] = [clientX, clientY];
      onMove();
    },
    finish: () => {
      pane.setBusy(false);
      return null;
    },
    cancel: () => {
      pane.setBusy(false);
      pane.setView(before);
    },
  };
}

/** A rectangle: a new box, or a dashed region. The result is its corners in the matrix. */
export function createRectangleDrag(pane: Pane, event: PointerEvent, isDashed: boolean): Drag {
  const { rows, columns } = pane.view;
  const start = toMatrix(pane.view, pane.findPosition(event));
  let corners: Corners | null = null;
  const move = (moveEvent: PointerEvent): void => {
    const end = toMatrix(pane.view, pane.findPosition(moveEvent)); // the wheel may zoom meanwhile
    corners = clampBox(toCorners(start, end), { rows, columns });
    pane.layer.showPreview(boxToScreen(pane.view, corners), isDashed);
  };
  return {
    move,
    finish: (moveEvent) => {
      move(moveEvent);
      pane.layer.showPreview(null);
      if (!corners) return null;
      const [left, top, right, bottom] = boxToScreen(pane.view, corners);
      const isClick = right - left < 4 && bottom - top < 4;
      const isThin = corners[2] - corners[0] < MIN_SIDE || corners[3] - corners[1] < MIN_SIDE;
      return isClick || isThin ? null : corners;
    },
    cancel: () => pane.layer.showPreview(null),
  };
}

/** Draws a new line of a measurement, or moves an end of an existing line. */
export function createMeasurementDrag(pane: Pane, event: PointerEvent, kind: MeasurementKind): Drag {
  const before = pane.measurement;
  const position = pane.findPosition(event);
  const grabbedEnd = before?.kind === kind ? pane.findMeasuredEnd(position) : null;
  const isNextLeg = before?.kind === "angle" && before.lines.length === 1;
  const start = findLineStart(before, kind, toMatrix(pane.view, position));
  return {
    move: (moveEvent) => {
      const end = toMatrix(pane.view, pane.findPosition(moveEvent));
      pane.setMeasurement(before && grabbedEnd && !isNextLeg ? moveEnd(before, grabbedEnd.lineIndex, grabbedEnd.endIndex, end) : addLine(before, kind, [start, end]));
    },
    finish: doNothing,
    cancel: () => pane.setMeasurement(before),
  };
}

/** Set the window between the 1st and the 99th percentile of a region. */
export function setRegionWindow(pane: Pane, region: Corners): void {
  if (!pane.picture) return;
  const { metadata, levels, values } = pane.picture;
  pane.setVoi(createPercentileWindow(computeHistogram(levels[0].matrix, metadata, region), values, 1, 99, "Region"));
}
