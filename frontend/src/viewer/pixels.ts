// Fetching matrices: each once, the next exam's ahead, and an 8-bit picture where the matrix can't be had.

import { unpackAside } from "./aside";
import type { Facts, Radiograph } from "./types";
import { NotLoaded, ready, type Picture } from "./unpack";

export { NotLoaded, type Picture };

export interface Addresses {
  pixels: string;
  facts: string;
  url?: string;
  rows?: number;
  columns?: number;
}

const MOST = 6; // matrices at hand; one of 2500 x 3000 takes 20 MB
const held = new Map<string, Promise<Picture>>();

/** The radiograph's picture; asked for again after a failure. */
export function picture(radiograph: Addresses): Promise<Picture> {
  const { pixels, facts } = radiograph;
  let found = held.get(pixels);
  if (found) held.delete(pixels); // and in again, as the one used last
  found ??= unpackAside(pixels, facts).catch((problem: unknown) => {
    if (radiograph.url && !(problem instanceof NotLoaded)) return eightBits(radiograph, problem);
    throw problem;
  });
  held.set(pixels, found);
  found.catch(() => held.delete(pixels));
  for (const oldest of held.keys()) {
    if (held.size <= MOST) break;
    held.delete(oldest);
  }
  return found;
}

/** Forget all matrices: they are not to be seen any more. */
export const forget = (): void => held.clear();

/** Fetch and unpack ahead, one after the other, when the browser has nothing better to do. */
export async function prefetch(upcoming: { pixels: string; facts: string }[]): Promise<void> {
  for (const each of upcoming.slice(0, MOST - 3)) {
    if (held.has(each.pixels)) continue;
    await new Promise<void>((idle) => ("requestIdleCallback" in globalThis ? requestIdleCallback(() => idle(), { timeout: 2000 }) : setTimeout(idle, 200)));
    await picture(each).catch(() => undefined);
  }
}

/** The first radiograph of those that come next, at once: it and its question can be under way together. */
export function fetchNow([next]: readonly Addresses[]): void {
  if (next) picture(next).catch(() => undefined); // asked for again when it is shown
}

/** The picture of 8 bits in the server's window, in place of the matrix. */
async function eightBits({ url = "", ...size }: Addresses, problem: unknown): Promise<Picture> {
  const image = new Image();
  image.src = url;
  await image.decode().catch(() => {
    throw new NotLoaded(problem instanceof Error ? problem.message : "The radiograph could not be loaded.");
  });
  const [columns, rows] = [size.columns ?? image.naturalWidth, size.rows ?? image.naturalHeight]; // boxes are on that grid
  const canvas = new OffscreenCanvas(columns, rows);
  const context = canvas.getContext("2d")!;
  context.drawImage(image, 0, 0, columns, rows);
  const { data } = context.getImageData(0, 0, columns, rows);
  const matrix = new Uint16Array(columns * rows);
  for (let at = 0; at < matrix.length; at += 1) matrix[at] = data[4 * at]!;
  const facts: Facts = {
    rows, columns, bits: 8, signed: false, inverted: false, stored_min: 0, stored_max: 255, padding: null,
    modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
    windows: [], voi_tables: [], automatic: { center: 127.5, width: 255 }, spacing: null, aspect: [1, 1], orientation: null,
  }; // prettier-ignore
  return ready(facts, matrix, "8-bit display: the full image data could not be loaded");
}

/** Whether there is anything to fetch of a radiograph. */
export const hasPixels = (radiograph: Radiograph): radiograph is Radiograph & { pixels: string; facts: string } =>
  Boolean(radiograph.pixels && radiograph.facts && radiograph.rows && radiograph.columns);
