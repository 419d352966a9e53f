// The boxes of a pane, for the form's box list and for screen readers.

import type { ViewerBox } from "./boxes";
import type { Pane } from "./pane";

/** A box in the list; position and size in whole pixels of the matrix. */
export interface PaneBox {
  view: Pane;
  index: number;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
  isOriginal: boolean;
  selected: boolean;
}

/** The boxes of one radiograph, in drawing order. */
export function listPaneBoxes(pane: Pane, boxes: readonly ViewerBox[], isOriginalBox: (box: ViewerBox) => boolean, selectedId: number | null): PaneBox[] {
  return boxes.map((box, index) => {
    return { view: pane, index, ...measureBox(box), isOriginal: isOriginalBox(box), selected: box.id === selectedId };
  });
}

/** The label, upper left corner and size of a box, in whole pixels. */
export function measureBox({ label, box: [x0, y0, x1, y1] }: ViewerBox): Pick<PaneBox, "label" | "x" | "y" | "width" | "height"> {
  return { label, x: Math.round(x0), y: Math.round(y0), width: Math.round(x1 - x0), height: Math.round(y1 - y0) };
}
