// The worker's own script (dist/viewer-worker.js): asked for a matrix, it gives it, and keeps nothing.

import { NotLoaded, unpack } from "./unpack";

export interface Wanted {
  id: number;
  pixels: string;
  facts: string;
}

const scope = globalThis as unknown as { onmessage: unknown; postMessage: (message: unknown, transfer?: Transferable[]) => void };

scope.onmessage = async ({ data: { id, pixels, facts } }: MessageEvent<Wanted>): Promise<void> => {
  try {
    const picture = await unpack(pixels, facts);
    scope.postMessage({ id, picture }, [picture.values.buffer, ...picture.levels.map(({ matrix }) => matrix.buffer)] as Transferable[]);
  } catch (problem) {
    scope.postMessage({ id, problem: problem instanceof Error ? problem.message : String(problem), barred: problem instanceof NotLoaded });
  }
};
