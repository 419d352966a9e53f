// One radiograph on screen: its image, boxes, text overlays and display state.

import { h } from "../shared/dom";
import { findEdgeLetters, formatPixel, formatWindow } from "./overlay-text";
import { MeasurementOverlay } from "./measurement-overlay";
import type { Measurement } from "./measurements";
import { buildGreyTable } from "./lut";
import { BoxLayer, type BoxLayerEvents } from "./box-layer";
import { hasPixels, loadPicture, type Picture } from "./picture-cache";
import { ImageCanvas } from "./render";
import { fitView, resizeView, toMatrix, UPRIGHT_ORIENTATION, zoomView, type View } from "./transform";
import type { Radiograph, Voi } from "./types";

/** The window and view of a radiograph, kept while the person moves between questions. */
export interface DisplayState {
  voi: Voi;
  invert: boolean;
  view: View;
}

const SLOW = 12; // milliseconds; if frames take longer, they are coarse until the drag rests
const MAGNIFIER = 220; // CSS pixels

export class Pane {
  readonly root: HTMLDivElement;
  readonly layer: BoxLayer;
  readonly boxesRoot = h("div", { class: "boxes-place" });
  picture: Picture | null = null;
  presets: Voi[] = [];
  voi: Voi | null = null;
  invert = false;
  view: View;
  pointer: [number, number] | null = null;
  private isMagnifying = false;
  private readonly imageCanvas = new ImageCanvas("image");
  private readonly magnifierCanvas = new ImageCanvas("lens");
  private readonly table = new Uint32Array(65_536);
  private readonly edgeLetters = (["top", "right", "bottom", "left"] as const).map((edge) => h("span", { class: `edge edge-${edge}` }));
  private readonly viewName = h("span", { class: "name" });
  private readonly statusText = h("span", { class: "status" });
  private readonly notice = h("span", { class: "notice", role: "status" });
  private readonly overlay = new MeasurementOverlay();
  private readonly resizeObserver: ResizeObserver;
  private frame = 0;
  private sharpTimer = 0;
  private isTableStale = true;
  private isBusy = false;
  private isEnded = false;
  private hasFailed = false;

  /** `onPainted` runs after every paint, `onLoadEnded` when loading succeeds or fails. */
  constructor(public radiograph: Radiograph, layerEvents: BoxLayerEvents, private readonly onPainted: (pane: Pane) => void, private readonly onLoadEnded: () => void) {
    const { rows = 1, columns = 1 } = radiograph;
    this.view = { width: 1, height: 1, ratio: 1, columns, rows, aspect: [1, 1], zoom: 1, x: columns / 2, y: rows / 2, orientation: UPRIGHT_ORIENTATION };
    this.viewName.textContent = radiograph.view;
    const description = `Radiograph ${radiograph.id}, ${radiograph.view}. Tab selects a box, arrow keys move it.`;
    this.root = h("div", { class: "pane", tabindex: "0", role: "application", "aria-label": description, "data-radiograph": radiograph.id }, this.imageCanvas.canvas, this.boxesRoot, this.overlay.root, this.magnifierCanvas.canvas, this.viewName, this.statusText, this.notice, ...this.edgeLetters);
    this.magnifierCanvas.canvas.hidden = true;
    this.layer = new BoxLayer(this.boxesRoot, layerEvents);
    this.resizeObserver = new ResizeObserver(() => this.updateSize());
    this.resizeObserver.observe(this.root);
  }

  /** Fetch the matrix and show it with its earlier display state or with the first preset. */
  async load(before: DisplayState | undefined): Promise<void> {
    const { radiograph } = this;
    if (!hasPixels(radiograph)) {
      this.notice.textContent = `The workspace has no image for ${radiograph.id} (${radiograph.view}).`;
      this.onPainted(this);
      return;
    }
    this.notice.textContent = "Loading …";
    try {
      this.picture = await loadPicture(radiograph);
    } catch (problem) {
      this.notice.textContent = `The radiograph could not be loaded. ${problem instanceof Error ? problem.message : ""} Click here to retry.`;
      this.hasFailed = true;
      if (!this.isEnded) this.onLoadEnded();
      return;
    }
    if (this.isEnded) return; // the pane was removed before the image was loaded
    const { metadata, limitation } = this.picture;
    this.notice.textContent = [limitation, ...(metadata.notes ?? [])].filter(Boolean).join(" · ");
    this.presets = this.picture.presets;
    this.view = { ...this.view, columns: metadata.columns, rows: metadata.rows, aspect: metadata.aspect };
    this.voi = before?.voi ?? this.presets[0] ?? null;
    this.invert = before?.invert ?? false;
    this.view = before ? resizeView(before.view, this.view.width, this.view.height, this.view.ratio) : fitView(this.view);
    this.isTableStale = true;
    this.updateSize();
    if (this.view.width > 1) this.paint();
    this.onLoadEnded();
  }

  /** Load again after a failure. */
  retry(): void {
    if (!this.hasFailed) return;
    this.hasFailed = false;
    void this.load(undefined);
  }

  /** Whether the image is loaded. */
  get loadState(): "loaded" | "loading" | "failed" {
    if (this.hasFailed) return "failed";
    return this.picture ? "loaded" : "loading";
  }

