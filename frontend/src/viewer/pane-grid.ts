// The panes of an exam's radiographs: one at a time or side by side, independent or linked.

import { h } from "../shared/dom";
import { keyHint } from "../shared/shortcuts";
import { getAddress, sortForHanging } from "./hanging-order";
import type { BoxLayerEvents } from "./box-layer";
import { syncView } from "./linked-views";
import { Pane, type DisplayState } from "./pane";
import { hasPixels } from "./picture-cache";
import type { ImageState, Radiograph } from "./types";

const SIDE_BY_SIDE_KEY = "overread-side-by-side";

export interface PaneGridEvents {
  paneAdded: (pane: Pane) => void;
  paneRemoved: (pane: Pane) => void;
  /** The radiograph in front is on screen. */
  imageDrawn: () => void;
  /** A radiograph of the exam was loaded or failed to load. */
  loadEnded: () => void;
  /** Another radiograph is in front, or its view has changed. */
  viewChanged: () => void;
  createLayerEvents: (pane: () => Pane) => BoxLayerEvents;
}

export class PaneGrid {
  readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "Radiographs of the exam" });
  readonly root = h("div", { class: "panes" });
  orderedPanes: Pane[] = [];
  front: Pane | null = null;
  isLinked = false;
  isMagnifying = false;
  isSideBySide = localStorage.getItem(SIDE_BY_SIDE_KEY) === "yes";
  private readonly displayStates = new Map<string, DisplayState>();
  private readonly panesByAddress = new Map<string, Pane>();
  private readonly paintedPanes = new Set<Pane>();

  constructor(private readonly events: PaneGridEvents) {}

  /** Show the radiographs of an exam. Existing panes stay as they are. */
  showRadiographs(radiographs: readonly Radiograph[]): void {
    const sorted = sortForHanging(radiographs);
    this.removePanes(new Set(sorted.map(getAddress)));
    const added = sorted.filter((radiograph) => !this.panesByAddress.has(getAddress(radiograph)));
    this.orderedPanes = sorted.map((radiograph) => this.getOrCreatePane(radiograph));
    this.reload(); // retries what failed for the last question of this exam
    const front = this.orderedPanes.find((pane) => pane === this.front) ?? this.orderedPanes[0];
    void this.load(this.orderedPanes.filter(({ radiograph }) => added.includes(radiograph)), front);
    if (front) this.bringToFront(front);
    else this.root.replaceChildren(); // an exam without radiographs
  }

  /**
   * Whether the images of the exam are on screen. A radiograph that is not in front counts as drawn once it is
   * loaded. Radiographs without pixels in the workspace are ignored.
   */
  get imageState(): ImageState {
    const panes = this.orderedPanes.filter(({ radiograph }) => hasPixels(radiograph));
    if (panes.length === 0) return "none";
    if (panes.some((pane) => pane.loadState === "failed")) return "failed";
    if (panes.some((pane) => pane.loadState === "loading")) return "loading";
    const isFrontDrawn = !this.front || !panes.includes(this.front) || this.paintedPanes.has(this.front);
    return isFrontDrawn ? "drawn" : "loading";
  }

  /** Reload what failed to load. */
  reload(): void {
    for (const pane of this.orderedPanes) pane.retry();
  }

  findPane(radiograph: string | undefined): Pane | undefined {
    return this.orderedPanes.find((pane) => pane.radiograph.id === radiograph);
  }

  showNext(): void {
    if (this.front && this.orderedPanes.length > 1) this.bringToFront(this.orderedPanes[(this.orderedPanes.indexOf(this.front) + 1) % this.orderedPanes.length]!);
  }

  bringToFront(pane: Pane): void {
    this.front = pane;
    const visible = this.isSideBySide ? this.orderedPanes : [pane];
    const isUnchanged = this.root.children.length === visible.length && visible.every((orderedPane, index) => this.root.children[index] === orderedPane.root);
    if (!isUnchanged) this.root.replaceChildren(...visible.map((orderedPane) => orderedPane.root));
    for (const orderedPane of this.orderedPanes) orderedPane.root.classList.toggle("front", orderedPane === pane && visible.length > 1);
    this.tabs.replaceChildren(...(this.orderedPanes.length > 1 ? this.orderedPanes.map((orderedPane, index) => this.createTab(orderedPane, index)) : []));
    this.fit();
    this.events.viewChanged();
    if (this.paintedPanes.has(pane)) this.events.imageDrawn();
  }

  /** The image of a pane was moved, zoomed or windowed. */
  paneChanged(pane: Pane): void {
    if (this.isLinked && this.isSideBySide) for (const otherPane of this.orderedPanes) if (otherPane !== pane) syncView(pane, otherPane);
    this.events.viewChanged();
  }

  toggle(setting: "isSideBySide" | "isLinked" | "isMagnifying"): void {
    this[setting] = !this[setting];
    if (setting === "isMagnifying") for (const pane of this.panesByAddress.values()) pane.setMagnifier(this.isMagnifying);
    if (setting !== "isSideBySide") return;
    localStorage.setItem(SIDE_BY_SIDE_KEY, this.isSideBySide ? "yes" : "no");
    if (this.front) this.bringToFront(this.front);
  }

  fit(): void {
    for (const pane of this.orderedPanes) pane.updateSize();
  }

  /** Remove all panes and their display states. */
  clear(): void {
    this.removePanes(new Set());
    this.displayStates.clear();
    this.orderedPanes = [];
    this.front = null;
    this.root.replaceChildren(h("p", { class: "taken-back" }, "This question is no longer assigned to you."));
    this.tabs.replaceChildren();
  }

  end(): void {
    this.removePanes(new Set());
  }

  private createTab(pane: Pane, index: number): HTMLElement {
    const isFront = String(pane === this.front);
    return h("button", { type: "button", "aria-pressed": isFront, title: `Show this radiograph; next radiograph${keyHint("next-radiograph")}`, onclick: () => this.bringToFront(pane) }, `${index + 1}. ${pane.radiograph.view}`);
  }

  private getOrCreatePane(radiograph: Radiograph): Pane {
    const address = getAddress(radiograph);
    const existing = this.panesByAddress.get(address);
    if (existing) {
      existing.radiograph = radiograph;
      return existing;
    }
    const pane: Pane = new Pane(radiograph, this.events.createLayerEvents(() => pane), () => this.markPainted(pane), () => this.events.loadEnded());
    pane.setMagnifier(this.isMagnifying);
    this.panesByAddress.set(address, pane);
    this.events.paneAdded(pane);
    return pane;
  }

  /** Load panes one after the other, the front pane first, so that others do not delay it. */
  private async load(panes: readonly Pane[], front: Pane | undefined): Promise<void> {
    for (const pane of [...panes].sort((first, second) => Number(second === front) - Number(first === front))) {
      const address = getAddress(pane.radiograph);
      if (this.panesByAddress.get(address) !== pane) continue; // the pane was removed meanwhile
      await pane.load(this.displayStates.get(address));
      this.events.viewChanged();
    }
  }

  /** Remove all panes but those of `keptAddresses`, and store their display states for a later return. */
  private removePanes(keptAddresses: ReadonlySet<string>): void {
    for (const [address, pane] of this.panesByAddress) {
      if (keptAddresses.has(address)) continue;
      const displayState = pane.getDisplayState();
      if (displayState) this.displayStates.set(address, displayState);
      pane.end();
      this.events.paneRemoved(pane);
      this.panesByAddress.delete(address);
      this.paintedPanes.delete(pane);
    }
  }

  private markPainted(pane: Pane): void {
    if (this.paintedPanes.has(pane)) return;
    this.paintedPanes.add(pane);
    if (pane === this.front) this.events.imageDrawn();
  }
}
