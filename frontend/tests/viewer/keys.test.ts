// What keys do, and that they leave those of the form and of Streamlit alone.

import { describe, expect, it } from "vitest";

import { controlAction, firstAction, laterAction } from "../../src/viewer/keys";

const key = (name: string, more: Partial<KeyboardEvent> = {}): KeyboardEvent => ({ key: name, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more }) as KeyboardEvent;

describe("keys", () => {
  it("of the judging form are not taken before it has them", () => {
    for (const each of "abefghijklmnopqstuvwxyz12345?") expect(firstAction(key(each), true)).toBeNull();
  });

  it("of Streamlit are never taken", () => {
    for (const each of ["c", "r"]) {
      expect(firstAction(key(each), true) ?? laterAction(key(each))).toBeNull();
      expect(firstAction(key(each.toUpperCase(), { shiftKey: true }), true)).toBeNull();
    }
  });

  it("with arrows move the chosen box, with Ctrl size it, with Shift and none chosen move the image", () => {
    expect(firstAction(key("ArrowLeft"), true)).toBe("arrowleft");
    expect(firstAction(key("ArrowLeft"), false)).toBeNull();
    expect(firstAction(key("ArrowLeft", { shiftKey: true }), false)).toBe("pan-left");
    expect(controlAction(key("ArrowLeft", { ctrlKey: true }))).toBe("size-left");
    expect(controlAction(key("ArrowLeft", { metaKey: true }))).toBeNull(); // the way back on a Mac
  });

  it("undo and redo as every editor has them", () => {
    expect(controlAction(key("z", { ctrlKey: true }))).toBe("undo");
    expect(controlAction(key("Z", { metaKey: true, shiftKey: true }))).toBe("redo");
    expect(controlAction(key("y", { ctrlKey: true }))).toBe("redo");
  });

  it("darken and brighten on an English and on a German keyboard", () => {
    expect([",", ".", "<", ">", ";", ":"].map((each) => laterAction(key(each)))).toEqual(["darker", "brighter", "harder", "softer", "harder", "softer"]);
  });
});
