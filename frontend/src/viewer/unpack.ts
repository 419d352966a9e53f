// From two addresses to a matrix ready to be shown. Runs in a worker, where it holds up no drag.

import { decode } from "./decode";
import { modalityValues } from "./lut";
import { pyramid, type Levels } from "./pyramid";
import type { Facts, Voi } from "./types";
import { presets } from "./windows";

/** A radiograph's matrix, ready to be shown. */
export interface Picture {
  facts: Facts;
  levels: Levels;
  values: Float32Array;
  /** Windows to choose from, counted out when it is fetched: nobody waits for that when it is fetched ahead. */
  presets: Voi[];
  /** Why this is not the full matrix; empty when it is. */
  lack: string;
}

/** No picture, not even of 8 bits: who asks may not see the radiograph, or the image store does not deliver. */
export class NotLoaded extends Error {}

/** Fetch a matrix and what is said about it, and make them ready. */
export async function unpack(pixels: string, about: string): Promise<Picture> {
  const [matrix, told] = await Promise.all([got(pixels), got(about)]);
  const facts = (await told.json()) as Facts;
  const bytes = new Uint8Array(await matrix.arrayBuffer());
  return ready(facts, decode(bytes, facts.rows, facts.columns, facts.bits), "");
}

export function ready(facts: Facts, matrix: Uint16Array, lack: string): Picture {
  const values = modalityValues(facts);
  return { facts, levels: pyramid(matrix, facts.rows, facts.columns), values, presets: presets(facts, matrix, values), lack };
}

async function got(address: string): Promise<Response> {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (answer.ok) return answer;
  const told = (await answer.json().catch(() => null)) as { error?: string } | null;
  const message = told?.error ?? `The server answered with ${answer.status}.`;
  throw [401, 403, 503].includes(answer.status) ? new NotLoaded(message) : new Error(message);
}
