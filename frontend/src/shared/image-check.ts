// Nothing is judged of a radiograph that is not on screen, unless the person confirms that they did not see it.

import type { ImageDisplay } from "./api";
import { button, h, type Child } from "./dom";
import type { ImageState, ImageViewer } from "./viewer";

/** What the form says of the confirmation. */
export interface ImageCheckTexts {
  /** Completes "I … without seeing the radiograph". */
  judged: string;
  /** The way on without saving. */
  otherwise: string;
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

  /** Another question is shown: nothing is confirmed of it. */
  reset(): void {
    this.isConfirmed = false;
    this.clear();
    this.update();
  }

  /** What is sent with a judgement. The server refuses "not drawn" where the workspace has the image. */
  get display(): ImageDisplay {
    if (this.viewer.imageState === "drawn") return "drawn";
    return this.isConfirmed ? "not drawn, confirmed" : "not drawn";
  }

  /** Whether `save` has to wait; if so, the reason and the ways out are shown. */
  holds(save: () => unknown): boolean {
    const state = this.viewer.imageState;
    if (state === "drawn" || state === "none" || this.isConfirmed) {
      this.clear();
      return false;
    }
    this.pending = save;
    this.explain(state);
    return true;
  }

  /** The viewer's image state may have changed. */
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

  /** Load again what could not be loaded; false where nothing waits for it. */
  loadAgain(): boolean {
    if (!this.pending) return false;
    this.viewer.reload();
    this.update();
    return true;
  }

  /** Shift and Enter confirm; returns whether the key was taken. */
  key(event: KeyboardEvent): boolean {
    return event.key === "Enter" && event.shiftKey && !event.repeat && this.confirm();
  }

  /** The person has judged without the image: save, and record that. False where nothing waits for it. */
  private confirm(): boolean {
    const save = this.pending;
    if (!save) return false;
    this.isConfirmed = true;
    this.clear();
    save();
    return true;
  }

  private explain(state: ImageState): void {
    const several = this.viewer.order.length > 1;
    const { judged, otherwise } = this.texts;
    const failed = `${several ? "a radiograph of this exam" : "the radiograph"} could not be loaded.`;
    const loading = several ? "the radiographs are still loading. Save again when they are displayed." : "the radiograph is still loading. Save again when it is displayed.";
    const confirmation = `I ${judged} without seeing ${several ? "all radiographs" : "the radiograph"}: save `;
    this.show([
      h("p", {}, h("b", {}, "Not saved: "), state === "failed" ? failed : loading),
      state === "failed" && button("Retry ", "T", () => this.loadAgain(), { class: "primary", "data-act": "load-again" }),
      button(confirmation, "Shift Enter", () => this.confirm(), { "data-act": "confirm-unseen" }),
      h("span", { class: "hint" }, otherwise),
    ]);
  }

  private show(content: Child): void {
    this.root.replaceChildren(h("div", { class: "image-lack", role: "alert" }, content));
  }

  private clear(): void {
    this.pending = null;
    this.root.replaceChildren();
  }
}
