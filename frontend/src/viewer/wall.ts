// The radiographs of an exam as they hang: one at a time or side by side, looked at each by itself or linked.

import { h } from "../shared/dom";
import { addressOf, hung } from "./hanging";
import type { LayerTold } from "./layer";
import { link } from "./linked";
import { Pane, type Look } from "./pane";
import { hasPixels } from "./pixels";
import type { ImageState, Radiograph } from "./types";

const TOGETHER = "overread-side-by-side";

export interface WallTold {
  added: (pane: Pane) => void;
  gone: (pane: Pane) => void;
  /** The radiograph in front is on screen. */
  drawn: () => void;
  /** A radiograph of the exam is loaded, or could not be. */
  loadEnded: () => void;
  /** Another one is in front, or it is looked at otherwise. */
  changed: () => void;
  layer: (pane: () => Pane) => LayerTold;
}

export class Wall {
  readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Radiographs of the exam" });
  readonly root = h("div", { class: "panes" });
  order: Pane[] = [];
  front: Pane | null = null;
  linked = false;
  magnify = false;
  together = localStorage.getItem(TOGETHER) === "yes";
  private readonly looks = new Map<string, Look>();
  private readonly known = new Map<string, Pane>();
  private readonly painted = new Set<Pane>();

  constructor(private readonly told: WallTold) {}

  /** Hang the radiographs of an exam; those that hang already stay as they are. */
  hang(radiographs: readonly Radiograph[]): void {
    const hanging = hung(radiographs);
    this.takeDown(new Set(hanging.map(addressOf)));
    const fresh = hanging.filter((radiograph) => !this.known.has(addressOf(radiograph)));
    this.order = hanging.map((radiograph) => this.paneOf(radiograph));
    this.reload(); // what failed for the last question of this exam
    const front = this.order.find((pane) => pane === this.front) ?? this.order[0];
    void this.load(this.order.filter(({ radiograph }) => fresh.includes(radiograph)), front);
    if (front) this.bringForward(front);
    else this.root.replaceChildren(); // an exam without radiographs
  }

  /**
   * Whether the images of the exam are on screen. A radiograph behind the one in front counts as drawn once it is
   * loaded; one without pixels in the workspace is not waited for.
   */
  get imageState(): ImageState {
    const panes = this.order.filter(({ radiograph }) => hasPixels(radiograph));
    if (panes.length === 0) return "none";
    if (panes.some((pane) => pane.loadState === "failed")) return "failed";
    if (panes.some((pane) => pane.loadState === "loading")) return "loading";
    const isFrontDrawn = !this.front || !panes.includes(this.front) || this.painted.has(this.front);
    return isFrontDrawn ? "drawn" : "loading";
  }

  /** Load again what could not be loaded. */
  reload(): void {
    for (const pane of this.order) pane.tryAgain();
  }

  of(radiograph: string | undefined): Pane | undefined {
    return this.order.find((pane) => pane.radiograph.id === radiograph);
  }

  next(): void {
    if (this.front && this.order.length > 1) this.bringForward(this.order[(this.order.indexOf(this.front) + 1) % this.order.length]!);
  }

  bringForward(pane: Pane): void {
    this.front = pane;
    const shown = this.together ? this.order : [pane];
    const isAsWas = this.root.children.length === shown.length && shown.every((each, at) => this.root.children[at] === each.root);
    if (!isAsWas) this.root.replaceChildren(...shown.map((each) => each.root));
    for (const each of this.order) each.root.classList.toggle("front", each === pane && shown.length > 1);
    this.tabs.replaceChildren(...(this.order.length > 1 ? this.order.map((each, at) => this.tab(each, at)) : []));
    this.fit();
    this.told.changed();
    if (this.painted.has(pane)) this.told.drawn();
  }

  /** The image of a pane was moved, zoomed or windowed. */
  moved(pane: Pane): void {
    if (this.linked && this.together) for (const other of this.order) if (other !== pane) link(pane, other);
    this.told.changed();
  }

  toggle(what: "together" | "linked" | "magnify"): void {
    this[what] = !this[what];
    if (what === "magnify") for (const pane of this.known.values()) pane.setMagnify(this.magnify);
    if (what !== "together") return;
    localStorage.setItem(TOGETHER, this.together ? "yes" : "no");
    if (this.front) this.bringForward(this.front);
  }

  fit(): void {
    for (const pane of this.order) pane.fitPane();
  }

  /** Take all radiographs down and forget how they were looked at. */
  clear(): void {
    this.takeDown(new Set());
    this.looks.clear();
    this.order = [];
    this.front = null;
    this.root.replaceChildren(h("p", { class: "taken-back" }, "This question is no longer assigned to you."));
    this.tabs.replaceChildren();
  }

  end(): void {
    this.takeDown(new Set());
  }

  private tab(pane: Pane, at: number): HTMLElement {
    const isFront = String(pane === this.front);
    return h("button", { type: "button", "aria-pressed": isFront, title: "Next radiograph (L)", onclick: () => this.bringForward(pane) }, `${at + 1}. ${pane.radiograph.view}`);
  }

  private paneOf(radiograph: Radiograph): Pane {
    const address = addressOf(radiograph);
    const there = this.known.get(address);
    if (there) {
      there.radiograph = radiograph;
      return there;
    }
    const pane: Pane = new Pane(radiograph, this.told.layer(() => pane), () => this.hasPainted(pane), () => this.told.loadEnded());
    pane.setMagnify(this.magnify);
    this.known.set(address, pane);
    this.told.added(pane);
    return pane;
  }

  /** One after the other, the one in front first: unpacking another would keep it from the screen. */
  private async load(panes: readonly Pane[], front: Pane | undefined): Promise<void> {
    for (const pane of [...panes].sort((some, other) => Number(other === front) - Number(some === front))) {
      const address = addressOf(pane.radiograph);
      if (this.known.get(address) !== pane) continue; // somebody went on
      await pane.load(this.looks.get(address));
      this.told.changed();
    }
  }

  /** Of radiographs that go, how they were looked at is kept: one may come back to them. */
  private takeDown(wanted: ReadonlySet<string>): void {
    for (const [address, pane] of this.known) {
      if (wanted.has(address)) continue;
      const look = pane.look();
      if (look) this.looks.set(address, look);
      pane.end();
      this.told.gone(pane);
      this.known.delete(address);
      this.painted.delete(pane);
    }
  }

  private hasPainted(pane: Pane): void {
    if (this.painted.has(pane)) return;
    this.painted.add(pane);
    if (pane === this.front) this.told.drawn();
  }
}
