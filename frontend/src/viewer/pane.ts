// One radiograph on screen: its image, its boxes, what is written beside it, and how it is looked at now.

import { h } from "../shared/dom";
import { edgeLetters, pixelText, windowText } from "./facts";
import { Ruler, type Measured } from "./ruler";
import { greyTable } from "./lut";
import { BoxLayer, type LayerTold } from "./layer";
import { hasPixels, picture, type Picture } from "./pixels";
import { Screen } from "./render";
import { fitted, resized, toMatrix, UPRIGHT, zoomed, type View } from "./transform";
import type { Radiograph, Voi } from "./types";

/** How a radiograph is looked at; kept while one goes back and forth between questions. */
export interface Look {
  voi: Voi;
  invert: boolean;
  view: View;
}

const SLOW = 12; // milliseconds; a drag whose frames take longer is painted coarsely until it rests
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
  private magnify = false;
  private readonly screen = new Screen("image");
  private readonly lens = new Screen("lens");
  private readonly table = new Uint32Array(65_536);
  private readonly letters = (["top", "right", "bottom", "left"] as const).map((edge) => h("span", { class: `edge edge-${edge}` }));
  private readonly name = h("span", { class: "name" });
  private readonly status = h("span", { class: "status" });
  private readonly lack = h("span", { class: "lack", role: "status" });
  private readonly ruler = new Ruler();
  private readonly sizes: ResizeObserver;
  private frame = 0;
  private settle = 0;
  private tableStale = true;
  private busy = false;
  private ended = false;
  private failed = false;

  /** `painted` is called after every painting, `loadEnded` when the radiograph is loaded or could not be. */
  constructor(public radiograph: Radiograph, told: LayerTold, private readonly painted: (pane: Pane) => void, private readonly loadEnded: () => void) {
    const { rows = 1, columns = 1 } = radiograph;
    this.view = { width: 1, height: 1, ratio: 1, columns, rows, aspect: [1, 1], zoom: 1, x: columns / 2, y: rows / 2, turn: UPRIGHT };
    this.name.textContent = radiograph.view;
    const what = `Radiograph ${radiograph.id}, ${radiograph.view}. Tab selects a box, arrow keys move it.`;
    this.root = h("div", { class: "pane", tabindex: "0", role: "application", "aria-label": what, "data-radiograph": radiograph.id }, this.screen.canvas, this.boxesRoot, this.ruler.root, this.lens.canvas, this.name, this.status, this.lack, ...this.letters);
    this.lens.canvas.hidden = true;
    this.layer = new BoxLayer(this.boxesRoot, told);
    this.sizes = new ResizeObserver(() => this.fitPane());
    this.sizes.observe(this.root);
  }

  /** Fetch the matrix and show it, as it was looked at before or in its first window. */
  async load(before: Look | undefined): Promise<void> {
    const { radiograph } = this;
    if (!hasPixels(radiograph)) {
      this.lack.textContent = `The workspace has no image for ${radiograph.id} (${radiograph.view}).`;
      this.painted(this);
      return;
    }
    this.lack.textContent = "Loading …";
    try {
      this.picture = await picture(radiograph);
    } catch (problem) {
      this.lack.textContent = `The radiograph could not be loaded. ${problem instanceof Error ? problem.message : ""} Click here to retry.`;
      this.failed = true;
      if (!this.ended) this.loadEnded();
      return;
    }
    if (this.ended) return; // somebody went on before it was there
    const { facts, lack } = this.picture;
    this.lack.textContent = [lack, ...(facts.notes ?? [])].filter(Boolean).join(" · ");
    this.presets = this.picture.presets;
    this.view = { ...this.view, columns: facts.columns, rows: facts.rows, aspect: facts.aspect };
    this.voi = before?.voi ?? this.presets[0] ?? null;
    this.invert = before?.invert ?? false;
    this.view = before ? resized(before.view, this.view.width, this.view.height, this.view.ratio) : fitted(this.view);
    this.tableStale = true;
    this.fitPane();
    if (this.view.width > 1) this.paint();
    this.loadEnded();
  }

  /** Ask again for what could not be had. */
  tryAgain(): void {
    if (!this.failed) return;
    this.failed = false;
    void this.load(undefined);
  }

  /** Whether its image is loaded. */
  get loadState(): "loaded" | "loading" | "failed" {
    if (this.failed) return "failed";
    return this.picture ? "loaded" : "loading";
  }

  look(): Look | null {
    return this.voi && this.picture ? { voi: this.voi, invert: this.invert, view: this.view } : null;
  }

  setVoi(voi: Voi, invert = this.invert): void {
    this.voi = voi;
    this.invert = invert;
    this.tableStale = true;
    this.ask();
  }

  setView(view: View): void {
    this.view = view;
    this.ask();
  }

  zoomBy(factor: number, anchor?: [number, number]): void {
    this.setView(zoomed(this.view, this.view.zoom * factor, anchor));
  }

  /** One pixel of the matrix to one of the screen. */
  oneToOne(): void {
    this.setView(zoomed(this.view, 1, this.pointer ?? undefined));
  }

  setRuler(measured: Measured | null): void {
    this.ruler.measured = measured;
    this.ask();
  }

  /** Where an event happened, in CSS pixels of the pane. */
  place(event: MouseEvent): [number, number] {
    const { left, top } = this.root.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** Where an event happened, in pixels of the matrix. */
  matrixPlace(event: MouseEvent): [number, number] {
    return toMatrix(this.view, this.place(event));
  }

  /** The pointer has moved: what stands beside the image, and the lens. */
  say(): void {
    this.write();
    this.drawLens();
  }

  setMagnify(on: boolean): void {
    this.magnify = on;
    this.drawLens();
  }

  /** A drag is on: frames before beauty. */
  setBusy(on: boolean): void {
    this.busy = on;
    if (!on) this.ask();
  }

  /** Paint with the next frame. */
  ask(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
  }

  fitPane(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width < 2 || height < 2) return;
    if (width === this.view.width && height === this.view.height && this.view.ratio === devicePixelRatio) return;
    this.view = resized(this.view, width, height, devicePixelRatio);
    if (this.picture) this.paint(); // at once: another size must not flash
  }

  end(): void {
    this.ended = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settle);
    this.sizes.disconnect();
    this.layer.end();
    this.root.remove();
  }

  private paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.picture || !this.voi || this.view.width < 2) return;
    const { facts, levels, values } = this.picture;
    if (this.tableStale) greyTable(facts, values, this.voi, this.invert, this.table);
    this.tableStale = false;
    const coarse = this.busy && this.screen.cost > SLOW;
    this.screen.draw(levels, this.view, this.table, coarse);
    this.layer.place(this.view);
    this.ruler.place(this.view, facts);
    this.write();
    this.drawLens();
    if (coarse) {
      clearTimeout(this.settle);
      this.settle = window.setTimeout(() => this.paintSharp(), 120);
    }
    this.painted(this);
  }

  private paintSharp(): void {
    if (!this.picture) return;
    this.screen.draw(this.picture.levels, this.view, this.table);
  }

  /** A round part of the image at three times its size, under the pointer. */
  private drawLens(): void {
    const { canvas } = this.lens;
    canvas.hidden = !this.magnify || !this.pointer || !this.picture;
    if (canvas.hidden || !this.pointer || !this.picture) return;
    const [left, top] = this.pointer;
    const [x, y] = toMatrix(this.view, this.pointer); // goes into the middle of the lens
    this.lens.draw(this.picture.levels, { ...this.view, width: MAGNIFIER, height: MAGNIFIER, zoom: 3 * this.view.zoom, x, y }, this.table);
    canvas.style.transform = `translate(${left - MAGNIFIER / 2}px, ${top - MAGNIFIER / 2}px)`;
  }

  private write(): void {
    if (!this.picture || !this.voi) return;
    const { facts, levels, values } = this.picture;
    const under = this.pointer ? pixelText(facts, levels[0].matrix, values, toMatrix(this.view, this.pointer)) : "";
    const inverted = this.invert ? " inverted" : "";
    this.status.textContent = [`${Math.round(this.view.zoom * 100)} %`, windowText(this.voi) + inverted, under].filter(Boolean).join(" · ");
    const edges = edgeLetters(facts.orientation, this.view.turn);
    (["top", "right", "bottom", "left"] as const).forEach((edge, at) => (this.letters[at]!.textContent = edges?.[edge] ?? ""));
    const turn = this.view.turn.join();
    this.name.textContent = `${this.radiograph.view}${turn === UPRIGHT.join() ? "" : " · rotated or mirrored"}`;
  }
}
