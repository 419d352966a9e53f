// The boxes of one question on all its radiographs: the machine's, those that are there now, and their history.

import { History, isOneOf, type RoomBox } from "./boxes";
import type { DrawnBox } from "../shared/api";
import type { PlainBox, Radiograph } from "./types";

let lastId = 0;

/** A number that no other box of this page has. */
export const nextId = (): number => (lastId += 1);

export class QuestionBoxes {
  readonly history: History;
  readonly machine: readonly RoomBox[];
  /** Whether what is there may not be what the machine drew. */
  touched: boolean;
  private readonly sized: string[];

  constructor(radiographs: readonly Radiograph[]) {
    const boxes = (plain: PlainBox[] | undefined, radiograph: string): RoomBox[] => (plain ?? []).map(({ label, box }) => ({ id: nextId(), radiograph, label, box }));
    this.machine = radiographs.flatMap((each) => boxes(each.machineBoxes, each.id));
    this.history = new History(radiographs.flatMap((each) => boxes(each.boxes, each.id)));
    this.touched = radiographs.some((each) => each.touched);
    this.sized = radiographs.filter((each) => each.rows && each.columns).map((each) => each.id);
  }

  /** Those on one radiograph, in the order that they were drawn in. */
  on(radiograph: string): RoomBox[] {
    return this.history.now.filter((box) => box.radiograph === radiograph);
  }

  find(id: number | null): RoomBox | undefined {
    return this.history.now.find((box) => box.id === id);
  }

  readonly isMachines = (box: RoomBox): boolean => isOneOf(box, this.machine);

  /** The machine's boxes that are no longer there as they were. */
  gone(): readonly RoomBox[] {
    return this.machine.filter((box) => !isOneOf(box, this.history.now));
  }

  /** All of them by radiograph; null when none was touched. A radiograph without pixels has no place for boxes. */
  drawn(): Record<string, DrawnBox[]> | null {
    if (!this.touched) return null;
    return Object.fromEntries(this.sized.map((id) => [id, this.on(id).map(({ label, box }) => ({ type: "Box" as const, label, box }))]));
  }
}
