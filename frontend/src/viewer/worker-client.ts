// Loads pictures in a worker, or in this thread if no worker is available.

import { PictureUnavailableError, fetchPicture, type Picture } from "./picture";

interface WorkerResponse {
  id: number;
  picture?: Picture;
  problem?: string;
  isUnavailable?: boolean;
}

interface PendingRequest {
  resolve: (picture: Picture) => void;
  reject: (problem: Error) => void;
  retry: () => void;
}

const pendingRequests = new Map<number, PendingRequest>();
let lastId = 0;
let worker: Worker | null | undefined;

/** Does what `fetchPicture` does, in the worker if there is one. */
export function fetchPictureInWorker(pixelsUrl: string, metadataUrl: string): Promise<Picture> {
  worker ??= startWorker();
  const activeWorker = worker;
  if (!activeWorker) return fetchPicture(pixelsUrl, metadataUrl);
  // Relative addresses do not resolve in the worker, so it gets absolute ones.
  const toAbsoluteUrl = (address: string): string => new URL(address, location.origin).href;
  return new Promise((resolve, reject) => {
    const id = (lastId += 1);
    pendingRequests.set(id, { resolve, reject, retry: () => void fetchPicture(pixelsUrl, metadataUrl).then(resolve, reject) });
    activeWorker.postMessage({ id, pixelsUrl: toAbsoluteUrl(pixelsUrl), metadataUrl: toAbsoluteUrl(metadataUrl) });
  });
}

function startWorker(): Worker | null {
  if (worker === null || typeof Worker === "undefined") return null;
  try {
    const newWorker = new Worker(new URL("viewer-worker.js", import.meta.url), { type: "module" });
    newWorker.onmessage = ({ data }: MessageEvent<WorkerResponse>) => handleResponse(data);
    newWorker.onerror = () => {
      worker = null; // it did not start, or failed: pending and later requests run in this thread
      for (const [id, { retry }] of pendingRequests) {
        pendingRequests.delete(id);
        retry();
      }
    };
    return newWorker;
  } catch {
    return null;
  }
}

function handleResponse({ id, picture, problem = "", isUnavailable }: WorkerResponse): void {
  const request = pendingRequests.get(id);
  pendingRequests.delete(id);
  if (picture) request?.resolve(picture);
  else request?.reject(isUnavailable ? new PictureUnavailableError(problem) : new Error(problem));
}
