// The viewer as the judging form has it: the radiographs of an exam with the boxes of a question.
//
// It offers what the plain editor offers (ui/judging/assets/boxes.js), so the form needs not know which it has.

import { History, isOneOf, type Boxes, type RoomBox } from "./boxes";
import { BoxEdits } from "./edits";
import { h, isTyping } from "./dom";
import { rulerNote } from "./facts";
import { firstAction, historyAction, laterAction, SHEET } from "./keys";
import { link } from "./linked";
import { Pane, type Look } from "./pane";
import { hasPixels, prefetch } from "./pixels";
import style from "./style.css";
import { Toolbar } from "./toolbar";
import { panDrag, rectangleDrag, rulerDrag, showRegion, windowDrag, type Drag, type Tool } from "./tools";
import { fitted, mirrored, turned, upright } from "./transform";
import type { Corners, Radiograph, Sheet } from "./types";

export interface Listed {
  view: Pane;
  index: number;
  id: number;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
  machine: boolean;
}

const TOGETHER = "overread-side-by-side";

export class ReadingRoom {
  readonly root: HTMLElement;
  readonly sheet = SHEET;
  order: Pane[] = [];
  front: Pane | null = null;
  label = "";
  private readonly toolbar = new Toolbar((id) => this.act(id), (at) => this.chooseWindow(at));
  private readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Radiographs of the exam" });
  private readonly panes = h("div", { class: "panes" });
  private readonly looks = new Map<string, Look>();
  private readonly known = new Map<string, Pane>();
  private readonly painted = new Set<Pane>();
  private readonly ends: (() => void)[];
  private readonly edits: BoxEdits;
  private history = new History();
  private machine: RoomBox[] = [];
  private touched = false;
  private locked = true;
  private upcoming: Sheet["upcoming"] = [];
  private selected: number | null = null;
  private tool: Tool = "boxes";
  private drag: Drag | null = null;
  private space = false;
  private linked = false;
  private magnify = false;
  private together = localStorage.getItem(TOGETHER) === "yes";
  private lastId = 0;

  constructor(private readonly told: { changed: () => void; drawn: () => void }) {
    this.root = h("div", { class: "reading-room" }, h("style", {}, style), h("div", { class: "controls" }, this.tabs, this.toolbar.root), this.panes);
    this.edits = new BoxEdits({ history: () => this.history, apply: (next, tag) => this.apply(next, tag), select: (id) => this.select(id), nextId: () => (this.lastId += 1) });
    const on = <Name extends keyof WindowEventMap>(name: Name, act: (event: WindowEventMap[Name]) => void): (() => void) => {
      window.addEventListener(name, act, { capture: true });
      return () => window.removeEventListener(name, act, { capture: true });
    };
    this.ends = [
      on("pointermove", (event) => this.drag?.move(event)),
      on("pointerup", (event) => this.release(event)),
      on("pointercancel", () => this.cancel()),
      on("keydown", (event) => this.globalKey(event)),
      on("keyup", (event) => this.keyUp(event)),
      on("blur", () => this.letGo()),
    ];
    this.root.addEventListener("fullscreenchange", () => this.paintControls());
  }

  // ------------------------------------------------------------ what the form calls

  show(data: Sheet): void {
    this.locked = data.blind || !data.open || !data.asks.boxes;
    this.upcoming = data.upcoming ?? [];
    this.keepLooks();
    const hung = [...data.radiographs].sort((some, other) => place(some) - place(other)); // PA left, lateral right
    const wanted = new Set(hung.map(addressOf));
    for (const [address, pane] of this.known) {
      if (wanted.has(address)) continue;
      pane.end();
      this.known.delete(address);
      this.painted.delete(pane);
    }
    this.order = hung.map((radiograph) => this.paneOf(radiograph));
    const boxes = (plain: Radiograph["boxes"], radiograph: string): RoomBox[] => (plain ?? []).map(({ label, box }) => ({ id: (this.lastId += 1), radiograph, label, box }));
    this.machine = hung.flatMap((each) => boxes(each.machineBoxes, each.id));
    this.history = new History(hung.flatMap((each) => boxes(each.boxes, each.id)));
    this.touched = hung.some((each) => each.touched);
    this.selected = null;
    this.setTool(this.locked ? "window" : "boxes");
    this.toolbar.build({ boxes: !this.locked, several: this.order.length > 1 });
    this.bringForward(this.front && this.order.includes(this.front) ? this.front : this.order[0]);
    this.showBoxes();
  }

