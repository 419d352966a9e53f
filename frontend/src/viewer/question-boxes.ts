// The boxes of one question on all its radiographs: the original ones, the current ones, and their history.

import { BoxHistory, includesBox, type ViewerBox } from "./boxes";
import type { DrawnBox } from "../shared/api";
import type { PlainBox, Radiograph } from "./types";

let lastId = 0;

/** A number that no other box of this page has. */
export const nextId = (): number => (lastId += 1);

export class QuestionBoxes {
  readonly history: BoxHistory;
  readonly originalBoxes: readonly ViewerBox[];
  /** Whether the boxes may differ from the original boxes. */
  mayDiffer: boolean;
  private readonly idsWithPixels: string[];

  constructor(radiographs: readonly Radiograph[]) {
    const createBoxes = (plainBoxes: PlainBox[] | undefined, radiograph: string): ViewerBox[] => (plainBoxes ?? []).map(({ label, box }) => ({ id: nextId(), radiograph, label, box }));
    this.originalBoxes = radiographs.flatMap((radiograph) => createBoxes(radiograph.originalBoxes, radiograph.id));
    this.history = new BoxHistory(radiographs.flatMap((radiograph) => createBoxes(radiograph.boxes, radiograph.id)));
    this.mayDiffer = radiographs.some((radiograph) => radiograph.boxesMayDiffer);
    this.idsWithPixels = radiographs.filter((radiograph) => radiograph.rows && radiograph.columns).map((radiograph) => radiograph.id);
  }

  /** The boxes on one radiograph, in drawing order. */
  listBoxesOn(radiograph: string): ViewerBox[] {
    return this.history.current.filter((box) => box.radiograph === radiograph);
  }

  find(id: number | null): ViewerBox | undefined {
    return this.history.current.find((box) => box.id === id);
  }

  readonly isOriginalBox = (box: ViewerBox): boolean => includesBox(box, this.originalBoxes);

  /** The original boxes that were changed or removed. */
  listRemovedOriginalBoxes(): readonly ViewerBox[] {
    return this.originalBoxes.filter((box) => !includesBox(box, this.history.current));
  }

  /** All boxes by radiograph; null if none may differ from the original boxes. Radiographs without pixels are left out. */
  toDrawings(): Record<string, DrawnBox[]> | null {
    if (!this.mayDiffer) return null;
    return Object.fromEntries(this.idsWithPixels.map((id) => [id, this.listBoxesOn(id).map(({ label, box }) => ({ type: "Box" as const, label, box }))]));
  }
}
