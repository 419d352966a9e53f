// Fetches and decodes a picture. Runs in a worker, so that it does not block drags.

import { decodeMatrix } from "./decode";
import { computeModalityValues } from "./lut";
import { buildPyramid, type Levels } from "./pyramid";
import type { ImageMetadata, Voi } from "./types";
import { listPresets } from "./windows";

/** A radiograph's matrix, ready to be shown. */
export interface Picture {
  metadata: ImageMetadata;
  levels: Levels;
  values: Float32Array;
  /** The window presets, computed on fetching, so that prefetched pictures show without delay. */
  presets: Voi[];
  /** Why this is not the full matrix; empty when it is. */
  limitation: string;
}

/** No picture is available, not even of 8 bits: access is denied, or the image store does not respond. */
export class PictureUnavailableError extends Error {}

/** Fetch a matrix and its metadata and prepare them for display. */
export async function fetchPicture(pixelsUrl: string, metadataUrl: string): Promise<Picture> {
  const [matrixResponse, metadataResponse] = await Promise.all([fetchChecked(pixelsUrl), fetchChecked(metadataUrl)]);
  const metadata = (await metadataResponse.json()) as ImageMetadata;
  const bytes = new Uint8Array(await matrixResponse.arrayBuffer());
  return createPicture(metadata, decodeMatrix(bytes, metadata.rows, metadata.columns, metadata.bits), "");
}

export function createPicture(metadata: ImageMetadata, matrix: Uint16Array, limitation: string): Picture {
  const values = computeModalityValues(metadata);
  return { metadata, levels: buildPyramid(matrix, metadata.rows, metadata.columns), values, presets: listPresets(metadata, matrix, values), limitation };
}

async function fetchChecked(address: string): Promise<Response> {
  const response = await fetch(address, { credentials: "same-origin" });
  if (response.ok) return response;
  const refusal = (await response.json().catch(() => null)) as { error?: string } | null;
  const message = refusal?.error ?? `The server answered with ${response.status}.`;
  throw [401, 403, 503].includes(response.status) ? new PictureUnavailableError(message) : new Error(message);
}
