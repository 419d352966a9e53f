// Loading pictures in a worker, and without one.

import { afterEach, beforeEach, expect, test, vi } from "vitest";

const METADATA = {
  rows: 1, columns: 2, bits: 8, signed: false, inverted: false, stored_min: 3, stored_max: 4, padding: null,
  modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
  windows: [], voi_tables: [], automatic: { center: 3.5, width: 1 }, spacing: null, aspect: [1, 1], orientation: null,
}; // prettier-ignore

/** A fake of the browser's worker. `messages` are the posted messages. */
class FakeWorker {
  static instances: FakeWorker[] = [];
  messages: { id: number; pixelsUrl: string; metadataUrl: string }[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor() {
    FakeWorker.instances.push(this);
  }

  postMessage(message: FakeWorker["messages"][number]): void {
    this.messages.push(message);
  }
}

beforeEach(() => {
  vi.resetModules();
  FakeWorker.instances = [];
  vi.stubGlobal("location", { origin: "https://overread.example" });
  vi.stubGlobal("fetch", (address: string) =>
    Promise.resolve(address.includes("barred") ? new Response(JSON.stringify({ error: "not yours" }), { status: 403 }) : new Response(address.endsWith("/metadata") ? JSON.stringify(METADATA) : new Uint8Array([3, 1]))),
  );
});
afterEach(() => vi.unstubAllGlobals());

test("the worker gets absolute addresses, and responses are matched to their requests", async () => {
  vi.stubGlobal("Worker", FakeWorker);
  const { fetchPictureInWorker } = await import("../../src/viewer/worker-client");
  const [first, second] = [fetchPictureInWorker("/pixels/1/a", "/pixels/1/a/metadata"), fetchPictureInWorker("/pixels/1/b", "/pixels/1/b/metadata")];
  const worker = FakeWorker.instances[0]!;
  expect(worker.messages.map(({ pixelsUrl }) => pixelsUrl)).toEqual(["https://overread.example/pixels/1/a", "https://overread.example/pixels/1/b"]);
  worker.onmessage?.({ data: { id: worker.messages[1]?.id, picture: "b" } });
  worker.onmessage?.({ data: { id: worker.messages[0]?.id, picture: "a" } });
  expect([await first, await second]).toEqual(["a", "b"]);
});

test("denied access is reported with and without the worker", async () => {
  vi.stubGlobal("Worker", FakeWorker);
  const { fetchPictureInWorker } = await import("../../src/viewer/worker-client");
  const { PictureUnavailableError } = await import("../../src/viewer/picture");
  const request = fetchPictureInWorker("/pixels/1/a", "/pixels/1/a/metadata");
  const worker = FakeWorker.instances[0]!;
  worker.onmessage?.({ data: { id: worker.messages[0]?.id, problem: "not yours", isUnavailable: true } });
  await expect(request).rejects.toThrow(PictureUnavailableError);
  worker.onerror?.();
  await expect(fetchPictureInWorker("/pixels/1/barred", "/pixels/1/barred/metadata")).rejects.toThrow(PictureUnavailableError);
});

test("a picture that the image store can't deliver is not requested again as eight bits", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ error: "The image store does not answer." }), { status: 503 })));
  const { loadPicture, PictureUnavailableError } = await import("../../src/viewer/picture-cache");
  const request = loadPicture({ pixelsUrl: "/pixels/1/a", metadataUrl: "/pixels/1/a/metadata", previewUrl: "/images/1/a.png" });
  await expect(request).rejects.toThrow(new PictureUnavailableError("The image store does not answer."));
});

test("pending requests of a failed worker are completed without it", async () => {
  vi.stubGlobal("Worker", FakeWorker);
  const { fetchPictureInWorker } = await import("../../src/viewer/worker-client");
  const request = fetchPictureInWorker("/pixels/1/a", "/pixels/1/a/metadata");
  FakeWorker.instances[0]?.onerror?.();
  expect([...(await request).levels[0].matrix]).toEqual([3, 4]);
  await fetchPictureInWorker("/pixels/1/b", "/pixels/1/b/metadata");
  expect(FakeWorker.instances).toHaveLength(1);
});

test("without a worker the picture is loaded in this thread", async () => {
  vi.stubGlobal("Worker", vi.fn(function () { throw new Error("barred by policy"); }));
  const { fetchPictureInWorker } = await import("../../src/viewer/worker-client");
  expect([...(await fetchPictureInWorker("/pixels/1/a", "/pixels/1/a/metadata")).levels[0].matrix]).toEqual([3, 4]);
});

test("the worker transfers its arrays without copying", async () => {
  const posted: { message: { id: number; picture?: { levels: { matrix: Uint16Array }[] } }; transfer?: unknown[] }[] = [];
  vi.stubGlobal("postMessage", (message: (typeof posted)[number]["message"], transfer?: unknown[]) => posted.push({ message, transfer }));
  await import("../../src/viewer/worker");
  await (globalThis as unknown as { onmessage: (event: unknown) => Promise<void> }).onmessage({ data: { id: 7, pixelsUrl: "/pixels/1/a", metadataUrl: "/pixels/1/a/metadata" } });
  const { message, transfer } = posted[0]!;
  expect(message.id).toBe(7);
  expect(transfer).toContain(message.picture?.levels[0]?.matrix.buffer);
});
