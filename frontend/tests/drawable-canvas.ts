// A fake of the browser part of streamlit-drawable-canvas. It paints the picture at once unless a test prevents it,
// and draws nothing.

import type { CanvasComponent } from "../src/shared/drawable-canvas";

export const canvas = { paints: true };

export default function mountCanvas({ setStateValue }: CanvasComponent): () => void {
  if (canvas.paints) setStateValue("backgroundFit", { raw: { objects: [] } });
  return () => undefined;
}
