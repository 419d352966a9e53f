// The viewer as the judging form has it: the radiographs of an exam with the boxes of a question.
//
// It offers what the plain editor offers (shared/plain-editor.ts), so a form need not know which it has.

import type { Boxes, RoomBox } from "./boxes";
import { carryOut } from "./commands";
import { h, isTyping, listen } from "../shared/dom";
import { BoxEdits } from "./edits";
import { rulerNote } from "./facts";
import { isFull, onFull, toggleFull } from "./fullscreen";
import { Hand } from "./hand";
import { controlAction, firstAction, isHeldOn, laterAction, SHEET } from "./keys";
import { openLabelField } from "./label-field";
import { listed, type Listed } from "./listed";
import type { DrawnBox } from "../shared/api";
import type { ImageViewer, ViewerEvents } from "../shared/viewer";
import type { Pane } from "./pane";
import { fetchNow, forget, hasPixels, prefetch, type Addresses } from "./pixels";
import { QuestionBoxes } from "./question-boxes";
import { sentence, Spoken } from "./spoken";
import style from "./style.css";
import { Toolbar } from "./toolbar";
import type { Corners, ExamOnScreen, ImageState } from "./types";
import { Wall } from "./wall";

const CAPTURE = { capture: true };

export class ReadingRoom implements ImageViewer {
  // The form asks these to know which of its own parts are not needed.
  readonly sheet = SHEET;
  readonly hasControls = true;
  readonly fetchesAhead = true;
  readonly draftAfter = 60; // milliseconds; an edit is finished when it is told

  readonly root: HTMLElement;
  readonly hand: Hand;
  readonly edits: BoxEdits;
  readonly wall: Wall;
  selected: number | null = null;
  label = "";
  private readonly toolbar = new Toolbar((id) => this.act(id), (at) => this.chooseWindow(at));
  private readonly spoken = new Spoken();
  private readonly ends: (() => void)[];
  private boxes = new QuestionBoxes([]);
  private locked = true;
  private upcoming: Addresses[] = [];

  constructor(private readonly told: ViewerEvents) {
    this.wall = new Wall({
      added: (pane) => this.hand.add(pane),
      gone: (pane) => this.hand.forget(pane),
      drawn: () => this.drawn(),
      loadEnded: () => this.told.imageStateChanged(),
      changed: () => this.paintControls(),
      layer: (pane) => ({ select: (id) => this.select(id), changed: (id, box, resized) => this.edits.place(id, box, resized, pane().view) }),
    });
    this.root = h("div", { class: "reading-room" }, h("style", {}, style), h("div", { class: "controls" }, this.wall.tabs, this.toolbar.root), this.wall.root, this.spoken.root);
    this.edits = new BoxEdits({ history: () => this.boxes.history, apply: (next, tag) => this.apply(next, tag), select: (id) => this.select(id) });
    this.hand = new Hand(this.root, {
      front: (pane) => pane !== this.front && this.bringForward(pane),
      moved: (pane) => this.wall.moved(pane),
      drew: (pane, box) => this.draw(pane, box),
      clicked: (_, box) => this.select(box),
      doubleClicked: (box) => this.editLabel(box),
      tabbed: (pane, back) => this.tabTo(pane, back),
      changed: () => this.paintControls(),
    });
    const keys = [listen(window, "keydown", (event) => this.controlKey(event), CAPTURE), listen(window, "keyup", (event) => this.keyUp(event), CAPTURE), listen(window, "blur", () => this.keysUp(), CAPTURE)];
    this.ends = [...keys, onFull(() => this.paintControls()), () => this.hand.end()];
  }

  // ------------------------------------------------------------ a question, and what is on its boxes

  show(data: ExamOnScreen): void {
    this.hand.cancel();
    this.locked = this.hand.locked = data.blind || !data.open || !data.asks.boxes;
    this.upcoming = data.upcoming ?? [];
    this.boxes = new QuestionBoxes(data.radiographs);
    this.selected = null;
    this.toolbar.build({ boxes: !this.locked, several: data.radiographs.length > 1 });
    this.hand.take("boxes");
    this.wall.hang(data.radiographs);
    this.showBoxes();
  }

