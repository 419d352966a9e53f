// A figure of a study's report on its page: the SVG of its file, whose text can be selected and read out.

import { h } from "../shared/dom";
import { mountOnce, type MountedForm } from "../shared/mount";

export interface FigureData {
  /** Made by the server, which escapes the text in it. */
  svg: string;
}

export default mountOnce<FigureData>(({ parentElement }): MountedForm<FigureData> => {
  // It is scrolled where the page is narrower; a person without a mouse gets there with Tab.
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
