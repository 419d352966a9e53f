// Decoding of the transfer format. The expected bytes are computed by hand.

import { describe, expect, it } from "vitest";

import { decodeMatrix } from "../../src/viewer/decode";
import { chooseLevel, buildPyramid } from "../../src/viewer/pyramid";

describe("decode", () => {
  it("up to 8 bits: differences modulo 256, each row from 0", () => {
    // 200, 10, 255 / 5, 4, 3
    expect([...decodeMatrix(Uint8Array.from([200, 66, 245, 5, 255, 255]), 2, 3, 8)]).toEqual([200, 10, 255, 5, 4, 3]);
  });

  it("above 8 bits: zigzag of 16 bits, low bytes before high ones", () => {
    // 1000, 999, 1300: differences 1000, -1, 301 are 2000, 1, 602 = 0x7d0, 0x001, 0x25a
    expect([...decodeMatrix(Uint8Array.from([0xd0, 0x01, 0x5a, 0x07, 0x00, 0x02]), 1, 3, 12)]).toEqual([1000, 999, 1300]);
  });

  it("wraps around at 65,536", () => {
    // 65535 is -1: zigzag 1; then 0 is +1: zigzag 2
    expect([...decodeMatrix(Uint8Array.from([1, 2, 0, 0]), 1, 2, 16)]).toEqual([65535, 0]);
  });

  it("rejects an incomplete matrix", () => {
    expect(() => decodeMatrix(new Uint8Array(5), 2, 3, 8)).toThrow("5 bytes, not 6");
  });
});

describe("pyramid", () => {
  const levels = buildPyramid(new Uint16Array(1001 * 900).fill(7), 900, 1001);

  it("halves the size per level, until no side is longer than 400 pixels", () => {
    expect(levels.map(({ columns, rows, factor }) => [columns, rows, factor])).toEqual([[1001, 900, 1], [500, 450, 2], [250, 225, 4]]);
  });

  it("keeps a uniform matrix uniform", () => {
    expect(new Set(levels[2]?.matrix)).toEqual(new Set([7]));
  });

  it("chooses the smallest level with at least one pixel per screen pixel", () => {
    expect([2, 0.6, 0.5, 0.3, 0.1].map((zoom) => chooseLevel(levels, zoom).factor)).toEqual([1, 1, 2, 2, 4]);
  });
});
