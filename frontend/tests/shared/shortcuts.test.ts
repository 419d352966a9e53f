// Shortcuts: which action a key has, own keys, the list of keys.

import { afterEach, describe, expect, it } from "vitest";
import { ACTIONS, shortcutLabel, findAction, keyHint, keyOf, listShortcuts, readKey, setOwnKeys, type KeyContext } from "../../src/shared/shortcuts";

const press = (key: string, modifiers: Partial<KeyboardEvent> = {}): KeyboardEvent => ({ key, code: "", shiftKey: false, altKey: false, ...modifiers }) as KeyboardEvent;
const CONTEXTS: KeyContext[] = ["answer", "judge", "read", "adjudicate"];

afterEach(() => setOwnKeys({}));

describe("a pressed key", () => {
  it("is named by its character, with Shift for letters, digits and named keys only", () => {
    expect(readKey(press("a"))).toBe("A");
    expect(readKey(press("A", { shiftKey: true }))).toBe("Shift+A");
    expect(readKey(press("?", { shiftKey: true }))).toBe("?");
    expect(readKey(press(" "))).toBe("Space");
    expect(readKey(press("ArrowLeft", { shiftKey: true }))).toBe("Shift+ArrowLeft");
  });

  it("of the upper row is a digit on an English, a German and a French keyboard", () => {
    expect(readKey(press("!", { code: "Digit1", shiftKey: true }))).toBe("Shift+1");
    expect(readKey(press("&", { code: "Digit1" }))).toBe("1");
    expect(readKey(press("¡", { code: "Digit1", altKey: true }))).toBe("Alt+1");
  });

  it("darkens and brightens on an English and on a German keyboard", () => {
    expect([",", ".", "<", ">", ";", ":"].map((character) => findAction(press(character), "judge"))).toEqual(["darker", "brighter", "more-contrast", "less-contrast", "more-contrast", "less-contrast"]);
  });

  it("zooms by its character, wherever + is on the keyboard", () => {
    expect(findAction(press("+", { shiftKey: true, code: "Equal" }), "read")).toBe("zoom-in");
    expect(findAction(press("=", { code: "Equal" }), "read")).toBe("zoom-in");
    expect(findAction(press("+", { shiftKey: true, code: "Digit1" }), "judge")).toBe("zoom-in"); // a Swiss keyboard
  });
});

describe("digits", () => {
  it("choose options in every form that asks for an answer; with Shift they give the confidence", () => {
    for (const context of ["answer", "read"] as const)
      for (const digit of [1, 2, 3, 4, 5]) {
        expect(findAction(press(String(digit)), context)).toBe(`option-${digit}`);
        expect(findAction(press("", { code: `Digit${digit}`, shiftKey: true }), context)).toBe(`confidence-${digit}`);
      }
  });

  it("rate where ratings are given", () => expect(findAction(press("4"), "judge")).toBe("rating-4"));
});

describe("the declared keys", () => {
  it.each(CONTEXTS)("have no conflict in the form %s", (context) => {
    const keys = listShortcuts(context).flatMap(({ rows }) => rows.map(([cap]) => cap));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("leave C and R to Streamlit", () => {
    expect(ACTIONS.map(keyOf).filter((key) => /^(Shift\+)?[CR]$/.test(key))).toEqual([]);
  });
});

describe("own keys", () => {
  it("replace the declared ones everywhere", () => {
    setOwnKeys({ accept: "Space", reject: "" });
    expect(findAction(press(" "), "judge")).toBe("accept");
    expect(findAction(press("a"), "judge")).toBeNull();
    expect(findAction(press("x"), "judge")).toBeNull();
    expect([shortcutLabel("accept"), keyHint("accept"), keyHint("reject")]).toEqual(["Space", " (Space)", ""]);
    const rows = listShortcuts("judge").flatMap((group) => group.rows);
    expect(rows).toContainEqual(["Space", "accept and continue"]);
    expect(rows.map(([, help]) => help)).not.toContain("reject the question");
  });

  it("of similar actions that share a row are listed one by one", () => {
    const ratings = (): string | undefined => listShortcuts("judge").flatMap(({ rows }) => rows).find(([, help]) => help === "rate the marked row")?.[0];
    expect(ratings()).toBe("1 – 5");
    setOwnKeys({ "rating-5": "Shift+5" });
    expect(ratings()).toBe("1, 2, 3, 4, Shift 5");
  });
});
