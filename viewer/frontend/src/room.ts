// The viewer as the judging form has it: the radiographs of an exam with the boxes of a question.
//
// It offers what the plain editor offers (ui/judging/assets/boxes.js), so the form needs not know which it has.

import { History, isOneOf, type Boxes, type RoomBox } from "./boxes";
import { carryOut } from "./commands";
import { h, isTyping } from "./dom";
import { BoxEdits } from "./edits";
import { rulerNote } from "./facts";
import { Hand } from "./hand";
import { addressOf, hung } from "./hanging";
import { firstAction, historyAction, laterAction, SHEET } from "./keys";
import { openLabelField } from "./label-field";
import { link } from "./linked";
import { Pane, type Look } from "./pane";
import { hasPixels, prefetch } from "./pixels";
import style from "./style.css";
import { Toolbar } from "./toolbar";
import type { Corners, Radiograph, Sheet } from "./types";

/** A box as the form lists it; places and sizes in whole pixels of the matrix. */
export interface Listed {
  view: Pane;
  index: number;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
  machine: boolean;
}

const TOGETHER = "overread-side-by-side";

export class ReadingRoom {
  // The form asks these to know which of its own parts are not needed.
  readonly sheet = SHEET;
  readonly hasControls = true;
  readonly fetchesAhead = true;
  readonly draftAfter = 60; // milliseconds; an edit is finished when it is told

  readonly root: HTMLElement;
  readonly hand: Hand;
  readonly edits: BoxEdits;
  order: Pane[] = [];
  front: Pane | null = null;
  selected: number | null = null;
  label = "";
  private readonly toolbar = new Toolbar((id) => this.act(id), (at) => this.chooseWindow(at));
  private readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Radiographs of the exam" });
  private readonly panes = h("div", { class: "panes" });
  private readonly looks = new Map<string, Look>();
  private readonly known = new Map<string, Pane>();
  private readonly painted = new Set<Pane>();
  private readonly ends: (() => void)[];
  private history = new History();
  private machine: RoomBox[] = [];
  private touched = false;
  private locked = true;
  private upcoming: Sheet["upcoming"] = [];
  private linked = false;
  private magnify = false;
  private together = localStorage.getItem(TOGETHER) === "yes";
  private lastId = 0;

  constructor(private readonly told: { changed: () => void; drawn: () => void }) {
    this.root = h("div", { class: "reading-room" }, h("style", {}, style), h("div", { class: "controls" }, this.tabs, this.toolbar.root), this.panes);
    this.edits = new BoxEdits({ history: () => this.history, apply: (next, tag) => this.apply(next, tag), select: (id) => this.select(id), nextId: () => (this.lastId += 1) });
    this.hand = new Hand(this.root, {
      front: (pane) => pane !== this.front && this.bringForward(pane),
      moved: (pane) => this.moved(pane),
      drew: (pane, box) => this.edits.add(pane.radiograph.id, this.label, box),
      clicked: (_, box) => this.select(box),
      tabbed: (pane, back) => this.tabTo(pane, back),
      changed: () => this.paintControls(),
    });
    const on = <Name extends keyof WindowEventMap>(name: Name, act: (event: WindowEventMap[Name]) => void): (() => void) => {
      window.addEventListener(name, act, { capture: true });
      return () => window.removeEventListener(name, act, { capture: true });
    };
    this.ends = [on("keydown", (event) => this.historyKey(event)), on("keyup", (event) => this.keyUp(event)), on("blur", () => this.keysUp()), () => this.hand.end()];
    this.root.addEventListener("fullscreenchange", () => this.paintControls());
  }

  // ------------------------------------------------------------ a question, and what is on its boxes

  show(data: Sheet): void {
    this.hand.cancel();
    this.locked = this.hand.locked = data.blind || !data.open || !data.asks.boxes;
    this.upcoming = data.upcoming ?? [];
    const hanging = hung(data.radiographs);
    this.keepLooks(new Set(hanging.map(addressOf)));
    this.order = hanging.map((radiograph) => this.paneOf(radiograph));
    const boxes = (plain: Radiograph["boxes"], radiograph: string): RoomBox[] => (plain ?? []).map(({ label, box }) => ({ id: (this.lastId += 1), radiograph, label, box }));
    this.machine = hanging.flatMap((each) => boxes(each.machineBoxes, each.id));
    this.history = new History(hanging.flatMap((each) => boxes(each.boxes, each.id)));
    this.touched = hanging.some((each) => each.touched);
    this.selected = null;
    this.toolbar.build({ boxes: !this.locked, several: this.order.length > 1 });
    this.hand.take("boxes");
    const front = this.order.find((pane) => pane === this.front) ?? this.order[0];
    if (front) this.bringForward(front);
    else this.panes.replaceChildren(); // an exam without radiographs
    this.showBoxes();
  }

