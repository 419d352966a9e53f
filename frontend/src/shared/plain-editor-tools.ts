// The plain editor's toolbar and keys. The radiograph viewer has its own.

import { button, h } from "./dom";
import type { PlainEditor } from "./plain-editor";
import { shortcutLabel, type ActionId } from "./shortcuts";

export class PlainEditorTools {
  private readonly adjustments = { brightness: 1, contrast: 1 };
  private isInverted = false;
  private element = h("div");

  constructor(private readonly editor: PlainEditor) {}

  /** Build the toolbar of a question, without box tools if the boxes are locked. */
  build(isLocked: boolean): HTMLElement {
    const { editor } = this;
    const quiet = { class: "quiet" };
    const draw = { class: "quiet toggle", "data-tool": "draw", "aria-pressed": "true", title: "drag on the image to draw a box" };
    const move = { class: "quiet toggle", "data-tool": "move", "aria-pressed": "false", title: "drag a box or its corners; click a selected box to change its label" };
    this.element = h(
      "div",
      { class: "tools-row" },
      !isLocked && [button("Draw", null, () => this.setEditing(false), draw), button("Move, resize", shortcutLabel("toggle-tool"), () => this.setEditing(true), move), button("Undo", shortcutLabel("undo"), () => editor.undo(), quiet)],
      h("span", { class: "spring" }),
      this.createSlider("brightness", "☀", "Brightness"),
      this.createSlider("contrast", "◐", "Contrast"),
      button("Invert", shortcutLabel("invert"), () => this.invert(), quiet),
      button("−", null, () => this.changeZoom(-1), { ...quiet, "aria-label": "zoom out" }),
      button("+", null, () => this.changeZoom(1), { ...quiet, "aria-label": "zoom in" }),
      button("Fit", shortcutLabel("fit"), () => this.changeZoom(0), quiet),
    );
    return this.element;
  }

  /** Returns whether the action belongs to the tools. */
  runAction(id: ActionId): boolean {
    const { editor } = this;
    const commands: Partial<Record<ActionId, () => void>> = {
      "toggle-tool": () => this.setEditing(!editor.isEditing),
      undo: () => editor.undo(),
      redo: () => editor.redo(),
      remove: () => editor.deleteSelected(),
      invert: () => this.invert(),
      "zoom-in": () => this.changeZoom(1),
      "zoom-out": () => this.changeZoom(-1),
      fit: () => this.changeZoom(0),
    };
    commands[id]?.();
    return id in commands;
  }

  private setEditing(enabled: boolean): void {
    this.editor.setEditing(enabled);
    for (const tool of this.element.querySelectorAll<HTMLElement>("[data-tool]")) tool.setAttribute("aria-pressed", String((tool.dataset.tool === "move") === this.editor.isEditing));
  }

  private invert(): void {
    this.isInverted = !this.isInverted;
    this.applyAdjustments();
  }

  private changeZoom(direction: -1 | 0 | 1): void {
    this.editor.setZoom(direction === 0 ? 1 : this.editor.zoom * 1.5 ** direction);
  }

  private createSlider(name: "brightness" | "contrast", symbol: string, label: string): HTMLElement {
    const input = h("input", { type: "range", min: "0.4", max: "2.5", step: "0.05", "aria-label": label });
    input.value = String(this.adjustments[name]);
    input.addEventListener("input", () => {
      this.adjustments[name] = Number(input.value);
      this.applyAdjustments();
    });
    return h("label", { class: "small", title: label }, symbol, input);
  }

  private applyAdjustments(): void {
    const { brightness, contrast } = this.adjustments;
    this.editor.stage.style.setProperty("--light", `brightness(${brightness}) contrast(${contrast}) invert(${this.isInverted ? 1 : 0})`);
  }
}
