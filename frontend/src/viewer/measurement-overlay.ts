// The lines of a measurement and its text, over the image.

import { h } from "../shared/dom";
import { formatMeasurement, type Measurement, type Point } from "./measurements";
import { toScreen, type View } from "./transform";
import type { ImageMetadata } from "./types";

const SVG = "http://www.w3.org/2000/svg";
const GRIP = 9; // CSS pixels around an end within which a drag moves it

export class MeasurementOverlay {
  readonly root = h("div", { class: "ruler" });
  measurement: Measurement | null = null;
  private readonly lines = [0, 1].map(() => document.createElementNS(SVG, "line"));
  private readonly text = h("span", { role: "status" });

  constructor() {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("aria-hidden", "true");
    svg.append(...this.lines);
    this.root.append(svg, this.text);
    this.root.hidden = true;
  }

  update(view: View, metadata: ImageMetadata): void {
    const { measurement } = this;
    this.root.hidden = !measurement;
    if (!measurement) return;
    this.lines.forEach((element, index) => {
      const line = measurement.lines[index];
      element.style.display = line ? "" : "none";
      if (!line) return;
      const [[x1, y1], [x2, y2]] = [toScreen(view, line[0]), toScreen(view, line[1])];
      for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) element.setAttribute(name, value.toFixed(1));
    });
    this.text.textContent = formatMeasurement(metadata, measurement);
    const ends = (measurement.lines[1] ?? measurement.lines[0]).map((end) => toScreen(view, end));
    const [right, lower] = ends[0]![0] > ends[1]![0] ? ends[0]! : ends[1]!;
    const width = this.text.offsetWidth || 180;
    this.text.style.transform = `translate(${Math.max(0, Math.min(right + 8, view.width - width - 4))}px, ${Math.min(Math.max(lower - 10, 0), view.height - 24)}px)`;
  }

  /** The line end at a point in CSS pixels of the pane; null if there is none. */
  findEnd(view: View, [x, y]: Point): { lineIndex: number; endIndex: number } | null {
    for (const [lineIndex, line] of (this.measurement?.lines ?? []).entries())
      for (const [endIndex, end] of line.entries()) {
        const [left, top] = toScreen(view, end);
        if (Math.hypot(left - x, top - y) <= GRIP) return { lineIndex, endIndex };
      }
    return null;
  }
}
