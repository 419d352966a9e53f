// Full screen: the whole judging form goes there, not the image alone, so that what it says is seen there too.

const target = (root: HTMLElement): HTMLElement => root.closest<HTMLElement>(".judging") ?? root;

export function isFull(root: HTMLElement): boolean {
  return (root.getRootNode() as ShadowRoot | Document).fullscreenElement === target(root);
}

export function toggleFull(root: HTMLElement): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else target(root).requestFullscreen().catch(() => undefined); // a browser may refuse; the button stays
}

/** Calls `act` when it was entered or left, by a key of the browser's too; gives back what ends that. */
export function onFull(act: () => void): () => void {
  document.addEventListener("fullscreenchange", act);
  return () => document.removeEventListener("fullscreenchange", act);
}
