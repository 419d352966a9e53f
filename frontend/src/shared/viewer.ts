// The viewer of a form: the reading room's, or the plain editor by choice and where that one can't start.

import type { Drawings, ExamOnScreen, Radiograph } from "./api";
import { h } from "./dom";
import type { KeyHelp } from "./keys";
import { PlainEditor } from "./plain-editor";

/** A box as a form lists it; place and size in whole pixels of the matrix. */
export interface ListedBox {
  view: { radiograph: Radiograph };
  index: number;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Still as the machine drew it. */
  machine: boolean;
  chosen?: boolean;
}

/** Boxes that are not the machine's, and the machine's that are not there as they were. */
export interface BoxChanges {
  added: ListedBox[];
  gone: { label: string }[];
}

export interface ViewerEvents {
  /** After every edit of a box. */
  changed: () => void;
  /** The radiograph in front has been painted. */
  drawn: () => void;
  /** Another box is marked. */
  chosen: () => void;
  /** `imageState` may have changed. */
  imageStateChanged: () => void;
}

/** Of all images of an exam together; "none": the workspace has no pixels of it. */
export type ImageState = "drawn" | "loading" | "failed" | "none";

/** What a form asks of a viewer. */
export interface ImageViewer {
  readonly root: HTMLElement;
  /** The label that the next box is drawn with. */
  readonly label: string;
  /** The viewer's own keys, for the list of keys. */
  readonly sheet?: readonly KeyHelp[];
  /** Milliseconds after an edit until its draft is sent. */
  readonly draftAfter?: number;
  /** The radiographs of the exam. */
  readonly order: readonly unknown[];
  readonly imageState: ImageState;
  show(data: ExamOnScreen): void;
  /** Load again what could not be loaded. */
  reload(): void;
  /** Every drawing as it is now; null when no box was touched. */
  drawings(): Drawings | null;
  /** Resolves when no box is being drawn. */
  settled(): Promise<void>;
  list(): ListedBox[];
  changes(): BoxChanges;
  relabel(box: ListedBox, label: string): void;
  remove(box: ListedBox): void;
  choose(box: ListedBox): void;
  reset(): void;
  setLabel(label: string): void;
  next(): void;
  fit(): void;
  /** The question is not the person's any more: nothing of its exam may be seen. */
  withdrawn(): void;
  end(): void;
  /** The next question is asked for. */
  leaving?(): void;
  /** Offers a key before the form's own (`first`) or after them; returns whether it was taken. */
  key?(event: KeyboardEvent, first: boolean): boolean;
}

const SETTING = "overread-viewer"; // in the browser: the browser decides which of the two it can run

const isPlainChosen = (): boolean => localStorage.getItem(SETTING) === "plain";

let failure = "";
const bundle = isPlainChosen()
  ? null
  : await import("viewer-bundle").catch((problem: unknown) => {
      failure = String(problem);
      return null;
    });

export function makeViewer(events: ViewerEvents): ImageViewer {
  if (bundle) {
    try {
      return new bundle.ReadingRoom(events);
    } catch (problem) {
      failure = String(problem);
    }
  }
  return new PlainEditor(events);
}

/** The button to the other viewer. The page reloads, and drafts restore everything; `flush` sends them. */
export function viewerSwitch(flush: () => Promise<void>): HTMLElement {
  const toPlain = !isPlainChosen();
  const change = async (): Promise<void> => {
    localStorage.setItem(SETTING, toPlain ? "plain" : "room");
    await flush();
    location.reload();
  };
  const failed = failure !== "" && h("span", { class: "hint", role: "status", title: failure }, "The viewer could not start. This is the basic viewer.");
  const title = toPlain ? "boxes on a static image, for browsers in which the full viewer is slow" : "with window, zoom and full pixel data";
  return h("span", { class: "viewer-switch" }, failed, h("button", { type: "button", class: "quiet", title, onclick: change }, toPlain ? "Basic viewer" : "Full viewer"));
}
