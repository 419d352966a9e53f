// The form fills the window below its own upper edge, so that question, image and keys are in sight together.

import { listen } from "./dom";

const LEAST = 560; // pixels; below that the page scrolls
const NARROW = 820; // pixels of width; below that the parts stand under each other

/** Keeps `root` as high as the window allows; the returned function ends that. */
export function fillWindow(root: HTMLElement, onFit: () => void): () => void {
  const block = document.querySelector<HTMLElement>('[data-testid="stMainBlockContainer"]');
  const before = block?.getAttribute("style");
  if (block) {
    block.style.paddingBottom = "0.5rem";
    block.style.paddingLeft = "1.25rem";
    block.style.paddingRight = "1.25rem";
  }
  const fit = (): void => {
    const folded = document.querySelector('[data-testid="stExpandSidebarButton"]');
    if (block) block.style.paddingTop = folded ? "4rem" : "3.25rem"; // just below Streamlit's header, and its button
    const narrow = root.clientWidth < NARROW;
    root.classList.toggle("narrow", narrow);
    const top = root.getBoundingClientRect().top + (document.querySelector('[data-testid="stMain"]')?.scrollTop ?? 0);
    root.style.height = narrow ? "auto" : `${Math.max(LEAST, window.innerHeight - top - 10)}px`;
    onFit();
  };
  const sizes = new ResizeObserver(fit);
  sizes.observe(root.parentElement ?? root);
  const endListening = listen(window, "resize", fit);
  requestAnimationFrame(fit);
  return () => {
    sizes.disconnect();
    endListening();
    if (!block) return;
    if (typeof before === "string") block.setAttribute("style", before);
    else block.removeAttribute("style");
  };
}
