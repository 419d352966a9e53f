// The viewer of a form: the radiograph viewer, or the plain editor by choice or if the viewer can't start.

import type { Drawings, ExamData, InputPreferences, Radiograph } from "./api";
import { h } from "./dom";
import type { KeyHelp } from "./keys";
import { PlainEditor } from "./plain-editor";
import type { ActionId } from "./shortcuts";

/** A box as a form lists it; position and size in whole pixels of the matrix. */
export interface ListedBox {
  view: { radiograph: Radiograph };
  index: number;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Unchanged from the original question. */
  isOriginal: boolean;
  selected?: boolean;
}

/** Boxes that are not in the original question, and original boxes that were changed or removed. */
export interface BoxChanges {
  added: ListedBox[];
  removed: ChangedBox[];
}

/** A box's label, its upper left corner and its size in pixels of the radiograph. */
export type ChangedBox = Pick<ListedBox, "label" | "x" | "y" | "width" | "height">;

export interface ViewerEvents {
  /** After every edit of a box. */
  boxesChanged: () => void;
  /** The radiograph in front has been painted. */
  imageDrawn: () => void;
  /** Another box is selected. */
  selectionChanged: () => void;
  /** `imageState` may have changed. */
  imageStateChanged: () => void;
}

/** The state of all images of an exam together; "none" if the workspace has no pixels of the exam. */
export type ImageState = "drawn" | "loading" | "failed" | "none";

/** The interface of a viewer. */
export interface ImageViewer {
  readonly root: HTMLElement;
  /** Fixed keys and drags, for the list of keys. */
  readonly keyHelp?: readonly KeyHelp[];
  /** Milliseconds after an edit until its draft is sent. */
  readonly draftDelay?: number;
  /** The radiographs of the exam. */
  readonly orderedViews: readonly unknown[];
  readonly imageState: ImageState;
  show(data: ExamData): void;
  /** Reload what failed to load. */
  reload(): void;
  /** Every drawing as it is now; null if no box may differ from the original boxes. */
  getDrawings(): Drawings | null;
  /** Resolves when no box is being drawn. */
  waitForDrawing(): Promise<void>;
  listBoxes(): ListedBox[];
  findBoxChanges(): BoxChanges;
  relabelBox(box: ListedBox, label: string): void;
  removeBox(box: ListedBox): void;
  selectBox(box: ListedBox): void;
  resetBoxes(): void;
  /** Draw new boxes with this label. */
  setLabel(label: string): void;
  showNext(): void;
  fit(): void;
  /** Remove all images: the question is no longer assigned to the person. */
  withdraw(): void;
  end(): void;
  /** The form has requested the next question: prefetch its images. */
  prefetchNext?(): void;
  /** Handles a fixed key, such as an arrow while a box is selected. Returns whether it was handled. */
  handleKey?(event: KeyboardEvent): boolean;
  /** Whether the viewer has that action. */
  hasAction(id: ActionId): boolean;
  /** Returns whether the action had an effect. */
  runAction(id: ActionId, event?: KeyboardEvent): boolean;
}

const VIEWER_SETTING = "overread-viewer"; // stored in the browser, because not every browser can run the radiograph viewer

const isPlainChosen = (): boolean => localStorage.getItem(VIEWER_SETTING) === "plain";

let failure = "";
const bundle = isPlainChosen()
  ? null
  : await import("viewer-bundle").catch((problem: unknown) => {
      failure = String(problem);
      return null;
    });

export function createViewer(events: ViewerEvents, preferences: InputPreferences = { keys: {}, leftButton: "boxes" }): ImageViewer {
  if (bundle) {
    try {
      return new bundle.RadiographViewer(events, preferences);
    } catch (problem) {
      failure = String(problem);
    }
  }
  return new PlainEditor(events);
}

/** The button that switches to the other viewer. `flush` sends the drafts, from which the reloaded page restores the input. */
export function viewerSwitch(flush: () => Promise<void>): HTMLElement {
  const leadsToPlain = !isPlainChosen();
  const switchViewer = async (): Promise<void> => {
    localStorage.setItem(VIEWER_SETTING, leadsToPlain ? "plain" : "room");
    await flush();
    location.reload();
  };
  const failureHint = failure !== "" && h("span", { class: "hint", role: "status", title: failure }, "The viewer could not start. This is the basic viewer.");
  const title = leadsToPlain ? "show a static image with boxes, for browsers in which the full viewer is slow" : "show the radiograph with window, zoom and full pixel data";
  return h("span", { class: "viewer-switch" }, failureHint, h("button", { type: "button", class: "quiet", title, onclick: switchViewer }, leadsToPlain ? "Use basic viewer" : "Use full viewer"));
}
