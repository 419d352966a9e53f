// The viewer's keys. Keys of the form and of Streamlit are not handled.

import { describe, expect, it } from "vitest";

import { findControlAction, findPriorityAction, findFallbackAction } from "../../src/viewer/keys";

const key = (name: string, modifiers: Partial<KeyboardEvent> = {}): KeyboardEvent => ({ key: name, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...modifiers }) as KeyboardEvent;

describe("keys", () => {
  it("of the form are not handled before it", () => {
    for (const character of "abefghijklmnopqstuvwxyz12345?") expect(findPriorityAction(key(character), true)).toBeNull();
  });

  it("of Streamlit are never handled", () => {
    for (const character of ["c", "r"]) {
      expect(findPriorityAction(key(character), true) ?? findFallbackAction(key(character))).toBeNull();
      expect(findPriorityAction(key(character.toUpperCase(), { shiftKey: true }), true)).toBeNull();
    }
  });

  it("with arrows move the selected box, with Ctrl resize it, with Shift and no selection pan the image", () => {
    expect(findPriorityAction(key("ArrowLeft"), true)).toBe("arrowleft");
    expect(findPriorityAction(key("ArrowLeft"), false)).toBeNull();
    expect(findPriorityAction(key("ArrowLeft", { shiftKey: true }), false)).toBe("pan-left");
    expect(findControlAction(key("ArrowLeft", { ctrlKey: true }))).toBe("size-left");
    expect(findControlAction(key("ArrowLeft", { metaKey: true }))).toBeNull(); // the way back on a Mac
  });

  it("with Ctrl undo and redo", () => {
    expect(findControlAction(key("z", { ctrlKey: true }))).toBe("undo");
    expect(findControlAction(key("Z", { metaKey: true, shiftKey: true }))).toBe("redo");
    expect(findControlAction(key("y", { ctrlKey: true }))).toBe("redo");
  });

  it("darken and brighten on an English and on a German keyboard", () => {
    expect([",", ".", "<", ">", ";", ":"].map((character) => findFallbackAction(key(character)))).toEqual(["darker", "brighter", "more-contrast", "less-contrast", "more-contrast", "less-contrast"]);
  });
});
