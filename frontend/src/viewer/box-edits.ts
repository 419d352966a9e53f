// Edits of a box. Each edit creates the next state of the question's boxes.

import { resizeEdge, clampBox, MIN_SIDE, moveBox, mirrorBox, findChangedRadiograph, type Boxes, type BoxHistory, type ViewerBox, type MatrixSize } from "./boxes";
import type { Pane } from "./pane";
import { nextId } from "./question-boxes";
import type { View } from "./transform";
import type { Corners } from "./types";

const STEPS: Record<string, [number, number]> = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

interface EditContext {
  history: () => BoxHistory;
  /** Consecutive edits with the same `undoGroup` are undone together. */
  apply: (next: Boxes, undoGroup?: string) => void;
  select: (id: number | null) => void;
}

export class BoxEdits {
  constructor(private readonly context: EditContext) {}

  /** Returns the id of the new box. */
  add(radiograph: string, label: string, box: Corners): number {
    const id = nextId();
    this.context.apply([...this.current, { id, radiograph, label, box }], `add ${id}`);
    this.context.select(id);
    return id;
  }

  /** Applies a drag: moves or resizes the box and keeps it inside the matrix. */
  moveOrResize(id: number, box: Corners, resized: boolean, size: MatrixSize): void {
    const before = this.find(id);
    if (!before) return;
    const next = resized ? clampBox(box, size) : moveBox(before.box, box[0] - before.box[0], box[1] - before.box[1], size);
    if (next[2] - next[0] < MIN_SIDE || next[3] - next[1] < MIN_SIDE) this.context.apply([...this.current]); // redraw unchanged
    else this.update(id, { box: next });
  }

  relabel(id: number, label: string): void {
    if (this.find(id)?.label !== label) this.update(id, { label }, `add ${id}`); // undone together with drawing the box
  }

  remove(id: number): void {
    this.context.apply(this.current.filter((box) => box.id !== id));
  }

  /** Move by pixels of the matrix, in the direction on screen. */
  nudge(id: number, direction: string, distance: number, { orientation: [a, b, c, d], rows, columns }: View): boolean {
    const before = this.find(id);
    const [dx, dy] = STEPS[direction] ?? [0, 0];
    if (!before || (dx === 0 && dy === 0)) return false;
    this.update(id, { box: moveBox(before.box, distance * (a * dx + c * dy), distance * (b * dx + d * dy), { rows, columns }) }, `nudge ${id}`);
    return true;
  }

  /** Moves the right edge (left and right arrows) or the bottom edge (up and down), as displayed, by `distance` matrix pixels. */
  moveEdge(id: number, arrow: string, distance: number, { orientation: [a, b, c, d], rows, columns }: View): boolean {
    const before = this.find(id);
    if (!before) return false;
    const edge: [number, number] = arrow === "right" || arrow === "left" ? [a, b] : [c, d];
    const box = resizeEdge(before.box, edge, arrow === "right" || arrow === "down" ? distance : -distance, { rows, columns });
    if (box) this.update(id, { box }, `size ${id}`);
    return true;
  }

  copyToOtherSide(id: number, pane: Pane): void {
    const before = this.find(id);
    if (!before || pane.radiograph.id !== before.radiograph) return;
    const [row = "", column = ""] = pane.picture?.metadata.orientation ?? [];
    const isSideways = !/[LR]/.test(row) && /[LR]/.test(column);
    const copy = mirrorBox(before.box, before.label, pane.view, isSideways);
    this.add(before.radiograph, copy.label, copy.box);
  }

  /** Undoes or redoes one step. Returns the radiograph of the first changed box; null if no box changed, undefined if there is no step. */
  stepHistory(direction: "undo" | "redo"): string | null | undefined {
    const history = this.context.history();
    const before = history.current;
    return history[direction]() ? findChangedRadiograph(before, history.current) : undefined;
  }

  private get current(): Boxes {
    return this.context.history().current;
  }

  private find(id: number): ViewerBox | undefined {
    return this.current.find((box) => box.id === id);
  }

  private update(id: number, changes: Partial<ViewerBox>, undoGroup = ""): void {
    this.context.apply(
      this.current.map((box) => (box.id === id ? { ...box, ...changes } : box)),
      undoGroup,
    );
  }
}