  /** All boxes by radiograph, as the server takes them; null when none was touched. */
  drawings(): Record<string, DrawnBox[]> | null {
    return this.locked ? null : this.boxes.drawn();
  }

  /** Resolves when no box is in the middle of being drawn. */
  async settled(): Promise<void> {
    const until = performance.now() + 5000;
    while (this.hand.isDrawing && performance.now() < until) await new Promise((done) => setTimeout(done, 16));
    this.boxes.history.close();
  }

  list(): Listed[] {
    return this.order.flatMap((view) => listed(view, this.boxesOf(view), this.boxes.isMachines, this.selected));
  }

  /** Boxes that are not the machine's, and boxes of the machine's that are no longer there as they were. */
  changes(): { added: Listed[]; gone: { label: string }[] } {
    return { added: this.list().filter((box) => !box.machine), gone: this.boxes.gone().map(({ label }) => ({ label })) };
  }

  relabel({ view, index }: Listed, label: string): void {
    this.edits.relabel(this.boxesOf(view)[index]!.id, label);
  }

  remove({ view, index }: Listed): void {
    this.edits.remove(this.boxesOf(view)[index]!.id);
  }

  choose({ view, index }: Listed): void {
    if (view !== this.front) this.bringForward(view);
    this.select(this.boxesOf(view)[index]?.id ?? null);
  }

  reset(): void {
    this.apply(this.boxes.machine);
  }

  /** The label that the next box is drawn with. */
  setLabel(label: string): void {
    this.label = label;
  }

  /** The question is not the person's any more: nothing of its exam, or of the next one's, is to be seen. */
  withdrawn(): void {
    this.hand.cancel();
    this.locked = this.hand.locked = true;
    this.boxes = new QuestionBoxes([]);
    this.selected = null;
    this.wall.clear();
    forget();
    this.paintControls();
  }

  end(): void {
    for (const end of this.ends) end();
    this.wall.end();
  }

  // ------------------------------------------------------------ boxes

  select(id: number | null): void {
    if (id === this.selected) return;
    this.selected = id;
    const pane = this.paneWith(id);
    if (pane && pane !== this.front) this.bringForward(pane);
    this.showBoxes();
  }

  draw(pane: Pane, box: Corners): void {
    if (!this.locked) this.edits.add(pane.radiograph.id, this.label, box);
  }

  step(direction: "undo" | "redo"): void {
    if (this.locked) return;
    const changed = this.edits.step(direction);
    if (changed === undefined) return;
    const pane = this.wall.of(changed ?? undefined);
    if (pane && pane !== this.front) this.bringForward(pane);
    this.afterEdit();
  }

  editLabel(id: number): void {
    const [pane, box] = [this.paneWith(id), this.boxes.find(id)];
    const at = pane?.layer.labelPlace(id);
    if (!this.locked && pane && box && at) openLabelField(pane, box.label, at, (label) => this.edits.relabel(id, label));
  }

  setHidden(on: boolean): void {
    for (const pane of this.order) pane.layer.setVisible(!on);
  }

  private boxesOf(pane: Pane): RoomBox[] {
    return this.boxes.on(pane.radiograph.id);
  }

  private paneWith(id: number | null): Pane | undefined {
    return this.wall.of(this.boxes.find(id)?.radiograph);
  }

  private apply(next: Boxes, tag = ""): void {
    if (this.locked) return;
    this.boxes.history.apply(next, tag);
    this.afterEdit();
  }

  private afterEdit(): void {
    this.boxes.touched = true;
    if (!this.boxes.find(this.selected)) this.selected = null;
    this.showBoxes();
    this.told.changed();
  }

