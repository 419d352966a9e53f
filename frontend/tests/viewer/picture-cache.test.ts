// Fetching and caching of pictures.

import { afterEach, expect, test, vi } from "vitest";
import { fetchFirst, loadPicture } from "../../src/viewer/picture-cache";

const buildAddresses = (name: string) => ({ pixelsUrl: `/pixels/1/${name}`, metadataUrl: `/pixels/1/${name}/metadata` });
const METADATA = {
  rows: 1, columns: 2, bits: 8, signed: false, inverted: false, stored_min: 3, stored_max: 4, padding: null,
  modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
  windows: [], voi_tables: [], automatic: { center: 3.5, width: 1 }, spacing: null, aspect: [1, 1], orientation: null,
}; // prettier-ignore

function stubServer(): string[] {
  const requests: string[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    requests.push(address);
    return Promise.resolve(new Response(address.endsWith("/metadata") ? JSON.stringify(METADATA) : new Uint8Array([3, 1])));
  });
  return requests;
}

afterEach(() => vi.unstubAllGlobals());

test("the first upcoming radiograph is fetched at once, and not again when it is shown", async () => {
  const requests = stubServer();
  fetchFirst([buildAddresses("pa"), buildAddresses("lateral")]);
  expect(requests).toEqual(["/pixels/1/pa", "/pixels/1/pa/metadata"]);
  await loadPicture(buildAddresses("pa"));
  expect(requests).toHaveLength(2);
});

test("without upcoming radiographs nothing is fetched", () => {
  const requests = stubServer();
  fetchFirst([]);
  expect(requests).toEqual([]);
});

test("a picture has window presets", async () => {
  stubServer();
  const { presets, levels } = await loadPicture(buildAddresses("windows"));
  expect([...levels[0].matrix]).toEqual([3, 4]);
  expect(presets[0]?.name).toBe("Automatic");
});
