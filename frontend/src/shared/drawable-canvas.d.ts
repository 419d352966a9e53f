// The browser part of streamlit-drawable-canvas, which is served beside the bundles (web/drawing/canvas.py).

import type { CanvasData, CanvasObject } from "./api";

/** What the canvas is called with; `setStateValue` gets what is drawn. */
export interface CanvasComponent {
  data: CanvasData;
  parentElement: HTMLElement;
  setStateValue: (name: string, value: { raw: { objects: CanvasObject[] } } | undefined) => void;
  key: string;
  name: string;
}

/** Draws what `data` says into `parentElement`; returns what ends it. */
export default function mountCanvas(component: CanvasComponent): (() => void) | undefined;
