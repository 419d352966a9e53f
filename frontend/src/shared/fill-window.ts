// The form fills the window below its own upper edge, so that question, image and keys are in sight together.

import { listen } from "./dom";

const MIN_HEIGHT = 560; // pixels; below that the page scrolls
const NARROW_WIDTH = 820; // pixels of width; below that the parts are stacked

/** Keeps `root` as high as the window allows; the returned function ends that. */
export function fillWindow(root: HTMLElement, onFit: () => void): () => void {
  const container = document.querySelector<HTMLElement>('[data-testid="stMainBlockContainer"]');
  const originalStyle = container?.getAttribute("style");
  if (container) {
    container.style.paddingBottom = "0.4rem";
    container.style.paddingLeft = "0.8rem";
    container.style.paddingRight = "0.8rem";
  }
  const fit = (): void => {
    const expandButton = document.querySelector('[data-testid="stExpandSidebarButton"]');
    if (container) container.style.paddingTop = expandButton ? "4rem" : "0.4rem"; // the button is above the page
    const isNarrow = root.clientWidth < NARROW_WIDTH;
    root.classList.toggle("narrow", isNarrow);
    const top = root.getBoundingClientRect().top + (document.querySelector('[data-testid="stMain"]')?.scrollTop ?? 0);
    root.style.height = isNarrow ? "auto" : `${Math.max(MIN_HEIGHT, window.innerHeight - top - 6)}px`;
    onFit();
  };
  const resizeObserver = new ResizeObserver(fit);
  resizeObserver.observe(root.parentElement ?? root);
  const endListening = listen(window, "resize", fit);
  requestAnimationFrame(fit);
  return () => {
    resizeObserver.disconnect();
    endListening();
    if (!container) return;
    if (typeof originalStyle === "string") container.setAttribute("style", originalStyle);
    else container.removeAttribute("style");
  };
}
