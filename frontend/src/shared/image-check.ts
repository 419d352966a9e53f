// Blocks a save while a radiograph is not displayed, until the person confirms that they did not see it.

import type { ImageDisplay } from "./api";
import { button, h, type Child } from "./dom";
import { shortcutLabel } from "./shortcuts";
import type { ImageState, ImageViewer } from "./viewer";

/** The texts of the confirmation. */
export interface ImageCheckTexts {
  /** Completes "I … without seeing the radiograph". */
  completedAction: string;
  /** The alternative to saving. */
  alternative: string;
}

export class ImageCheck {
  readonly root = h("div", { class: "image-check" });
  private isConfirmed = false;
  /** The save that waits for the image or the confirmation. */
  private pending: (() => unknown) | null = null;

  constructor(
    private readonly viewer: ImageViewer,
    private readonly texts: ImageCheckTexts,
  ) {}

  /** Clear the confirmation when another question is shown. */
  reset(): void {
    this.isConfirmed = false;
    this.clear();
    this.update();
  }

  /** The value sent with a judgement. The server refuses "not drawn" where the workspace has the image. */
  get imageDisplay(): ImageDisplay {
    if (this.viewer.imageState === "drawn") return "drawn";
    return this.isConfirmed ? "not drawn, confirmed" : "not drawn";
  }

  /** Whether `save` must wait. If so, shows the reason and the alternatives. */
  blocksSave(save: () => unknown): boolean {
    const state = this.viewer.imageState;
    if (state === "drawn" || state === "none" || this.isConfirmed) {
      this.clear();
      return false;
    }
    this.pending = save;
    this.explain(state);
    return true;
  }

  /** Called when the viewer's image state may have changed. */
  update(): void {
    const state = this.viewer.imageState;
    this.root.dataset.imageState = state;
    if (!this.pending) return;
    if (state === "loading" || state === "failed") {
      this.explain(state);
      return;
    }
    this.clear();
    if (state === "drawn") this.show("The radiograph is now displayed. Review it, then save again.");
  }

  /** Reload failed images. Returns false if no save waits for them. */
  reload(): boolean {
    if (!this.pending) return false;
    this.viewer.reload();
    this.update();
    return true;
  }

  /** Shift Enter confirms. Returns whether the key was handled. */
  handleKey(event: KeyboardEvent): boolean {
    return event.key === "Enter" && event.shiftKey && !event.repeat && this.confirm();
  }

  /** Save, and record that the person did not see the image. Returns false if no save waits. */
  private confirm(): boolean {
    const save = this.pending;
    if (!save) return false;
    this.isConfirmed = true;
    this.clear();
    save();
    return true;
  }

  private explain(state: ImageState): void {
    const hasSeveral = this.viewer.orderedViews.length > 1;
    const { completedAction, alternative } = this.texts;
    const failedText = `${hasSeveral ? "a radiograph of this exam" : "the radiograph"} could not be loaded.`;
    const loadingText = hasSeveral ? "the radiographs are still loading. Save again when they are displayed." : "the radiograph is still loading. Save again when it is displayed.";
    const confirmationText = `I ${completedAction} without seeing ${hasSeveral ? "all radiographs" : "the radiograph"}: save `;
    this.show([
      h("p", {}, h("b", {}, "Not saved: "), state === "failed" ? failedText : loadingText),
      state === "failed" && button("Retry ", shortcutLabel("retry"), () => this.reload(), { class: "primary", "data-act": "load-again" }),
      button(confirmationText, "Shift Enter", () => this.confirm(), { "data-act": "confirm-unseen" }),
      h("span", { class: "hint" }, alternative),
    ]);
  }

  private show(content: Child): void {
    this.root.replaceChildren(h("div", { class: "image-check-message", role: "alert" }, content));
  }

  private clear(): void {
    this.pending = null;
    this.root.replaceChildren();
  }
}
