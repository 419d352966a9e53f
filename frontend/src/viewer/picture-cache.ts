// Loads and caches pictures, prefetches those of the next exam, and falls back to an 8-bit picture.

import { fetchPictureInWorker } from "./worker-client";
import type { ImageMetadata, Radiograph } from "./types";
import { PictureUnavailableError, createPicture, type Picture } from "./picture";

export { PictureUnavailableError, type Picture };

export interface PictureAddresses {
  pixelsUrl: string;
  metadataUrl: string;
  previewUrl?: string;
  rows?: number;
  columns?: number;
}

const CACHE_SIZE = 6; // matrices in memory; one of 2500 x 3000 takes 20 MB
const cache = new Map<string, Promise<Picture>>();

/** The radiograph's picture, from the cache or loaded. A failure is not cached. */
export function loadPicture(radiograph: PictureAddresses): Promise<Picture> {
  const { pixelsUrl, metadataUrl } = radiograph;
  let picturePromise = cache.get(pixelsUrl);
  if (picturePromise) cache.delete(pixelsUrl); // added again below, as the most recently used
  picturePromise ??= fetchPictureInWorker(pixelsUrl, metadataUrl).catch((problem: unknown) => {
    if (radiograph.previewUrl && !(problem instanceof PictureUnavailableError)) return loadEightBitPicture(radiograph, problem);
    throw problem;
  });
  cache.set(pixelsUrl, picturePromise);
  picturePromise.catch(() => cache.delete(pixelsUrl));
  for (const oldest of cache.keys()) {
    if (cache.size <= CACHE_SIZE) break;
    cache.delete(oldest);
  }
  return picturePromise;
}

/** Remove all matrices from memory. */
export const clearCache = (): void => cache.clear();

/** Fetch and decode in advance, one after the other, when the browser is idle. */
export async function prefetch(upcoming: PictureAddresses[]): Promise<void> {
  for (const addresses of upcoming.slice(0, CACHE_SIZE - 3)) {
    if (cache.has(addresses.pixelsUrl)) continue;
    await new Promise<void>((resolve) => ("requestIdleCallback" in globalThis ? requestIdleCallback(() => resolve(), { timeout: 2000 }) : setTimeout(resolve, 200)));
    await loadPicture(addresses).catch(() => undefined);
  }
}

/** Fetch the first of the next radiographs at once, in parallel with its question. */
export function fetchFirst([next]: readonly PictureAddresses[]): void {
  if (next) loadPicture(next).catch(() => undefined); // the pane loads it again when it is shown
}

/** Load the 8-bit picture in the server's window instead of the matrix. */
async function loadEightBitPicture({ previewUrl = "", ...size }: PictureAddresses, problem: unknown): Promise<Picture> {
  const image = new Image();
  image.src = previewUrl;
  await image.decode().catch(() => {
    throw new PictureUnavailableError(problem instanceof Error ? problem.message : "The radiograph could not be loaded.");
  });
  const [columns, rows] = [size.columns ?? image.naturalWidth, size.rows ?? image.naturalHeight]; // boxes use this grid
  const canvas = new OffscreenCanvas(columns, rows);
  const context = canvas.getContext("2d")!;
  context.drawImage(image, 0, 0, columns, rows);
  const { data } = context.getImageData(0, 0, columns, rows);
  const matrix = new Uint16Array(columns * rows);
  for (let index = 0; index < matrix.length; index += 1) matrix[index] = data[4 * index]!;
  const metadata: ImageMetadata = {
    rows, columns, bits: 8, signed: false, inverted: false, stored_min: 0, stored_max: 255, padding: null,
    modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
    windows: [], voi_tables: [], automatic: { center: 127.5, width: 255 }, spacing: null, aspect: [1, 1], orientation: null,
  }; // prettier-ignore
  return createPicture(metadata, matrix, "8-bit display: the full image data could not be loaded");
}

/** Whether the workspace has pixels of a radiograph. */
export const hasPixels = (radiograph: Radiograph): radiograph is Radiograph & { pixelsUrl: string; metadataUrl: string } =>
  Boolean(radiograph.pixelsUrl && radiograph.metadataUrl && radiograph.rows && radiograph.columns);
