// The pointer in a pane: which tool it is, what a press begins, what the wheel does.

import { listen } from "../shared/dom";
import type { Pane } from "./pane";
import { panDrag, rectangleDrag, rulerDrag, showRegion, windowDrag, type Drag, type Tool } from "./tools";
import type { Corners } from "./types";

export interface HandTold {
  front: (pane: Pane) => void;
  /** The image of the pane was moved, zoomed or windowed. */
  moved: (pane: Pane) => void;
  drew: (pane: Pane, box: Corners) => void;
  clicked: (pane: Pane, box: number | null) => void;
  doubleClicked: (box: number) => void;
  tabbed: (pane: Pane, back: boolean) => boolean;
  changed: () => void;
}

const CAPTURE = { capture: true };

export class Hand {
  tool: Tool = "boxes";
  /** Boxes can't be drawn: the left button is for the window. */
  locked = true;
  private space = false;
  private drag: Drag | null = null;
  private readonly panes = new Set<Pane>();
  private readonly ends: (() => void)[];

  constructor(private readonly root: HTMLElement, private readonly told: HandTold) {
    this.ends = [listen(window, "pointermove", (event) => this.drag?.move(event), CAPTURE), listen(window, "pointerup", (event) => this.release(event), CAPTURE), listen(window, "pointercancel", () => this.cancel(), CAPTURE)];
  }

  get isDrawing(): boolean {
    return this.drag !== null || [...this.panes].some((pane) => pane.layer.isBusy);
  }

  /** The tool that is there when no other is. */
  get usual(): Tool {
    return this.locked ? "window" : "boxes";
  }

  /** Take up a tool; one that is in the hand already is put down. */
  take(tool: Tool, isToggle = false): void {
    const wanted = tool === "boxes" || (isToggle && tool === this.tool) ? this.usual : tool;
    this.tool = wanted;
    if (wanted !== "ruler") for (const pane of this.panes) pane.setRuler(null);
    this.root.dataset.tool = wanted;
    this.listenBoxes();
    this.told.changed();
  }

  setSpace(on: boolean): void {
    if (on === this.space) return;
    this.space = on;
    this.root.classList.toggle("space", on);
    this.listenBoxes();
  }

  /** Stop what is being drawn or dragged, as it was before; says whether there was anything. */
  cancel(): boolean {
    const drag = this.drag;
    this.drag = null;
    drag?.cancel();
    return drag !== null;
  }

  add(pane: Pane): void {
    this.panes.add(pane);
    const { root } = pane;
    root.addEventListener("pointerdown", (event) => this.press(pane, event), { capture: true });
    for (const name of ["contextmenu", "auxclick"]) root.addEventListener(name, (event) => event.preventDefault());
    root.addEventListener("focus", () => this.told.front(pane));
    root.addEventListener("pointermove", (event) => this.point(pane, pane.place(event)));
    root.addEventListener("pointerleave", () => this.point(pane, null));
    root.addEventListener("wheel", (event) => this.wheel(pane, event), { passive: false });
    root.addEventListener("keydown", (event) => {
      if (event.key === "Tab" && event.target === root && this.told.tabbed(pane, event.shiftKey)) event.preventDefault();
    });
    root.addEventListener("dblclick", (event) => {
      const box = this.isOnBoxes ? this.boxAt(pane, event) : null;
      if (box !== null) this.told.doubleClicked(box);
    });
    pane.layer.setListening(this.isOnBoxes);
  }

  forget(pane: Pane): void {
    this.panes.delete(pane);
  }

  end(): void {
    this.cancel();
    for (const end of this.ends) end();
  }

  private get isOnBoxes(): boolean {
    return this.tool === "boxes" && !this.space;
  }

  private listenBoxes(): void {
    for (const pane of this.panes) pane.layer.setListening(this.isOnBoxes);
  }

  private point(pane: Pane, place: [number, number] | null): void {
    pane.pointer = place;
    pane.say();
  }

  private wheel(pane: Pane, event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    pane.zoomBy(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) / 500), pane.place(event));
    this.told.moved(pane);
  }

  private press(pane: Pane, event: PointerEvent): void {
    if (event.composedPath()[0] instanceof HTMLInputElement) return;
    this.told.front(pane);
    pane.root.focus({ preventScroll: true });
    if (!pane.picture) pane.tryAgain();
    if (this.drag || !pane.picture) return;
    this.drag = this.begin(pane, event);
    if (!this.drag) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private begin(pane: Pane, event: PointerEvent): Drag | null {
    const moved = (): void => this.told.moved(pane);
    if (event.button === 2) return windowDrag(pane, event, moved);
    if (event.button === 1 || (event.button === 0 && (this.space || this.tool === "pan"))) return panDrag(pane, event, moved);
    if (event.button !== 0) return null;
    if (this.tool === "window") return windowDrag(pane, event, moved);
    if (this.tool === "ruler") return rulerDrag(pane, event);
    if (this.tool === "region") return finished(rectangleDrag(pane, event, true), (region) => this.region(pane, region));
    if (!event.shiftKey && pane.layer.isOn(pane.place(event))) return null; // a line or a handle: Konva's
    return finished(rectangleDrag(pane, event, false), (box) => {
      if (box) this.told.drew(pane, box);
      else this.told.clicked(pane, this.boxAt(pane, event));
    });
  }

  private boxAt(pane: Pane, event: MouseEvent): number | null {
    return pane.layer.labelAt(pane.place(event)) ?? pane.layer.boxAt(pane.matrixPlace(event));
  }

  private region(pane: Pane, region: Corners | null): void {
    if (region) showRegion(pane, region);
    this.take("boxes");
    this.told.moved(pane);
  }

  private release(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    drag?.up(event);
    if (drag) this.told.changed();
  }
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
