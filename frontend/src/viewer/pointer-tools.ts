// The pointer in a pane: the active tool, drags and the wheel.

import { listen } from "../shared/dom";
import type { Pane } from "./pane";
import { createPanDrag, createRectangleDrag, createMeasurementDrag, setRegionWindow, createWindowDrag, type Drag, type Tool } from "./drags";
import type { InputPreferences } from "../shared/api";
import type { Corners } from "./types";

type LeftButton = InputPreferences["leftButton"];

export interface PointerToolEvents {
  paneFocused: (pane: Pane) => void;
  /** The image of the pane was moved, zoomed or windowed. */
  paneChanged: (pane: Pane) => void;
  boxDrawn: (pane: Pane, box: Corners) => void;
  boxClicked: (pane: Pane, box: number | null) => void;
  boxDoubleClicked: (id: number) => void;
  tabPressed: (pane: Pane, back: boolean) => boolean;
  toolChanged: () => void;
}

const CAPTURE = { capture: true };

export class PointerTools {
  tool: Tool = "boxes";
  /** Boxes can't be drawn. */
  locked = true;
  /** What the left button does if no other tool is selected. */
  leftButton: LeftButton = "boxes";
  private isSpaceHeld = false;
  private drag: Drag | null = null;
  private readonly panes = new Set<Pane>();
  private readonly cleanups: (() => void)[];

  constructor(private readonly root: HTMLElement, private readonly events: PointerToolEvents) {
    this.cleanups = [listen(window, "pointermove", (event) => this.drag?.move(event), CAPTURE), listen(window, "pointerup", (event) => this.handlePointerUp(event), CAPTURE), listen(window, "pointercancel", () => this.cancel(), CAPTURE)];
  }

  get isDrawing(): boolean {
    return this.drag !== null || [...this.panes].some((pane) => pane.layer.isBusy);
  }

  /** The tool that is active when no other is selected. */
  get defaultTool(): Tool {
    return this.locked && this.leftButton === "boxes" ? "window" : this.leftButton;
  }

  /** Select the tool of the left button. */
  selectDefault(): void {
    this.selectTool(this.defaultTool);
  }

  /** Select a tool, or the left button's if the tool is active already. */
  toggleTool(tool: Tool): void {
    if (tool === this.tool || (tool === "boxes" && this.locked)) this.selectDefault();
    else this.selectTool(tool);
  }

  private selectTool(selected: Tool): void {
    this.tool = selected;
    for (const pane of this.panes) if (pane.measurement?.kind !== selected) pane.setMeasurement(null);
    this.root.dataset.tool = selected;
    this.updateBoxListening();
    this.events.toolChanged();
  }

  setSpace(held: boolean): void {
    if (held === this.isSpaceHeld) return;
    this.isSpaceHeld = held;
    this.root.classList.toggle("space", held);
    this.updateBoxListening();
  }

  /** Cancel the current drag and restore the previous state. Returns whether there was one. */
  cancel(): boolean {
    const drag = this.drag;
    this.drag = null;
    drag?.cancel();
    return drag !== null;
  }

  add(pane: Pane): void {
    this.panes.add(pane);
    const { root } = pane;
    root.addEventListener("pointerdown", (event) => this.handlePointerDown(pane, event), { capture: true });
    for (const name of ["contextmenu", "auxclick"]) root.addEventListener(name, (event) => event.preventDefault());
    root.addEventListener("focus", () => this.events.paneFocused(pane));
    root.addEventListener("pointermove", (event) => this.setPointer(pane, pane.findPosition(event)));
    root.addEventListener("pointerleave", () => this.setPointer(pane, null));
    root.addEventListener("wheel", (event) => this.handleWheel(pane, event), { passive: false });
    root.addEventListener("keydown", (event) => {
      if (event.key === "Tab" && event.target === root && this.events.tabPressed(pane, event.shiftKey)) event.preventDefault();
    });
    root.addEventListener("dblclick", (event) => {
      const box = this.isBoxToolActive ? this.boxAt(pane, event) : null;
      if (box !== null) this.events.boxDoubleClicked(box);
    });
    pane.layer.setListening(this.isBoxToolActive);
  }

  remove(pane: Pane): void {
    this.panes.delete(pane);
  }

  end(): void {
    this.cancel();
    for (const end of this.cleanups) end();
  }

  private get isBoxToolActive(): boolean {
    return this.tool === "boxes" && !this.isSpaceHeld;
  }

  private updateBoxListening(): void {
    for (const pane of this.panes) pane.layer.setListening(this.isBoxToolActive);
  }

  private setPointer(pane: Pane, position: [number, number] | null): void {
    pane.pointer = position;
    pane.showPointerValue();
  }

  private handleWheel(pane: Pane, event: WheelEvent): void {
    event.preventDefault();
    const pixelsPerUnit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    pane.zoomBy(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * pixelsPerUnit)) / 500), pane.findPosition(event));
    this.events.paneChanged(pane);
  }

  private handlePointerDown(pane: Pane, event: PointerEvent): void {
    if (event.composedPath().some((target) => target instanceof HTMLElement && target.classList.contains("label-editor"))) return;
    this.events.paneFocused(pane);
    pane.root.focus({ preventScroll: true });
    if (!pane.picture) pane.retry();
    if (this.drag || !pane.picture) return;
    this.drag = this.startDrag(pane, event);
    if (!this.drag) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private startDrag(pane: Pane, event: PointerEvent): Drag | null {
    const paneChanged = (): void => this.events.paneChanged(pane);
    if (event.button === 2) return createWindowDrag(pane, event, paneChanged);
    if (event.button === 1 || (event.button === 0 && (this.isSpaceHeld || this.tool === "pan"))) return createPanDrag(pane, event, paneChanged);
    if (event.button !== 0) return null;
    if (this.tool === "window") return createWindowDrag(pane, event, paneChanged);
    if (this.tool === "ruler" || this.tool === "heart-ratio" || this.tool === "angle") return createMeasurementDrag(pane, event, this.tool);
    if (this.tool === "region") return withResult(createRectangleDrag(pane, event, true), (region) => this.applyRegion(pane, region));
    if (!event.shiftKey && pane.layer.isOnShape(pane.findPosition(event))) return null; // Konva handles the lines and handles of boxes
    return withResult(createRectangleDrag(pane, event, false), (box) => {
      if (box) this.events.boxDrawn(pane, box);
      else this.events.boxClicked(pane, this.boxAt(pane, event));
    });
  }

  private boxAt(pane: Pane, event: MouseEvent): number | null {
    return pane.layer.labelAt(pane.findPosition(event)) ?? pane.layer.boxAt(pane.findMatrixPosition(event));
  }

  private applyRegion(pane: Pane, region: Corners | null): void {
    if (region) setRegionWindow(pane, region);
    this.selectDefault();
    this.events.paneChanged(pane);
  }

  private handlePointerUp(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    drag?.finish(event);
    if (drag) this.events.toolChanged();
  }
}

/** A drag that passes its result to `onResult`. */
const withResult = (drag: Drag, onResult: (corners: Corners | null) => void): Drag => ({
  ...drag,
  finish: (event) => {
    const corners = drag.finish(event);
    onResult(corners);
    return corners;
  },
});
