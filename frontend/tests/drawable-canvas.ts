// A fake of the browser part of streamlit-drawable-canvas. It draws nothing. Unless a test prevents it, it reports
// at once that the picture is painted.

import type { CanvasObject } from "../src/shared/api";
import type { CanvasComponent } from "../src/shared/drawable-canvas";

let report: CanvasComponent["setStateValue"] = () => undefined;

export const canvas = {
  paints: true,
  /** Acts as a person who draws: the canvas reports these objects. */
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
