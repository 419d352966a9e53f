// A line between two places and its length, over the image.

import { h } from "../shared/dom";
import { formatLength } from "./overlay-text";
import { toScreen, type View } from "./transform";
import type { Facts } from "./types";

export type MeasuredLine = [[number, number], [number, number]];

const SVG = "http://www.w3.org/2000/svg";

export class Ruler {
  readonly root = h("div", { class: "ruler" });
  measuredLine: MeasuredLine | null = null;
  private readonly line = document.createElementNS(SVG, "line");
  private readonly text = h("span");

  constructor() {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("aria-hidden", "true");
    svg.append(this.line);
    this.root.append(svg, this.text);
    this.root.hidden = true;
  }

  update(view: View, facts: Facts): void {
    this.root.hidden = !this.measuredLine;
    if (!this.measuredLine) return;
    const [from, to] = this.measuredLine;
    const [[x1, y1], [x2, y2]] = [toScreen(view, from), toScreen(view, to)];
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) this.line.setAttribute(name, value.toFixed(1));
    this.text.textContent = formatLength(facts, from, to);
    const [right, lower] = x1 > x2 ? [x1, y1] : [x2, y2];
    this.text.style.transform = `translate(${Math.min(right + 8, view.width - 180)}px, ${Math.min(Math.max(lower - 10, 0), view.height - 24)}px)`;
  }
}