  getDisplayState(): DisplayState | null {
    return this.voi && this.picture ? { voi: this.voi, invert: this.invert, view: this.view } : null;
  }

  setVoi(voi: Voi, invert = this.invert): void {
    this.voi = voi;
    this.invert = invert;
    this.isTableStale = true;
    this.requestPaint();
  }

  setView(view: View): void {
    this.view = view;
    this.requestPaint();
  }

  zoomBy(factor: number, anchor?: [number, number]): void {
    this.setView(zoomView(this.view, this.view.zoom * factor, anchor));
  }

  /** Show one pixel of the matrix per device pixel. */
  showActualSize(): void {
    this.setView(zoomView(this.view, 1, this.pointer ?? undefined));
  }

  get measurement(): Measurement | null {
    return this.overlay.measurement;
  }

  setMeasurement(measurement: Measurement | null): void {
    this.overlay.measurement = measurement;
    this.requestPaint();
  }

  /** The end of a measured line at a point in CSS pixels of the pane. */
  findMeasuredEnd(point: [number, number]): { lineIndex: number; endIndex: number } | null {
    return this.overlay.findEnd(this.view, point);
  }

  /** Where an event happened, in CSS pixels of the pane. */
  findPosition(event: MouseEvent): [number, number] {
    const { left, top } = this.root.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** Where an event happened, in pixels of the matrix. */
  findMatrixPosition(event: MouseEvent): [number, number] {
    return toMatrix(this.view, this.findPosition(event));
  }

  /** Update the pixel value and the magnifier after a pointer move. */
  showPointerValue(): void {
    this.writeText();
    this.drawMagnifier();
  }

  setMagnifier(enabled: boolean): void {
    this.isMagnifying = enabled;
    this.drawMagnifier();
  }

  /** Prefer frame rate to quality during a drag. */
  setBusy(enabled: boolean): void {
    this.isBusy = enabled;
    if (!enabled) this.requestPaint();
  }

  /** Paint with the next frame. */
  requestPaint(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
  }

  updateSize(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width < 2 || height < 2) return;
    if (width === this.view.width && height === this.view.height && this.view.ratio === devicePixelRatio) return;
    this.view = resizeView(this.view, width, height, devicePixelRatio);
    if (this.picture) this.paint(); // at once, so that the old size does not flash
  }

  end(): void {
    this.isEnded = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.sharpTimer);
    this.resizeObserver.disconnect();
    this.layer.end();
    this.root.remove();
  }

  private paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.picture || !this.voi || this.view.width < 2) return;
    const { metadata, levels, values } = this.picture;
    if (this.isTableStale) buildGreyTable(metadata, values, this.voi, this.invert, this.table);
    this.isTableStale = false;
    const isCoarse = this.isBusy && this.imageCanvas.lastFrameTime > SLOW;
    this.imageCanvas.draw(levels, this.view, this.table, isCoarse);
    this.layer.applyView(this.view);
    this.overlay.update(this.view, metadata);
    this.writeText();
    this.drawMagnifier();
    if (isCoarse) {
      clearTimeout(this.sharpTimer);
      this.sharpTimer = window.setTimeout(() => this.paintSharp(), 120);
    }
    this.onPainted(this);
  }

  private paintSharp(): void {
    if (!this.picture) return;
    this.imageCanvas.draw(this.picture.levels, this.view, this.table);
  }

  /** Draw the part of the image under the pointer, round and at three times its size. */
  private drawMagnifier(): void {
    const { canvas } = this.magnifierCanvas;
    canvas.hidden = !this.isMagnifying || !this.pointer || !this.picture;
    if (canvas.hidden || !this.pointer || !this.picture) return;
    const [left, top] = this.pointer;
    const [x, y] = toMatrix(this.view, this.pointer); // goes into the middle of the lens
    this.magnifierCanvas.draw(this.picture.levels, { ...this.view, width: MAGNIFIER, height: MAGNIFIER, zoom: 3 * this.view.zoom, x, y }, this.table);
    canvas.style.transform = `translate(${left - MAGNIFIER / 2}px, ${top - MAGNIFIER / 2}px)`;
  }

  private writeText(): void {
    if (!this.picture || !this.voi) return;
    const { metadata, levels, values } = this.picture;
    const pointerText = this.pointer ? formatPixel(metadata, levels[0].matrix, values, toMatrix(this.view, this.pointer)) : "";
    const invertedSuffix = this.invert ? " inverted" : "";
    this.statusText.textContent = [`${Math.round(this.view.zoom * 100)} %`, formatWindow(this.voi) + invertedSuffix, pointerText].filter(Boolean).join(" · ");
    const edges = findEdgeLetters(metadata.orientation, this.view.orientation);
    (["top", "right", "bottom", "left"] as const).forEach((edge, index) => (this.edgeLetters[index]!.textContent = edges?.[edge] ?? ""));
    const orientation = this.view.orientation.join();
    this.viewName.textContent = `${this.radiograph.view}${orientation === UPRIGHT_ORIENTATION.join() ? "" : " · rotated or mirrored"}`;
  }
}
