// Boxes and their history.

import { describe, expect, it } from "vitest";

import { resizeEdge, clampBox, BoxHistory, includesBox, moveBox, mirrorBox, findChangedRadiograph, type ViewerBox } from "../../src/viewer/boxes";

const size = { rows: 100, columns: 200 };
const box = (id: number, radiograph = "pa"): ViewerBox => ({ id, radiograph, label: "nodule", box: [10, 20, 30, 40] });

describe("a box", () => {
  it("is clamped to the matrix, with ordered corners", () => {
    expect(clampBox([250, -5, 30.004, 50], size)).toEqual([30, 0, 200, 50]);
  });

  it("keeps its size when it is moved against an edge", () => {
    expect(moveBox([10, 20, 30, 40], -50, 90, size)).toEqual([0, 80, 20, 100]);
  });

  it("is resized at one edge, but not beyond the matrix or below the minimum size", () => {
    expect(resizeEdge([10, 20, 30, 40], [1, 0], 5, size)).toEqual([10, 20, 35, 40]);
    expect(resizeEdge([10, 20, 30, 40], [-1, 0], 5, size)).toEqual([5, 20, 30, 40]);
    expect(resizeEdge([10, 20, 30, 40], [0, 1], -5, size)).toEqual([10, 20, 30, 35]);
    expect(resizeEdge([10, 20, 30, 40], [0, -1], 50, size)).toEqual([10, 0, 30, 40]);
    expect(resizeEdge([10, 20, 30, 40], [1, 0], -19, size)).toBeNull();
    expect(resizeEdge([10, 20, 200, 40], [1, 0], 5, size)).toBeNull();
  });

  it("is mirrored to the other side with left and right exchanged, and back", () => {
    const copy = mirrorBox([10, 20, 30, 40], "left lower lung zone", size, false);
    expect(copy).toEqual({ box: [170, 20, 190, 40], label: "right lower lung zone" });
    expect(mirrorBox(copy.box, copy.label, size, false)).toEqual({ box: [10, 20, 30, 40], label: "left lower lung zone" });
  });

  it("is mirrored vertically if the image is sideways", () => {
    expect(mirrorBox([10, 20, 30, 40], "", size, true).box).toEqual([10, 60, 30, 80]);
  });

  it("counts as original as long as position and label match", () => {
    expect(includesBox({ ...box(2), box: [10.01, 20, 30, 40] }, [box(1)])).toBe(true);
    expect(includesBox({ ...box(2), label: "mass" }, [box(1)])).toBe(false);
    expect(includesBox({ ...box(2), box: [11, 20, 30, 40] }, [box(1)])).toBe(false);
  });
});

describe("history", () => {
  it("undoes to the start and redoes to the end without limit", () => {
    const history = new BoxHistory();
    for (let id = 1; id <= 1000; id += 1) history.apply([...history.current, box(id)]);
    while (history.undo());
    expect(history.current).toEqual([]);
    while (history.redo());
    expect(history.current.length).toBe(1000);
  });

  it("discards undone states after a new edit", () => {
    const history = new BoxHistory();
    history.apply([box(1)]);
    history.undo();
    history.apply([box(2)]);
    expect(history.redo()).toBe(false);
    expect(history.current).toEqual([box(2)]);
  });

  it("undoes the small moves of one box together, and those after a pause separately", () => {
    const history = new BoxHistory([box(1)]);
    history.apply([box(2)], "nudge 1");
    history.apply([box(3)], "nudge 1");
    history.closeGroup();
    history.apply([box(4)], "nudge 1");
    history.undo();
    expect(history.current).toEqual([box(3)]);
    history.undo();
    expect(history.current).toEqual([box(1)]);
  });

  it("finds the radiograph that changed", () => {
    const [first, second] = [box(1), box(2, "lateral")];
    expect(findChangedRadiograph([first], [first, second])).toBe("lateral");
    expect(findChangedRadiograph([first, second], [first])).toBe("lateral");
    expect(findChangedRadiograph([first], [first])).toBeNull();
  });
});