  /** All boxes by radiograph, as the server takes them; null when none was touched. */
  drawings(): Record<string, { type: "Box"; label: string; box: Corners }[]> | null {
    if (this.locked || !this.touched) return null;
    return Object.fromEntries(
      this.order.filter(({ radiograph }) => radiograph.rows && radiograph.columns).map((pane) => [pane.radiograph.id, this.boxesOf(pane).map(({ label, box }) => ({ type: "Box" as const, label, box }))]),
    );
  }

  /** Resolves when no box is in the middle of being drawn. */
  async settled(): Promise<void> {
    const until = performance.now() + 5000;
    while ((this.drag || this.order.some((pane) => pane.layer.isBusy)) && performance.now() < until) await new Promise((done) => setTimeout(done, 16));
    this.history.close();
  }

  pointerReleased(): void {} // it listens itself

  list(): Listed[] {
    return this.order.flatMap((view) =>
      this.boxesOf(view).map((box, index) => {
        const [x0, y0, x1, y1] = box.box;
        return { view, index, id: box.id, label: box.label, x: Math.round(x0), y: Math.round(y0), width: Math.round(x1 - x0), height: Math.round(y1 - y0), machine: isOneOf(box, this.machine) };
      }),
    );
  }

  changes(): { added: Listed[]; gone: { label: string }[] } {
    return { added: this.list().filter((box) => !box.machine), gone: this.machine.filter((box) => !isOneOf(box, this.history.now)).map(({ label }) => ({ label })) };
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

  setLabel(label: string): void {
    this.label = label;
  }

  next(): void {
    if (this.front && this.order.length > 1) this.bringForward(this.order[(this.order.indexOf(this.front) + 1) % this.order.length]);
  }

  bringForward(pane: Pane): void {
    this.front = pane;
    const shown = this.together ? this.order : [pane];
    if (this.panes.children.length !== shown.length || shown.some((each, at) => this.panes.children[at] !== each.root)) this.panes.replaceChildren(...shown.map((each) => each.root));
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

  setEditing(): void {} // one tool draws and moves

  end(): void {
    this.cancel();
    for (const end of this.ends) end();
    for (const pane of this.known.values()) pane.end();
    this.known.clear();
  }

  // ------------------------------------------------------------ boxes

  private boxesOf(pane: Pane): RoomBox[] {
    return this.history.now.filter((box) => box.radiograph === pane.radiograph.id);
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

  private select(id: number | null): void {
    if (id === this.selected) return;
    this.selected = id;
    const pane = this.paneWith(id);
    if (pane && pane !== this.front) this.bringForward(pane);
    this.showBoxes();
  }

  private showBoxes(): void {
    const isMachines = (box: RoomBox): boolean => isOneOf(box, this.machine);
    for (const pane of this.order) pane.layer.show({ boxes: this.boxesOf(pane), isMachines, selected: this.selected, locked: this.locked });
    this.paintControls();
  }

  private paneWith(id: number | null): Pane | undefined {
    const radiograph = this.history.now.find((box) => box.id === id)?.radiograph;
    return this.order.find((pane) => pane.radiograph.id === radiograph);
  }

  private step(direction: "undo" | "redo"): void {
    if (this.locked) return;
    const changed = this.edits.step(direction);
    if (changed === undefined) return;
    const pane = this.order.find(({ radiograph }) => radiograph.id === changed);
    if (pane && pane !== this.front) this.bringForward(pane);
    this.afterEdit();
  }

  /** A field over the label of the chosen box. */
  private editLabel(id: number): void {
    const [pane, box] = [this.paneWith(id), this.history.now.find((each) => each.id === id)];
    const at = pane?.layer.labelPlace(id);
    if (this.locked || !pane || !box || !at) return;
    const field = h("input", { class: "label-field", list: "overread-labels", "aria-label": "Label of the box", maxlength: "200", placeholder: "label" });
    field.value = box.label;
    field.style.transform = `translate(${at[0]}px, ${at[1]}px)`;
    let done = false;
    const close = (keep: boolean): void => {
      if (done) return;
      done = true;
      if (keep && field.value.trim() !== box.label) this.edits.relabel(id, field.value.trim());
      field.remove();
      pane.root.focus({ preventScroll: true });
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") close(true);
      if (event.key === "Escape") close(false);
      event.stopPropagation();
    });
    field.addEventListener("blur", () => close(true));
    pane.root.append(field);
    field.select();
  }

  // ------------------------------------------------------------ panes

  private paneOf(radiograph: Radiograph): Pane {
    const address = addressOf(radiograph);
    let pane = this.known.get(address);
    if (pane) {
      pane.radiograph = radiograph;
      return pane;
    }
    const made: Pane = new Pane(
      radiograph,
      {
        select: (id) => this.select(id),
        changed: (id, box, resized) => this.edits.place(id, box, resized, made.view),
        relabel: (id) => this.editLabel(id),
      },
      (each) => this.hasPainted(each),
    );
    pane = made;
    this.known.set(address, pane);
    this.listen(pane);
    void pane.load(this.looks.get(address)).then(() => this.paintControls());
    return pane;
  }

  private listen(pane: Pane): void {
    const { root } = pane;
    root.addEventListener("pointerdown", (event) => this.press(pane, event), { capture: true });
    root.addEventListener("contextmenu", (event) => event.preventDefault());
    root.addEventListener("auxclick", (event) => event.preventDefault());
    root.addEventListener("focus", () => pane !== this.front && this.bringForward(pane));
    root.addEventListener("pointermove", (event) => {
      pane.pointer = pane.place(event);
      pane.say();
    });
    root.addEventListener("pointerleave", () => {
      pane.pointer = null;
      pane.say();
    });
    root.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
        pane.zoomBy(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) / 500), pane.place(event));
        this.moved(pane);
      },
      { passive: false },
    );
    root.addEventListener("keydown", (event) => {
      if (event.key === "Tab" && this.tabTo(pane, event.shiftKey)) event.preventDefault();
    });
  }

  private press(pane: Pane, event: PointerEvent): void {
    if (event.composedPath()[0] instanceof HTMLInputElement) return;
    if (pane !== this.front) this.bringForward(pane);
    pane.root.focus({ preventScroll: true });
    if (this.drag || !pane.picture) return;
    this.drag = this.dragFor(pane, event);
    if (!this.drag) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private dragFor(pane: Pane, event: PointerEvent): Drag | null {
    const moved = (): void => this.moved(pane);
    if (event.button === 2) return windowDrag(pane, event, moved);
    if (event.button === 1 || (event.button === 0 && (this.space || this.tool === "pan"))) return panDrag(pane, event, moved);
    if (event.button !== 0) return null;
    if (this.tool === "window") return windowDrag(pane, event, moved);
    if (this.tool === "ruler") return rulerDrag(pane, event);
    if (this.tool === "region") return finished(rectangleDrag(pane, event, true), (region) => {
        if (region) showRegion(pane, region);
        this.setTool(this.locked ? "window" : "boxes");
        this.moved(pane);
      });
    if (!event.shiftKey && pane.layer.isOn(pane.place(event))) return null; // Konva's
    return finished(rectangleDrag(pane, event, false), (box) => {
      if (box) this.edits.add(pane.radiograph.id, this.label, box);
      else this.select(pane.layer.boxAt(pane.matrixPlace(event)));
    });
  }

  private release(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    drag?.up(event);
    if (drag) this.paintControls();
  }

  private cancel(): void {
    this.drag?.cancel();
    this.drag = null;
  }

  /** The image of a pane was moved, zoomed or windowed. */
  private moved(pane: Pane): void {
    if (this.linked && this.together) for (const other of this.order) if (other !== pane) link(pane, other);
    this.paintControls();
  }

  private keepLooks(): void {
    for (const [address, pane] of this.known) {
      const look = pane.look();
      if (look) this.looks.set(address, look);
    }
  }

  private hasPainted(pane: Pane): void {
    if (this.painted.has(pane)) return;
    this.painted.add(pane);
    if (pane === this.front) this.drawn();
  }

  private drawn(): void {
    this.told.drawn();
    const rest = this.order.map(({ radiograph }) => radiograph).filter(hasPixels);
    void prefetch([...rest, ...(this.upcoming ?? [])]);
  }

  // ------------------------------------------------------------ keys and controls

  /** `first`: before the form's own keys; else what is left over. Says whether the key was taken. */
  key(event: KeyboardEvent, first: boolean): boolean {
    const action = first ? firstAction(event, this.selected !== null && !this.locked) : laterAction(event);
    if (!action) return false;
    if (first && (action === "label" || action === "escape") && event.composedPath()[0] instanceof HTMLButtonElement && action === "label") return false;
    if (event.repeat && !action.startsWith("arrow") && !["in", "out", "undo", "redo"].includes(action)) return true;
    return this.act(action, event);
  }

  private globalKey(event: KeyboardEvent): void {
    const action = isTyping(event) ? null : historyAction(event);
    if (!action || !this.root.isConnected || this.locked) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(action);
  }

  private keyUp(event: KeyboardEvent): void {
    if (event.key === " ") this.setSpace(false);
    if (event.key.toLowerCase() === "d") this.setHidden(false);
    if (event.key.startsWith("Arrow")) this.history.close();
  }

  private letGo(): void {
    this.setSpace(false);
    this.setHidden(false);
  }

  private act(action: string, event?: KeyboardEvent): boolean {
    const { front: pane, selected } = this;
    if (!pane) return false;
    const look = (change: () => void): boolean => {
      change();
      this.moved(pane);
      return true;
    };
    if (action.startsWith("arrow")) return this.edits.nudge(selected!, action.slice(5), event?.shiftKey ? 10 : 1, pane.view);
    if (action.startsWith("window-")) return look(() => this.chooseWindow(Number(action.slice(7)) - 1));
    const acts: Record<string, () => unknown> = {
      in: () => look(() => pane.zoomBy(1.5, pane.pointer ?? undefined)),
      out: () => look(() => pane.zoomBy(1 / 1.5, pane.pointer ?? undefined)),
      fit: () => look(() => pane.setView(fitted(pane.view))),
      one: () => look(() => pane.oneToOne()),
      invert: () => look(() => pane.voi && pane.setVoi(pane.voi, !pane.invert)),
      turn: () => look(() => pane.setView(turned(pane.view))),
      mirror: () => look(() => pane.setView(mirrored(pane.view))),
      upright: () => look(() => pane.setView(upright(pane.view))),
      window: () => this.setTool(this.tool === "window" && !this.locked ? "boxes" : "window"),
      toggle: () => this.setTool(this.tool === "boxes" || this.locked ? "window" : "boxes"),
      boxes: () => this.setTool(this.locked ? "window" : "boxes"),
      region: () => this.setTool("region"),
      pan: () => this.setTool(this.tool === "pan" ? "boxes" : "pan"),
      ruler: () => this.setTool(this.tool === "ruler" ? "boxes" : "ruler"),
      magnify: () => this.setMagnify(!this.magnify),
      together: () => this.setTogether(!this.together),
      link: () => (this.linked = !this.linked),
      full: () => void (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen().catch(() => undefined)),
      next: () => this.next(),
      undo: () => this.step("undo"),
      redo: () => this.step("redo"),
      remove: () => selected !== null && this.edits.remove(selected),
      other: () => selected !== null && this.edits.copyToOtherSide(selected, pane),
      label: () => selected !== null && this.editLabel(selected),
      hide: () => this.setHidden(true),
      space: () => this.setSpace(true),
    };
    if (action === "escape") return this.escape();
    if (!acts[action]) return false;
    acts[action]();
    this.paintControls();
    return true;
  }

  private escape(): boolean {
    if (this.drag) this.cancel();
    else if (this.selected !== null) this.select(null);
    else if (this.tool !== (this.locked ? "window" : "boxes")) this.setTool(this.locked ? "window" : "boxes");
    else return false;
    return true;
  }

  /** The next box of the pane; false past the last, so that Tab goes on to the next control. */
  private tabTo(pane: Pane, back: boolean): boolean {
    const boxes = this.boxesOf(pane);
    const at = boxes.findIndex((box) => box.id === this.selected);
    const next = at < 0 ? (back ? boxes.length - 1 : 0) : at + (back ? -1 : 1);
    this.select(boxes[next]?.id ?? null);
    return next >= 0 && next < boxes.length;
  }

  private chooseWindow(at: number): void {
    const pane = this.front;
    const voi = pane?.presets[at];
    if (!pane || !voi) return;
    pane.setVoi(voi);
    this.moved(pane);
  }

  private setTool(tool: Tool): void {
    this.tool = tool;
    if (tool !== "ruler") for (const pane of this.order) pane.setRuler(null);
    this.root.dataset.tool = tool;
    this.listenBoxes();
  }

  private setSpace(on: boolean): void {
    this.space = on;
    this.root.classList.toggle("space", on);
    this.listenBoxes();
  }

  private listenBoxes(): void {
    for (const pane of this.order) pane.layer.setListening(this.tool === "boxes" && !this.space);
  }

  private setHidden(on: boolean): void {
    for (const pane of this.order) pane.layer.setVisible(!on);
  }

  private setMagnify(on: boolean): void {
    this.magnify = on;
    for (const pane of this.order) pane.setMagnify(on);
  }

  private setTogether(on: boolean): void {
    this.together = on;
    localStorage.setItem(TOGETHER, on ? "yes" : "no");
    if (this.front) this.bringForward(this.front);
  }

  private paintControls(): void {
    const { front: pane, history } = this;
    const pressed = new Set<string>([this.tool]);
    for (const [id, on] of Object.entries({ magnify: this.magnify, together: this.together, link: this.linked, invert: pane?.invert, full: document.fullscreenElement })) if (on) pressed.add(id);
    const disabled = new Set<string>();
    for (const [id, off] of Object.entries({ undo: !history.canUndo, redo: !history.canRedo, remove: this.selected === null, other: this.selected === null, link: !this.together })) if (off) disabled.add(id);
    const note = pane?.picture ? rulerNote(pane.picture.facts) : "";
    this.toolbar.paint({ pressed, disabled, presets: pane?.presets ?? [], voi: pane?.voi ?? null, note });
  }
}

const addressOf = (radiograph: Radiograph): string => radiograph.pixels ?? `none:${radiograph.id}`;

/** Where a view hangs: frontal ones left, lateral ones right, what is not known last. */
function place({ view }: Radiograph): number {
  const known = ["PA", "AP", "lateral"].findIndex((each) => view.toLowerCase().startsWith(each.toLowerCase()));
  return known < 0 ? 3 : known;
}

/** A drag that hands what was drawn to `take`. */
const finished = (drag: Drag, take: (drawn: Corners | null) => void): Drag => ({
  ...drag,
  up: (event) => {
    const drawn = drag.up(event);
    take(drawn);
    return drawn;
  },
});
