// Boxes and their history.

import { describe, expect, it } from "vitest";

import { grown, held, History, isOneOf, moved, otherSide, whereChanged, type RoomBox } from "../../src/viewer/boxes";

const size = { rows: 100, columns: 200 };
const box = (id: number, radiograph = "pa"): RoomBox => ({ id, radiograph, label: "nodule", box: [10, 20, 30, 40] });

describe("a box", () => {
  it("is held on the matrix, its corners in order", () => {
    expect(held([250, -5, 30.004, 50], size)).toEqual([30, 0, 200, 50]);
  });

  it("keeps its size when it is moved against an edge", () => {
    expect(moved([10, 20, 30, 40], -50, 90, size)).toEqual([0, 80, 20, 100]);
  });

  it("grows and shrinks by the edge that is named, as far as it stays a box on the matrix", () => {
    expect(grown([10, 20, 30, 40], [1, 0], 5, size)).toEqual([10, 20, 35, 40]);
    expect(grown([10, 20, 30, 40], [-1, 0], 5, size)).toEqual([5, 20, 30, 40]);
    expect(grown([10, 20, 30, 40], [0, 1], -5, size)).toEqual([10, 20, 30, 35]);
    expect(grown([10, 20, 30, 40], [0, -1], 50, size)).toEqual([10, 0, 30, 40]);
    expect(grown([10, 20, 30, 40], [1, 0], -19, size)).toBeNull();
    expect(grown([10, 20, 200, 40], [1, 0], 5, size)).toBeNull();
  });

  it("goes to the other side with left and right exchanged, and back", () => {
    const copy = otherSide([10, 20, 30, 40], "left lower lung zone", size, false);
    expect(copy).toEqual({ box: [170, 20, 190, 40], label: "right lower lung zone" });
    expect(otherSide(copy.box, copy.label, size, false)).toEqual({ box: [10, 20, 30, 40], label: "left lower lung zone" });
  });

  it("is mirrored up and down where the image lies on its side", () => {
    expect(otherSide([10, 20, 30, 40], "", size, true).box).toEqual([10, 60, 30, 80]);
  });

  it("is the machine's as long as place and label are", () => {
    expect(isOneOf({ ...box(2), box: [10.01, 20, 30, 40] }, [box(1)])).toBe(true);
    expect(isOneOf({ ...box(2), label: "mass" }, [box(1)])).toBe(false);
    expect(isOneOf({ ...box(2), box: [11, 20, 30, 40] }, [box(1)])).toBe(false);
  });
});

describe("history", () => {
  it("goes back to the start and forward to the end, however long", () => {
    const history = new History();
    for (let id = 1; id <= 1000; id += 1) history.apply([...history.now, box(id)]);
    while (history.undo());
    expect(history.now).toEqual([]);
    while (history.redo());
    expect(history.now.length).toBe(1000);
  });

  it("forgets what was undone once something else is done", () => {
    const history = new History();
    history.apply([box(1)]);
    history.undo();
    history.apply([box(2)]);
    expect(history.redo()).toBe(false);
    expect(history.now).toEqual([box(2)]);
  });

  it("takes back the nudges of one box together, and after a pause apart", () => {
    const history = new History([box(1)]);
    history.apply([box(2)], "nudge 1");
    history.apply([box(3)], "nudge 1");
    history.close();
    history.apply([box(4)], "nudge 1");
    history.undo();
    expect(history.now).toEqual([box(3)]);
    history.undo();
    expect(history.now).toEqual([box(1)]);
  });

  it("says on which radiograph something changed", () => {
    const [first, second] = [box(1), box(2, "lateral")];
    expect(whereChanged([first], [first, second])).toBe("lateral");
    expect(whereChanged([first, second], [first])).toBe("lateral");
    expect(whereChanged([first], [first])).toBeNull();
  });
});
