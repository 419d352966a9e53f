// Full screen of the whole form, so that its messages stay visible.

const findFullScreenTarget = (root: HTMLElement): HTMLElement => root.closest<HTMLElement>(".judging") ?? root;

export function isFullScreen(root: HTMLElement): boolean {
  return (root.getRootNode() as ShadowRoot | Document).fullscreenElement === findFullScreenTarget(root);
}

export function toggleFullScreen(root: HTMLElement): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else findFullScreenTarget(root).requestFullscreen().catch(() => undefined); // a browser may refuse; the button stays
}

/** Calls `callback` when full screen starts or ends. Returns a function that removes the listener. */
export function onFullScreenChange(callback: () => void): () => void {
  document.addEventListener("fullscreenchange", callback);
  return () => document.removeEventListener("fullscreenchange", callback);
}
