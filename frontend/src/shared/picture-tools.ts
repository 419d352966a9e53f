// The plain editor's row of controls and its keys. The reading room's viewer has its own.

import { button, h } from "./dom";
import type { PlainEditor } from "./plain-editor";

export class PictureTools {
  private readonly light = { brightness: 1, contrast: 1 };
  private inverted = false;
  private row = h("div");

  constructor(private readonly editor: PlainEditor) {}

  /** The row for a question; without the tools for boxes where they are `locked`. */
  build(locked: boolean): HTMLElement {
    const { editor } = this;
    const quiet = { class: "quiet" };
    const draw = { class: "quiet toggle", "data-tool": "draw", "aria-pressed": "true", title: "drag on the image to draw a box" };
    const move = { class: "quiet toggle", "data-tool": "move", "aria-pressed": "false", title: "drag a box or its corners; click a selected box to change its label" };
    this.row = h(
      "div",
      { class: "tools-row" },
      !locked && [button("Draw", null, () => this.setEditing(false), draw), button("Move, resize", "B", () => this.setEditing(true), move), button("Undo", "U", () => editor.undo(), quiet)],
      h("span", { class: "spring" }),
      this.slider("brightness", "☀", "Brightness"),
      this.slider("contrast", "◐", "Contrast"),
      button("Invert", "I", () => this.invert(), quiet),
      button("−", null, () => this.zoom(-1), { ...quiet, "aria-label": "zoom out" }),
      button("+", null, () => this.zoom(1), { ...quiet, "aria-label": "zoom in" }),
      button("Fit", "0", () => this.zoom(0), quiet),
    );
    return this.row;
  }

  /** Returns whether the key is one of these tools'. */
  key(key: string, shift: boolean): boolean {
    const { editor } = this;
    const commands: Record<string, () => void> = {
      b: () => this.setEditing(!editor.editing),
      u: () => (shift ? editor.redo() : editor.undo()),
      Delete: () => editor.deleteSelected(),
      i: () => this.invert(),
      "+": () => this.zoom(1),
      "-": () => this.zoom(-1),
      "0": () => this.zoom(0),
    };
    commands[key]?.();
    return key in commands;
  }

  private setEditing(on: boolean): void {
    this.editor.setEditing(on);
    for (const tool of this.row.querySelectorAll<HTMLElement>("[data-tool]")) tool.setAttribute("aria-pressed", String((tool.dataset.tool === "move") === this.editor.editing));
  }

  private invert(): void {
    this.inverted = !this.inverted;
    this.paintLight();
  }

  private zoom(by: -1 | 0 | 1): void {
    this.editor.setZoom(by === 0 ? 1 : this.editor.zoom * 1.5 ** by);
  }

  private slider(name: "brightness" | "contrast", sign: string, label: string): HTMLElement {
    const input = h("input", { type: "range", min: "0.4", max: "2.5", step: "0.05", "aria-label": label });
    input.value = String(this.light[name]);
    input.addEventListener("input", () => {
      this.light[name] = Number(input.value);
      this.paintLight();
    });
    return h("label", { class: "small", title: label }, sign, input);
  }

  private paintLight(): void {
    const { brightness, contrast } = this.light;
    this.editor.stage.style.setProperty("--light", `brightness(${brightness}) contrast(${contrast}) invert(${this.inverted ? 1 : 0})`);
  }
}
