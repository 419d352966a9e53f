// The exports of the viewer bundle.

export { RadiographViewer } from "./radiograph-viewer";