  private showBoxes(): void {
    for (const pane of this.order) pane.layer.show({ boxes: this.boxesOf(pane), isMachines: this.boxes.isMachines, selected: this.selected, locked: this.locked });
    this.paintControls();
    this.told.chosen();
    this.spoken.say(sentence(this.list()));
  }

  /** The next box of the pane; false past the last, so that Tab goes on to the next control. */
  private tabTo(pane: Pane, back: boolean): boolean {
    const boxes = this.boxesOf(pane);
    const at = boxes.findIndex((box) => box.id === this.selected);
    const next = at < 0 ? (back ? boxes.length - 1 : 0) : at + (back ? -1 : 1);
    this.select(boxes[next]?.id ?? null);
    return next >= 0 && next < boxes.length;
  }

  // ------------------------------------------------------------ radiographs

  get front(): Pane | null {
    return this.wall.front;
  }

  get order(): Pane[] {
    return this.wall.order;
  }

  /** Whether the radiographs of the question are on screen. */
  get imageState(): ImageState {
    return this.wall.imageState;
  }

  /** Load again what could not be loaded. */
  reload(): void {
    this.wall.reload();
  }

  next(): void {
    this.wall.next();
  }

  leaving = (): void => fetchNow(this.upcoming); // the form asks for the next question

  bringForward(pane: Pane): void {
    this.wall.bringForward(pane);
  }

  fit(): void {
    this.wall.fit();
  }

  chooseWindow(at: number): void {
    const pane = this.front;
    const voi = pane?.presets[at];
    if (!pane || !voi) return;
    pane.setVoi(voi);
    this.wall.moved(pane);
  }

  private drawn(): void {
    this.told.drawn();
    this.told.imageStateChanged();
    const others = this.order.map(({ radiograph }) => radiograph).filter(hasPixels);
    void prefetch([...others, ...this.upcoming]);
  }

  // ------------------------------------------------------------ keys and controls

  /** `first`: before the form's own keys; else what is left over. Says whether the key was taken. */
  key(event: KeyboardEvent, first: boolean): boolean {
    const action = first ? firstAction(event, this.selected !== null && !this.locked) : laterAction(event);
    if (!action) return false;
    if (action === "label" && event.composedPath()[0] instanceof HTMLButtonElement) return false; // Enter presses it
    if (event.repeat && !isHeldOn(action)) return true;
    return this.act(action, event);
  }

  fullScreen(): void {
    toggleFull(this.root);
  }

  private act(action: string, event?: KeyboardEvent): boolean {
    const isDone = carryOut(this, action, event);
    if (isDone) this.paintControls();
    return isDone;
  }

  private controlKey(event: KeyboardEvent): void {
    const action = isTyping(event) ? null : controlAction(event);
    if (!action || !this.root.isConnected || this.locked || (this.selected === null && action.startsWith("size-"))) return;
    event.preventDefault();
    event.stopPropagation();
    this.act(action, event);
  }

  private keyUp(event: KeyboardEvent): void {
    if (event.key === " ") this.hand.setSpace(false);
    if (event.key.toLowerCase() === "d") this.setHidden(false);
    if (event.key.startsWith("Arrow")) this.boxes.history.close();
  }

  private keysUp(): void {
    this.hand.setSpace(false);
    this.setHidden(false);
  }

  private paintControls(): void {
    const { front: pane, together, linked, magnify } = this.wall;
    const { history } = this.boxes;
    const isOn = { [this.hand.tool]: true, magnify, together, link: linked, invert: pane?.invert, full: isFull(this.root) };
    const isOff = { undo: !history.canUndo, redo: !history.canRedo, remove: this.selected === null, other: this.selected === null, link: !together };
    const names = (of: Record<string, unknown>): Set<string> => new Set(Object.keys(of).filter((name) => of[name]));
    const note = pane?.picture ? rulerNote(pane.picture.facts) : "";
    this.toolbar.paint({ pressed: names(isOn), disabled: names(isOff), presets: pane?.presets ?? [], voi: pane?.voi ?? null, note });
  }
}
