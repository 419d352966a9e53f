// Announces the selected box to screen readers.

import { h } from "../shared/dom";
import type { PaneBox } from "./pane-boxes";

const ANNOUNCE_DELAY = 250; // milliseconds without a further change; otherwise each step of a held arrow key would be read out

/** A sentence that describes the selected box; empty without a selection. */
export function describeSelection(boxes: readonly PaneBox[]): string {
  const box = boxes.find(({ selected }) => selected);
  if (!box) return "";
  const origin = box.isOriginal ? "original" : "yours";
  const position = `Box ${boxes.indexOf(box) + 1} of ${boxes.length}, ${box.view.radiograph.view}`;
  return `${position}: ${box.label || "no label"}, ${origin}, ${box.width} by ${box.height} pixels at column ${box.x}, row ${box.y}.`;
}

export class SelectionAnnouncer {
  readonly root = h("span", { class: "spoken", role: "status" });
  private timer = 0;

  announce(text: string): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (this.root.textContent !== text) this.root.textContent = text;
    }, ANNOUNCE_DELAY);
  }
}
