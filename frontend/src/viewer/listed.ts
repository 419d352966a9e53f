// The boxes as the judging form lists them beside the image, and as a screen reader is told of them.

import type { RoomBox } from "./boxes";
import type { Pane } from "./pane";

/** A box in the list; place and size in whole pixels of the matrix. */
export interface Listed {
  view: Pane;
  index: number;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
  machine: boolean;
  chosen: boolean;
}

/** The boxes of one radiograph, in the order that they were drawn in. */
export function listed(view: Pane, boxes: readonly RoomBox[], isMachines: (box: RoomBox) => boolean, selected: number | null): Listed[] {
  return boxes.map((box, index) => {
    const [x0, y0, x1, y1] = box.box;
    const place = { x: Math.round(x0), y: Math.round(y0), width: Math.round(x1 - x0), height: Math.round(y1 - y0) };
    return { view, index, label: box.label, ...place, machine: isMachines(box), chosen: box.id === selected };
  });
}
