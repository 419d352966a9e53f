// Unpacking aside: what the worker gives, and what happens without one.

import { afterEach, beforeEach, expect, test, vi } from "vitest";

const FACTS = {
  rows: 1, columns: 2, bits: 8, signed: false, inverted: false, stored_min: 3, stored_max: 4, padding: null,
  modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
  windows: [], voi_tables: [], automatic: { center: 3.5, width: 1 }, spacing: null, aspect: [1, 1], orientation: null,
}; // prettier-ignore

/** Stands for the browser's worker; `told` is what was posted to it. */
class FakeWorker {
  static made: FakeWorker[] = [];
  told: { id: number; pixels: string; facts: string }[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor() {
    FakeWorker.made.push(this);
  }

  postMessage(message: FakeWorker["told"][number]): void {
    this.told.push(message);
  }
}

beforeEach(() => {
  vi.resetModules();
  FakeWorker.made = [];
  vi.stubGlobal("location", { origin: "https://overread.example" });
  vi.stubGlobal("fetch", (address: string) =>
    Promise.resolve(address.includes("barred") ? new Response(JSON.stringify({ error: "not yours" }), { status: 403 }) : new Response(address.endsWith("/facts") ? JSON.stringify(FACTS) : new Uint8Array([3, 1]))),
  );
});
afterEach(() => vi.unstubAllGlobals());

test("the worker is asked by whole addresses, and each answer goes to who asked", async () => {
  vi.stubGlobal("Worker", FakeWorker);
  const { unpackAside } = await import("../../src/viewer/aside");
  const [first, second] = [unpackAside("/pixels/1/a", "/pixels/1/a/facts"), unpackAside("/pixels/1/b", "/pixels/1/b/facts")];
  const worker = FakeWorker.made[0]!;
  expect(worker.told.map(({ pixels }) => pixels)).toEqual(["https://overread.example/pixels/1/a", "https://overread.example/pixels/1/b"]);
  worker.onmessage?.({ data: { id: worker.told[1]?.id, picture: "b" } });
  worker.onmessage?.({ data: { id: worker.told[0]?.id, picture: "a" } });
  expect([await first, await second]).toEqual(["a", "b"]);
});

test("who may not see a radiograph is told so, whoever unpacks it", async () => {
  vi.stubGlobal("Worker", FakeWorker);
  const { unpackAside } = await import("../../src/viewer/aside");
  const { NotLoaded } = await import("../../src/viewer/unpack");
  const asked = unpackAside("/pixels/1/a", "/pixels/1/a/facts");
  const worker = FakeWorker.made[0]!;
  worker.onmessage?.({ data: { id: worker.told[0]?.id, problem: "not yours", barred: true } });
  await expect(asked).rejects.toThrow(NotLoaded);
  worker.onerror?.();
  await expect(unpackAside("/pixels/1/barred", "/pixels/1/barred/facts")).rejects.toThrow(NotLoaded);
});

test("a picture that the image store can't deliver is not asked for a second time as eight bits", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ error: "The image store does not answer." }), { status: 503 })));
  const { picture, NotLoaded } = await import("../../src/viewer/pixels");
  const asked = picture({ pixels: "/pixels/1/a", facts: "/pixels/1/a/facts", url: "/images/1/a.png" });
  await expect(asked).rejects.toThrow(new NotLoaded("The image store does not answer."));
});

test("what a worker that breaks still owes is done without it", async () => {
  vi.stubGlobal("Worker", FakeWorker);
  const { unpackAside } = await import("../../src/viewer/aside");
  const asked = unpackAside("/pixels/1/a", "/pixels/1/a/facts");
  FakeWorker.made[0]?.onerror?.();
  expect([...(await asked).levels[0].matrix]).toEqual([3, 4]);
  await unpackAside("/pixels/1/b", "/pixels/1/b/facts");
  expect(FakeWorker.made).toHaveLength(1);
});

test("where no worker can be started it is done here", async () => {
  vi.stubGlobal("Worker", vi.fn(function () { throw new Error("barred by policy"); }));
  const { unpackAside } = await import("../../src/viewer/aside");
  expect([...(await unpackAside("/pixels/1/a", "/pixels/1/a/facts")).levels[0].matrix]).toEqual([3, 4]);
});

test("the worker hands its arrays over and does not copy them", async () => {
  const posted: { message: { id: number; picture?: { levels: { matrix: Uint16Array }[] } }; transfer?: unknown[] }[] = [];
  vi.stubGlobal("postMessage", (message: (typeof posted)[number]["message"], transfer?: unknown[]) => posted.push({ message, transfer }));
  await import("../../src/viewer/worker");
  await (globalThis as unknown as { onmessage: (event: unknown) => Promise<void> }).onmessage({ data: { id: 7, pixels: "/pixels/1/a", facts: "/pixels/1/a/facts" } });
  const { message, transfer } = posted[0]!;
  expect(message.id).toBe(7);
  expect(transfer).toContain(message.picture?.levels[0]?.matrix.buffer);
});
