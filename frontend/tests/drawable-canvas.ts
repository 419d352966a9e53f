// A fake of the browser part of streamlit-drawable-canvas. It paints the picture at once unless a test prevents it,
// and draws nothing by itself.

import type { CanvasObject } from "../src/shared/api";
import type { CanvasComponent } from "../src/shared/drawable-canvas";

let report: CanvasComponent["setStateValue"] = () => undefined;

export const canvas = {
  paints: true,
  /** The person draws: the canvas reports its objects. */
  draw: (objects: CanvasObject[]): void => report("drawing", { raw: { objects } }),
  /** What the canvas was asked to show. */
  shown: [] as CanvasObject[],
};

export default function mountCanvas({ data, setStateValue }: CanvasComponent): () => void {
  report = setStateValue;
  canvas.shown = data.initialDrawing.objects;
  if (canvas.paints) setStateValue("backgroundFit", { raw: { objects: [] } });
  return () => undefined;
}
