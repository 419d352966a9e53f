// A figure of a study report. It is inserted as SVG, so that its text can be selected and read aloud.

import { h } from "../shared/dom";
import { mountOnce, type MountedForm } from "../shared/mount";

export interface FigureData {
  /** Made by the server, which escapes the text in it. */
  svg: string;
}

export default mountOnce<FigureData>(({ parentElement }): MountedForm<FigureData> => {
  // On a narrow page the figure scrolls. `tabindex` lets people without a mouse reach and scroll it.
  const container = h("div", { class: "figure", role: "region", tabindex: "0" });
  parentElement.append(container);
  return {
    update: ({ data }) => {
      container.innerHTML = data.svg;
      container.setAttribute("aria-label", container.querySelector("svg")?.getAttribute("aria-label") ?? "");
    },
    end: () => container.remove(),
  };
});