  /** All boxes by radiograph, as the server takes them; null when none was touched. */
  drawings(): Record<string, { type: "Box"; label: string; box: Corners }[]> | null {
    if (this.locked || !this.touched) return null;
    const sized = this.order.filter(({ radiograph }) => radiograph.rows && radiograph.columns);
    return Object.fromEntries(sized.map((pane) => [pane.radiograph.id, this.boxesOf(pane).map(({ label, box }) => ({ type: "Box" as const, label, box }))]));
  }

  /** Resolves when no box is in the middle of being drawn. */
  async settled(): Promise<void> {
    const until = performance.now() + 5000;
    while (this.hand.isDrawing && performance.now() < until) await new Promise((done) => setTimeout(done, 16));
    this.history.close();
  }

  list(): Listed[] {
    return this.order.flatMap((view) =>
      this.boxesOf(view).map((box, index) => {
        const [x0, y0, x1, y1] = box.box;
        const place = { x: Math.round(x0), y: Math.round(y0), width: Math.round(x1 - x0), height: Math.round(y1 - y0) };
        return { view, index, label: box.label, ...place, machine: isOneOf(box, this.machine) };
      }),
    );
  }

  /** Boxes that are not the machine's, and boxes of the machine's that are no longer there as they were. */
  changes(): { added: Listed[]; gone: { label: string }[] } {
    const gone = this.machine.filter((box) => !isOneOf(box, this.history.now));
    return { added: this.list().filter((box) => !box.machine), gone: gone.map(({ label }) => ({ label })) };
  }

  relabel(view: Pane, index: number, label: string): void {
    this.edits.relabel(this.boxesOf(view)[index].id, label);
  }

  remove(view: Pane, index: number): void {
    this.edits.remove(this.boxesOf(view)[index].id);
  }

  choose(view: Pane, index: number): void {
    this.select(this.boxesOf(view)[index]?.id ?? null);
  }

  reset(): void {
    this.apply(this.machine);
  }

  /** The label that the next box is drawn with. */
  setLabel(label: string): void {
    this.label = label;
  }

  end(): void {
    for (const end of this.ends) end();
    for (const pane of this.known.values()) pane.end();
    this.known.clear();
  }

  // What only the plain editor needs to be told.
  pointerReleased(): void {}
  setEditing(): void {}

  // ------------------------------------------------------------ boxes

  select(id: number | null): void {
    if (id === this.selected) return;
    this.selected = id;
    const pane = this.paneWith(id);
    if (pane && pane !== this.front) this.bringForward(pane);
    this.showBoxes();
  }

  step(direction: "undo" | "redo"): void {
    if (this.locked) return;
    const changed = this.edits.step(direction);
    if (changed === undefined) return;
    const pane = this.order.find(({ radiograph }) => radiograph.id === changed);
    if (pane && pane !== this.front) this.bringForward(pane);
    this.afterEdit();
  }

  editLabel(id: number): void {
    const [pane, box] = [this.paneWith(id), this.history.now.find((each) => each.id === id)];
    const at = pane?.layer.labelPlace(id);
    if (!this.locked && pane && box && at) openLabelField(pane, box.label, at, (label) => this.edits.relabel(id, label));
  }

  setHidden(on: boolean): void {
    for (const pane of this.order) pane.layer.setVisible(!on);
  }

  private boxesOf(pane: Pane): RoomBox[] {
    return this.history.now.filter((box) => box.radiograph === pane.radiograph.id);
  }

  private paneWith(id: number | null): Pane | undefined {
    const radiograph = this.history.now.find((box) => box.id === id)?.radiograph;
    return this.order.find((pane) => pane.radiograph.id === radiograph);
  }

  private apply(next: Boxes, tag = ""): void {
    if (this.locked) return;
    this.history.apply(next, tag);
    this.afterEdit();
  }

  private afterEdit(): void {
    this.touched = true;
    if (!this.history.now.some((box) => box.id === this.selected)) this.selected = null;
    this.showBoxes();
    this.told.changed();
  }

