// The fixed keys of the viewer.

import { describe, expect, it } from "vitest";

import { findControlAction, findFixedAction } from "../../src/viewer/keys";

const key = (name: string, modifiers: Partial<KeyboardEvent> = {}): KeyboardEvent => ({ key: name, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...modifiers }) as KeyboardEvent;
const find = (event: KeyboardEvent, hasSelection: boolean, isOnButton = false): string | null => findFixedAction(event, { hasSelection, isOnButton });

describe("keys", () => {
  it("with letters, digits and signs are not fixed", () => {
    for (const character of "abcdefghijklmnopqrstuvwxyz12345?,.<>+-") {
      expect(find(key(character), true)).toBeNull();
      expect(find(key(character.toUpperCase(), { shiftKey: true }), true)).toBeNull();
    }
  });

  it("with arrows move the selected box, with Ctrl resize it, with Shift and no selection pan the image", () => {
    expect(find(key("ArrowLeft"), true)).toBe("arrowleft");
    expect(find(key("ArrowLeft"), false)).toBeNull();
    expect(find(key("ArrowLeft", { shiftKey: true }), false)).toBe("pan-left");
    expect(findControlAction(key("ArrowLeft", { ctrlKey: true }))).toBe("size-left");
    expect(findControlAction(key("ArrowLeft", { metaKey: true }))).toBeNull(); // browser Back on a Mac
  });

  it("with Enter edit the label of the selected box, but Shift Enter belongs to the form", () => {
    expect(find(key("Enter"), true)).toBe("label");
    expect(find(key("Enter"), false)).toBeNull();
    expect(find(key("Enter", { shiftKey: true }), true)).toBeNull();
  });

  it("Space and Enter press a button that has the focus", () => {
    expect([find(key(" "), true), find(key(" "), true, true), find(key("Enter"), true, true)]).toEqual(["space", null, null]);
  });

  it("with Ctrl undo and redo", () => {
    expect(findControlAction(key("z", { ctrlKey: true }))).toBe("undo");
    expect(findControlAction(key("Z", { metaKey: true, shiftKey: true }))).toBe("redo");
    expect(findControlAction(key("y", { ctrlKey: true }))).toBe("redo");
  });
});
