// What can be done to a box: each gives the next state of the question's boxes.

import { grown, held, LEAST_SIDE, moved, otherSide, whereChanged, type Boxes, type History, type RoomBox, type Size } from "./boxes";
import type { Pane } from "./pane";
import { nextId } from "./question-boxes";
import type { View } from "./transform";
import type { Corners } from "./types";

const STEPS: Record<string, [number, number]> = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

interface Around {
  history: () => History;
  apply: (next: Boxes, tag?: string) => void;
  select: (id: number | null) => void;
}

export class BoxEdits {
  constructor(private readonly around: Around) {}

  add(radiograph: string, label: string, box: Corners): void {
    const id = nextId();
    this.around.apply([...this.now, { id, radiograph, label, box }]);
    this.around.select(id);
  }

  /** After a drag: moved as it was, or resized; both stay on the matrix. */
  place(id: number, box: Corners, resized: boolean, size: Size): void {
    const before = this.find(id);
    if (!before) return;
    const next = resized ? held(box, size) : moved(before.box, box[0] - before.box[0], box[1] - before.box[1], size);
    if (next[2] - next[0] < LEAST_SIDE || next[3] - next[1] < LEAST_SIDE) this.around.apply([...this.now]); // drawn anew as it was
    else this.change(id, { box: next });
  }

  relabel(id: number, label: string): void {
    if (this.find(id)?.label !== label) this.change(id, { label });
  }

  remove(id: number): void {
    this.around.apply(this.now.filter((box) => box.id !== id));
  }

  /** One step on screen is one pixel of the matrix, whichever way the image is turned. */
  nudge(id: number, direction: string, by: number, { turn: [a, b, c, d], rows, columns }: View): boolean {
    const before = this.find(id);
    const [dx, dy] = STEPS[direction] ?? [0, 0];
    if (!before || (dx === 0 && dy === 0)) return false;
    this.change(id, { box: moved(before.box, by * (a * dx + c * dy), by * (b * dx + d * dy), { rows, columns }) }, `nudge ${id}`);
    return true;
  }

  /** The right edge (arrows right, left) or the lower one (down, up), as one sees them, moved by so many pixels. */
  grow(id: number, arrow: string, by: number, { turn: [a, b, c, d], rows, columns }: View): boolean {
    const before = this.find(id);
    if (!before) return false;
    const edge: [number, number] = arrow === "right" || arrow === "left" ? [a, b] : [c, d];
    const box = grown(before.box, edge, arrow === "right" || arrow === "down" ? by : -by, { rows, columns });
    if (box) this.change(id, { box }, `size ${id}`);
    return true;
  }

  copyToOtherSide(id: number, pane: Pane): void {
    const before = this.find(id);
    if (!before || pane.radiograph.id !== before.radiograph) return;
    const [row = "", column = ""] = pane.picture?.facts.orientation ?? [];
    const lying = !/[LR]/.test(row) && /[LR]/.test(column);
    const copy = otherSide(before.box, before.label, pane.view, lying);
    this.add(before.radiograph, copy.label, copy.box);
  }

  /** The radiograph that a step of the history changed; undefined when there was none to take. */
  step(direction: "undo" | "redo"): string | null | undefined {
    const history = this.around.history();
    const before = history.now;
    return history[direction]() ? whereChanged(before, history.now) : undefined;
  }

  private get now(): Boxes {
    return this.around.history().now;
  }

  private find(id: number): RoomBox | undefined {
    return this.now.find((box) => box.id === id);
  }

  private change(id: number, what: Partial<RoomBox>, tag = ""): void {
    this.around.apply(
      this.now.map((box) => (box.id === id ? { ...box, ...what } : box)),
      tag,
    );
  }
}