  private showBoxes(): void {
    const isMachines = (box: RoomBox): boolean => isOneOf(box, this.machine);
    for (const pane of this.order) pane.layer.show({ boxes: this.boxesOf(pane), isMachines, selected: this.selected, locked: this.locked });
    this.paintControls();
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

  next(): void {
    if (this.front && this.order.length > 1) this.bringForward(this.order[(this.order.indexOf(this.front) + 1) % this.order.length]);
  }

  bringForward(pane: Pane): void {
    this.front = pane;
    const shown = this.together ? this.order : [pane];
    const isAsWas = this.panes.children.length === shown.length && shown.every((each, at) => this.panes.children[at] === each.root);
    if (!isAsWas) this.panes.replaceChildren(...shown.map((each) => each.root));
    for (const each of this.order) each.root.classList.toggle("front", each === pane && shown.length > 1);
    const tab = (each: Pane, at: number): HTMLElement => h("button", { type: "button", "aria-pressed": String(each === pane), title: "next radiograph (L)", onclick: () => this.bringForward(each) }, `${at + 1}. ${each.radiograph.view}`);
    this.tabs.replaceChildren(...(this.order.length > 1 ? this.order.map(tab) : []));
    for (const each of shown) each.fitPane();
    this.paintControls();
    if (this.painted.has(pane)) this.drawn();
  }

  fit(): void {
    for (const pane of this.order) pane.fitPane();
  }

  /** The image of a pane was moved, zoomed or windowed. */
  moved(pane: Pane): void {
    if (this.linked && this.together) for (const other of this.order) if (other !== pane) link(pane, other);
    this.paintControls();
  }

  chooseWindow(at: number): void {
    const pane = this.front;
    const voi = pane?.presets[at];
    if (!pane || !voi) return;
    pane.setVoi(voi);
    this.moved(pane);
  }

  private paneOf(radiograph: Radiograph): Pane {
    const address = addressOf(radiograph);
    const there = this.known.get(address);
    if (there) {
      there.radiograph = radiograph;
      return there;
    }
    const pane: Pane = new Pane(
      radiograph,
      { select: (id) => this.select(id), changed: (id, box, resized) => this.edits.place(id, box, resized, pane.view), relabel: (id) => this.editLabel(id) },
      () => this.hasPainted(pane),
    );
    this.known.set(address, pane);
    this.hand.add(pane);
    void pane.load(this.looks.get(address)).then(() => this.paintControls());
    return pane;
  }

  /** Of radiographs that go, how they were looked at is kept: one may come back to them. */
  private keepLooks(wanted: ReadonlySet<string>): void {
    for (const [address, pane] of this.known) {
      if (wanted.has(address)) continue;
      const look = pane.look();
      if (look) this.looks.set(address, look);
      pane.end();
      this.hand.forget(pane);
      this.known.delete(address);
      this.painted.delete(pane);
    }
  }

  private hasPainted(pane: Pane): void {
    if (this.painted.has(pane)) return;
    this.painted.add(pane);
    if (pane === this.front) this.drawn();
  }

  private drawn(): void {
    this.told.drawn();
    const others = this.order.map(({ radiograph }) => radiograph).filter(hasPixels);
    void prefetch([...others, ...(this.upcoming ?? [])]);
  }

  // ------------------------------------------------------------ keys and controls

  /** `first`: before the form's own keys; else what is left over. Says whether the key was taken. */
  key(event: KeyboardEvent, first: boolean): boolean {
    const action = first ? firstAction(event, this.selected !== null && !this.locked) : laterAction(event);
    if (!action) return false;
    if (action === "label" && event.composedPath()[0] instanceof HTMLButtonElement) return false; // Enter presses it
    if (event.repeat && !action.startsWith("arrow") && !["in", "out", "undo", "redo"].includes(action)) return true;
    return this.act(action, event);
  }

  toggle(what: "together" | "linked" | "magnify"): void {
    this[what] = !this[what];
    if (what === "magnify") for (const pane of this.known.values()) pane.setMagnify(this.magnify);
    if (what !== "together") return;
    localStorage.setItem(TOGETHER, this.together ? "yes" : "no");
    if (this.front) this.bringForward(this.front);
  }

  fullScreen(): void {
    if (document.fullscreenElement) void document.exitFullscreen();
    else this.root.requestFullscreen().catch(() => undefined); // a browser may refuse; the button stays
  }

  private act(action: string, event?: KeyboardEvent): boolean {
    const isDone = carryOut(this, action, event);
    if (isDone) this.paintControls();
    return isDone;
  }

  private historyKey(event: KeyboardEvent): void {
    const action = isTyping(event) ? null : historyAction(event);
    if (!action || !this.root.isConnected || this.locked) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(action);
  }

  private keyUp(event: KeyboardEvent): void {
    if (event.key === " ") this.hand.setSpace(false);
    if (event.key.toLowerCase() === "d") this.setHidden(false);
    if (event.key.startsWith("Arrow")) this.history.close();
  }

  private keysUp(): void {
    this.hand.setSpace(false);
    this.setHidden(false);
  }

  private paintControls(): void {
    const { front: pane, history } = this;
    const isOn = { [this.hand.tool]: true, magnify: this.magnify, together: this.together, link: this.linked, invert: pane?.invert, full: document.fullscreenElement };
    const isOff = { undo: !history.canUndo, redo: !history.canRedo, remove: this.selected === null, other: this.selected === null, link: !this.together };
    const names = (of: Record<string, unknown>): Set<string> => new Set(Object.keys(of).filter((name) => of[name]));
    const note = pane?.picture ? rulerNote(pane.picture.facts) : "";
    this.toolbar.paint({ pressed: names(isOn), disabled: names(isOff), presets: pane?.presets ?? [], voi: pane?.voi ?? null, note });
  }
}
