// The boxes of one question with their history. Pure: states are never changed, only replaced.

import type { Corners } from "./types";

export interface ViewerBox {
  readonly id: number;
  readonly radiograph: string;
  readonly label: string;
  readonly box: Corners;
}

export type Boxes = readonly ViewerBox[];

export interface MatrixSize {
  rows: number;
  columns: number;
}

/** The least width and height of a box, in pixels of the matrix. Smaller ones are accidental clicks. */
export const MIN_SIDE = 2;

const round = (value: number): number => Math.round(value * 100) / 100;

/** Clamp to the matrix, order the corners, and round to hundredths of a pixel. */
export function clampBox([x0, y0, x1, y1]: Corners, { rows, columns }: MatrixSize): Corners {
  const clamp = (value: number, max: number): number => round(Math.min(Math.max(value, 0), max));
  return [clamp(Math.min(x0, x1), columns), clamp(Math.min(y0, y1), rows), clamp(Math.max(x0, x1), columns), clamp(Math.max(y0, y1), rows)];
}

/** Move a box as far as the matrix allows. Its size stays. */
export function moveBox([x0, y0, x1, y1]: Corners, dx: number, dy: number, { rows, columns }: MatrixSize): Corners {
  const x = Math.min(Math.max(dx, -x0), columns - x1);
  const y = Math.min(Math.max(dy, -y0), rows - y1);
  return [round(x0 + x), round(y0 + y), round(x1 + x), round(y1 + y)];
}

/** Moves the edge in `direction` (along x or y) outwards by `amount`; null if no box is left or nothing changes. */
export function resizeEdge(box: Corners, [x, y]: readonly [number, number], amount: number, size: MatrixSize): Corners | null {
  const [x0, y0, x1, y1] = box;
  const resized: Corners = [x < 0 ? x0 - amount : x0, y < 0 ? y0 - amount : y0, x > 0 ? x1 + amount : x1, y > 0 ? y1 + amount : y1];
  if (resized[2] - resized[0] < MIN_SIDE || resized[3] - resized[1] < MIN_SIDE) return null;
  const next = clampBox(resized, size);
  return next.some((value, index) => value !== box[index]) ? next : null;
}

/** Mirror a box about the middle of the image, and exchange left and right in its label. */
export function mirrorBox(box: Corners, label: string, { rows, columns }: MatrixSize, isSideways: boolean): { box: Corners; label: string } {
  const [x0, y0, x1, y1] = box;
  const opposites: Record<string, string> = { left: "right", right: "left", Left: "Right", Right: "Left" };
  return {
    box: isSideways ? [x0, round(rows - y1), x1, round(rows - y0)] : [round(columns - x1), y0, round(columns - x0), y1],
    label: label.replace(/\b(left|right)\b/gi, (word) => opposites[word] ?? word),
  };
}

/** Whether a box equals one of the original boxes. Coordinates may differ by the server's rounding. */
export function includesBox(box: { radiograph: string; label: string; box: Corners }, originals: readonly { radiograph: string; label: string; box: Corners }[]): boolean {
  return originals.some((other) => other.radiograph === box.radiograph && other.label === box.label && other.box.every((value, index) => Math.abs(value - box.box[index]!) <= 0.02));
}

/** The current boxes, with the earlier and later states for undo and redo, which have no limit. */
export class BoxHistory {
  private past: Boxes[] = [];
  private future: Boxes[] = [];
  private lastUndoGroup = "";

  constructor(public current: Boxes = []) {}

  /** Set a new state. Consecutive states of the same `undoGroup` (nudges of one box) are undone together. */
  apply(next: Boxes, undoGroup = ""): void {
    if (next === this.current) return;
    if (!undoGroup || undoGroup !== this.lastUndoGroup) this.past.push(this.current);
    this.lastUndoGroup = undoGroup;
    this.future = [];
    this.current = next;
  }

  /** Close the undo group: the next state with the same undoGroup starts a new step. */
  closeGroup(): void {
    this.lastUndoGroup = "";
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
    this.future.push(this.current);
    this.current = before;
    this.lastUndoGroup = "";
    return true;
  }

  redo(): boolean {
    const after = this.future.pop();
    if (!after) return false;
    this.past.push(this.current);
    this.current = after;
    this.lastUndoGroup = "";
    return true;
  }
}

/** The radiograph of the first box that differs between two states. */
export function findChangedRadiograph(before: Boxes, after: Boxes): string | null {
  const findBoxNotIn = (boxes: Boxes, otherBoxes: Boxes): ViewerBox | undefined => boxes.find((box) => !otherBoxes.includes(box));
  return (findBoxNotIn(after, before) ?? findBoxNotIn(before, after))?.radiograph ?? null;
}
