// The form extends from its top to the bottom of the window, so that question, image and buttons are visible together.

import { listen } from "./dom";

const MIN_HEIGHT = 560; // pixels; below that the page scrolls
const NARROW_WIDTH = 820; // pixels of width; below that the parts are stacked

/** Keeps `root` as tall as the window allows. Returns a function that stops this and restores the style. */
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
    if (container) container.style.paddingTop = expandButton ? "4rem" : "0.4rem"; // leaves room for the expand button, which overlaps the page
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
