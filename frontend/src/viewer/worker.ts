// The worker's script (dist/viewer-worker.js). It loads a matrix on request and keeps no state.

import { PictureUnavailableError, fetchPicture } from "./picture";

export interface PictureRequest {
  id: number;
  pixelsUrl: string;
  metadataUrl: string;
}

const scope = globalThis as unknown as { onmessage: unknown; postMessage: (message: unknown, transfer?: Transferable[]) => void };

scope.onmessage = async ({ data: { id, pixelsUrl, metadataUrl } }: MessageEvent<PictureRequest>): Promise<void> => {
  try {
    const picture = await fetchPicture(pixelsUrl, metadataUrl);
    scope.postMessage({ id, picture }, [picture.values.buffer, ...picture.levels.map(({ matrix }) => matrix.buffer)] as Transferable[]);
  } catch (problem) {
    scope.postMessage({ id, problem: problem instanceof Error ? problem.message : String(problem), isUnavailable: problem instanceof PictureUnavailableError });
  }
};
