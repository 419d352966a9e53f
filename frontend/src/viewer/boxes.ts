// The boxes of one question with their history. Pure: states are never changed, only replaced.

import type { Corners } from "./types";

export interface RoomBox {
  readonly id: number;
  readonly radiograph: string;
  readonly label: string;
  readonly box: Corners;
}

export type Boxes = readonly RoomBox[];

export interface Size {
  rows: number;
  columns: number;
}

/** Nothing thinner than this is a box: it is what a click or a twitch leaves behind (pixels of the matrix). */
export const LEAST_SIDE = 2;

const round = (value: number): number => Math.round(value * 100) / 100;

/** Held on the matrix, corners in order, in hundredths of a pixel. */
export function held([x0, y0, x1, y1]: Corners, { rows, columns }: Size): Corners {
  const inside = (value: number, most: number): number => round(Math.min(Math.max(value, 0), most));
  return [inside(Math.min(x0, x1), columns), inside(Math.min(y0, y1), rows), inside(Math.max(x0, x1), columns), inside(Math.max(y0, y1), rows)];
}

/** Moved as far as the matrix allows; its size stays. */
export function moved([x0, y0, x1, y1]: Corners, dx: number, dy: number, { rows, columns }: Size): Corners {
  const x = Math.min(Math.max(dx, -x0), columns - x1);
  const y = Math.min(Math.max(dy, -y0), rows - y1);
  return [round(x0 + x), round(y0 + y), round(x1 + x), round(y1 + y)];
}

/** The edge that lies in `direction` (along x or along y) moved outwards by `amount`; null where no box is left, or nothing changes. */
export function grown(box: Corners, [x, y]: readonly [number, number], amount: number, size: Size): Corners | null {
  const [x0, y0, x1, y1] = box;
  const wanted: Corners = [x < 0 ? x0 - amount : x0, y < 0 ? y0 - amount : y0, x > 0 ? x1 + amount : x1, y > 0 ? y1 + amount : y1];
  if (wanted[2] - wanted[0] < LEAST_SIDE || wanted[3] - wanted[1] < LEAST_SIDE) return null;
  const next = held(wanted, size);
  return next.some((value, at) => value !== box[at]) ? next : null;
}

/** On the other side of the patient: mirrored about the middle of the image, left and right exchanged in the label. */
export function otherSide(box: Corners, label: string, { rows, columns }: Size, lying: boolean): { box: Corners; label: string } {
  const [x0, y0, x1, y1] = box;
  const words: Record<string, string> = { left: "right", right: "left", Left: "Right", Right: "Left" };
  return {
    box: lying ? [x0, round(rows - y1), x1, round(rows - y0)] : [round(columns - x1), y0, round(columns - x0), y1],
    label: label.replace(/\b(left|right)\b/gi, (word) => words[word] ?? word),
  };
}

/** Whether a box is one of the machine's, as it was: what the server stored may differ by its rounding. */
export function isOneOf(box: { radiograph: string; label: string; box: Corners }, machine: readonly { radiograph: string; label: string; box: Corners }[]): boolean {
  return machine.some((other) => other.radiograph === box.radiograph && other.label === box.label && other.box.every((value, at) => Math.abs(value - box.box[at]!) <= 0.02));
}

/** Boxes now, before and after; undo and redo have no limit. */
export class History {
  private past: Boxes[] = [];
  private future: Boxes[] = [];
  private lastTag = "";

  constructor(public now: Boxes = []) {}

  /** A new state. Steps of the same `tag` in a row (nudges of one box) are undone together. */
  apply(next: Boxes, tag = ""): void {
    if (next === this.now) return;
    if (!tag || tag !== this.lastTag) this.past.push(this.now);
    this.lastTag = tag;
    this.future = [];
    this.now = next;
  }

  /** A further step of the last tag begins a step of its own. */
  close(): void {
    this.lastTag = "";
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  undo(): boolean {
    const before = this.past.pop();
    if (!before) return false;
    this.future.push(this.now);
    this.now = before;
    this.lastTag = "";
    return true;
  }

  redo(): boolean {
    const after = this.future.pop();
    if (!after) return false;
    this.past.push(this.now);
    this.now = after;
    this.lastTag = "";
    return true;
  }
}

/** What differs between two states: the radiograph of the first box that does. */
export function whereChanged(before: Boxes, after: Boxes): string | null {
  const differs = (some: Boxes, others: Boxes): RoomBox | undefined => some.find((box) => !others.includes(box));
  return (differs(after, before) ?? differs(before, after))?.radiograph ?? null;
}
