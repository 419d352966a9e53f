// The form fills the window below its own upper edge, so that question, image and keys are in sight together.

const LEAST = 560; // pixels; below that the page scrolls
const NARROW = 820; // pixels of width; below that the parts stand under each other

/** Keeps `root` as high as there is room; gives back what ends it. */
export function fillWindow(root, fitted) {
  const block = document.querySelector('[data-testid="stMainBlockContainer"]');
  const before = block?.getAttribute("style");
  if (block) {
    block.style.paddingBottom = "0.5rem";
    block.style.paddingLeft = "1.25rem";
    block.style.paddingRight = "1.25rem";
  }
  const fit = () => {
    const folded = document.querySelector('[data-testid="stExpandSidebarButton"]');
    if (block) block.style.paddingTop = folded ? "4rem" : "3.25rem"; // just below Streamlit's header, and its button
    const narrow = root.clientWidth < NARROW;
    root.classList.toggle("narrow", narrow);
    const top = root.getBoundingClientRect().top + (document.querySelector('[data-testid="stMain"]')?.scrollTop ?? 0);
    root.style.height = narrow ? "auto" : `${Math.max(LEAST, window.innerHeight - top - 10)}px`;
    fitted();
  };
  const sizes = new ResizeObserver(fit);
  sizes.observe(root.parentElement ?? root);
  window.addEventListener("resize", fit);
  requestAnimationFrame(fit);
  return () => {
    sizes.disconnect();
    window.removeEventListener("resize", fit);
    if (!block) return;
    if (before === null) block.removeAttribute("style");
    else block.setAttribute("style", before);
  };
}
