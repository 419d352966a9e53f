// Which parts of a question have been displayed. A judgement is saved only after all of them were displayed.

import { listen } from "./dom";

/** A part of a question that must be displayed before a judgement is saved. */
export interface Material {
  /** As it is named in a message: "the explanation". */
  name: string;
  selector: string;
}

/** A vertical part of an element, as fractions of its height. */
type Band = readonly [from: number, to: number];

const TOLERANCE = 4; // pixels at the edge of an element that need not have been displayed

export class DisplayedMaterial {
  private materials: readonly Material[] = [];
  /** What was displayed of each material, in order and without overlap. */
  private readonly bands = new Map<string, Band[]>();
  private readonly resizeObserver: ResizeObserver;
  private readonly cleanups: (() => void)[];
  private frame = 0;

  constructor(private readonly root: HTMLElement) {
    this.resizeObserver = new ResizeObserver(() => this.measureSoon());
    this.resizeObserver.observe(root);
    const measure = (): void => this.measureSoon();
    this.cleanups = [listen(document, "scroll", measure, { capture: true }), listen(document, "visibilitychange", measure), listen(window, "resize", measure), () => this.resizeObserver.disconnect(), () => cancelAnimationFrame(this.frame)];
    root.addEventListener("scroll", measure, { capture: true }); // scroll events do not leave the shadow root
  }

  /** Start with another question, of which nothing has been displayed yet. */
  show(materials: readonly Material[]): void {
    this.materials = materials;
    this.bands.clear();
    this.measureSoon();
  }

  /** What has not been displayed in full. */
  findUndisplayed(): Material[] {
    this.measure();
    return this.materials.filter(({ name, selector }) => this.root.querySelector(selector) !== null && this.findGap(name) !== null);
  }

  /** Scroll to the first part of a material that was not displayed. */
  reveal({ name, selector }: Material): void {
    const element = this.root.querySelector(selector);
    const gap = this.findGap(name) ?? 0;
    element?.scrollIntoView({ block: gap > 0 ? "start" : "nearest" });
    if (element && gap > 0) findScroller(element)?.scrollBy(0, gap * element.getBoundingClientRect().height - TOLERANCE);
    this.measure();
  }

  measureSoon(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.measure());
  }

  end(): void {
    for (const end of this.cleanups) end();
  }

  private measure(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (document.hidden) return;
    for (const { name, selector } of this.materials) {
      if (this.findGap(name) === null) continue;
      const element = this.root.querySelector(selector);
      const band = element && this.findVisibleBand(element);
      if (band) this.bands.set(name, mergeBands([...(this.bands.get(name) ?? []), band]));
    }
  }

  /** The start of the first part that was not displayed, as a fraction of the height; null if all was displayed. */
  private findGap(name: string): number | null {
    const [first] = this.bands.get(name) ?? [];
    if (!first || first[0] > 0) return 0;
    return first[1] < 1 ? first[1] : null;
  }

  private findVisibleBand(element: Element): Band | null {
    const { top, bottom, left, right, height } = element.getBoundingClientRect();
    if (height === 0) return null;
    let [visibleTop, visibleBottom] = [Math.max(top, 0), Math.min(bottom, window.innerHeight)];
    let [visibleLeft, visibleRight] = [Math.max(left, 0), Math.min(right, window.innerWidth)];
    for (const clip of this.listClips(element)) {
      [visibleTop, visibleBottom] = [Math.max(visibleTop, clip.top), Math.min(visibleBottom, clip.bottom)];
      [visibleLeft, visibleRight] = [Math.max(visibleLeft, clip.left), Math.min(visibleRight, clip.right)];
    }
    if (visibleBottom <= visibleTop || visibleRight - visibleLeft < (right - left) / 2) return null;
    const from = visibleTop - top <= TOLERANCE ? 0 : (visibleTop - top) / height;
    const to = bottom - visibleBottom <= TOLERANCE ? 1 : (visibleBottom - top) / height;
    return [from, to];
  }

  /** The rectangles that limit the visible part of an element: the scrolling elements around it, and the sticky bar at the bottom. */
  private listClips(element: Element): { top: number; bottom: number; left: number; right: number }[] {
    const clips = [];
    const fullScreenElement = (this.root.getRootNode() as ShadowRoot | Document).fullscreenElement;
    for (let ancestor = element.parentElement; ancestor && ancestor !== fullScreenElement; ancestor = findParent(ancestor)) {
      if (getComputedStyle(ancestor).overflowY !== "visible") clips.push(ancestor.getBoundingClientRect());
    }
    const bar = this.root.querySelector(".bar");
    if (bar && getComputedStyle(bar).position === "sticky") clips.push({ top: 0, bottom: bar.getBoundingClientRect().top, left: 0, right: window.innerWidth });
    return clips;
  }
}

function findScroller(element: Element): Element | null {
  let ancestor = findParent(element);
  while (ancestor && !(["auto", "scroll"].includes(getComputedStyle(ancestor).overflowY) && ancestor.scrollHeight > ancestor.clientHeight)) ancestor = findParent(ancestor);
  return ancestor;
}

function findParent(element: Element): HTMLElement | null {
  if (element.parentElement) return element.parentElement;
  const rootNode = element.getRootNode();
  return rootNode instanceof ShadowRoot ? (rootNode.host as HTMLElement) : null;
}

function mergeBands(bands: readonly Band[]): Band[] {
  const merged: Band[] = [];
  for (const band of [...bands].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && band[0] <= last[1] + 0.001) merged[merged.length - 1] = [last[0], Math.max(last[1], band[1])];
    else merged.push(band);
  }
  return merged;
}
