// What is fetched, and when.

import { afterEach, expect, test, vi } from "vitest";
import { fetchNow, picture } from "../../src/viewer/pixels";

const about = (name: string) => ({ pixels: `/pixels/1/${name}`, facts: `/pixels/1/${name}/facts` });
const FACTS = {
  rows: 1, columns: 2, bits: 8, signed: false, inverted: false, stored_min: 3, stored_max: 4, padding: null,
  modality: { kind: "identity", slope: 1, intercept: 0, table_first: 0, table: [] },
  windows: [], voi_tables: [], automatic: { center: 3.5, width: 1 }, spacing: null, aspect: [1, 1], orientation: null,
}; // prettier-ignore

function server(): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    asked.push(address);
    return Promise.resolve(new Response(address.endsWith("/facts") ? JSON.stringify(FACTS) : new Uint8Array([3, 1])));
  });
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

test("of what comes next the first radiograph is fetched at once, and not again when it is shown", async () => {
  const asked = server();
  fetchNow([about("pa"), about("lateral")]);
  expect(asked).toEqual(["/pixels/1/pa", "/pixels/1/pa/facts"]);
  await picture(about("pa"));
  expect(asked).toHaveLength(2);
});

test("when nothing comes next nothing is fetched", () => {
  const asked = server();
  fetchNow([]);
  expect(asked).toEqual([]);
});

test("a picture comes with the windows to choose from", async () => {
  server();
  const { presets, levels } = await picture(about("windows"));
  expect([...levels[0].matrix]).toEqual([3, 4]);
  expect(presets[0]?.name).toBe("Automatic");
});
