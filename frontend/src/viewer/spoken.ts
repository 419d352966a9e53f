// What a screen reader is told of the chosen box: it can't see which one is marked.

import { h } from "../shared/dom";
import type { Listed } from "./listed";

const REST = 250; // milliseconds without a further step, so that a held arrow key is not read out pixel by pixel

/** One sentence about the chosen one of the boxes; empty when none is. */
export function sentence(boxes: readonly Listed[]): string {
  const box = boxes.find(({ chosen }) => chosen);
  if (!box) return "";
  const whose = box.machine ? "original" : "yours";
  const which = `Box ${boxes.indexOf(box) + 1} of ${boxes.length}, ${box.view.radiograph.view}`;
  return `${which}: ${box.label || "no label"}, ${whose}, ${box.width} by ${box.height} pixels at column ${box.x}, row ${box.y}.`;
}

export class Spoken {
  readonly root = h("span", { class: "spoken", role: "status" });
  private timer = 0;

  say(text: string): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (this.root.textContent !== text) this.root.textContent = text;
    }, REST);
  }
}
