// The browser part of streamlit-drawable-canvas, which is served beside the bundles (web/drawing/canvas.py).

import type { CanvasData, CanvasObject } from "./api";

/** The canvas's parameters. `setStateValue` receives the drawing. */
export interface CanvasComponent {
  data: CanvasData;
  parentElement: HTMLElement;
  setStateValue: (name: string, value: { raw: { objects: CanvasObject[] } } | undefined) => void;
  key: string;
  name: string;
}

/** Draws `data` into `parentElement`. Returns a function that removes the canvas. */
export default function mountCanvas(component: CanvasComponent): (() => void) | undefined;
