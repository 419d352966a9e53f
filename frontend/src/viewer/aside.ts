// Unpacking aside: in a worker, and here where there can't be one.

import { NotLoaded, unpack, type Picture } from "./unpack";

interface Answer {
  id: number;
  picture?: Picture;
  problem?: string;
  barred?: boolean;
}

interface Waiting {
  done: (picture: Picture) => void;
  failed: (problem: Error) => void;
  again: () => void;
}

const waiting = new Map<number, Waiting>();
let last = 0;
let worker: Worker | null | undefined;

/** As `unpack`. */
export function unpackAside(pixels: string, facts: string): Promise<Picture> {
  worker ??= started();
  const aside = worker;
  if (!aside) return unpack(pixels, facts);
  // The worker's own address is no page of the app's: it is told whole ones.
  const whole = (address: string): string => new URL(address, location.origin).href;
  return new Promise((done, failed) => {
    const id = (last += 1);
    waiting.set(id, { done, failed, again: () => void unpack(pixels, facts).then(done, failed) });
    aside.postMessage({ id, pixels: whole(pixels), facts: whole(facts) });
  });
}

function started(): Worker | null {
  if (worker === null || typeof Worker === "undefined") return null;
  try {
    const begun = new Worker(new URL("viewer-worker.js", import.meta.url), { type: "module" });
    begun.onmessage = ({ data }: MessageEvent<Answer>) => answered(data);
    begun.onerror = () => {
      worker = null; // it never came up, or broke: what it owes is done here, and all that comes
      for (const [id, { again }] of waiting) {
        waiting.delete(id);
        again();
      }
    };
    return begun;
  } catch {
    return null;
  }
}

function answered({ id, picture, problem = "", barred }: Answer): void {
  const asked = waiting.get(id);
  waiting.delete(id);
  if (picture) asked?.done(picture);
  else asked?.failed(barred ? new NotLoaded(problem) : new Error(problem));
}
