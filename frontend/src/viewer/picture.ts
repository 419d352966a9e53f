// Fetches and decodes a picture. Runs in a worker, so that it does not block drags.

import { decodeMatrix } from "./decode";
import { computeModalityValues } from "./lut";
import { buildPyramid, type Levels } from "./pyramid";
import type { Facts, Voi } from "./types";
import { listPresets } from "./windows";

/** A radiograph's matrix, ready to be shown. */
export interface Picture {
  facts: Facts;
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
export async function fetchPicture(pixels: string, metadataAddress: string): Promise<Picture> {
  const [matrixResponse, metadataResponse] = await Promise.all([fetchChecked(pixels), fetchChecked(metadataAddress)]);
  const facts = (await metadataResponse.json()) as Facts;
  const bytes = new Uint8Array(await matrixResponse.arrayBuffer());
  return createPicture(facts, decodeMatrix(bytes, facts.rows, facts.columns, facts.bits), "");
}

export function createPicture(facts: Facts, matrix: Uint16Array, limitation: string): Picture {
  const values = computeModalityValues(facts);
  return { facts, levels: buildPyramid(matrix, facts.rows, facts.columns), values, presets: listPresets(facts, matrix, values), limitation };
}

async function fetchChecked(address: string): Promise<Response> {
  const response = await fetch(address, { credentials: "same-origin" });
  if (response.ok) return response;
  const refusal = (await response.json().catch(() => null)) as { error?: string } | null;
  const message = refusal?.error ?? `The server answered with ${response.status}.`;
  throw [401, 403, 503].includes(response.status) ? new PictureUnavailableError(message) : new Error(message);
}
