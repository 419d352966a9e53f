// The difference of two texts, word by word.

import { expect, test } from "vitest";
import { diffWords } from "../../src/shared/diff";

const formatDiff = (before: string, after: string): string => diffWords(before, after).map(({ kind, text }) => (kind === "same" ? text : `${kind === "del" ? "-" : "+"}[${text}]`)).join("");

test.each([
  ["the left lung", "the left lung", "the left lung"],
  ["the left lung", "the right lung", "the -[left]+[right] lung"],
  ["", "new", "+[new]"],
  ["old", "", "-[old]"],
  ["a b", "a x b", "a +[x ]b"],
  ["größer", "größte", "-[größer]+[größte]"],
])("the difference from %j to %j", (before, after, expected) => {
  expect(formatDiff(before, after)).toBe(expected);
});

test("kept and deleted parts give the old text, kept and inserted parts the new text", () => {
  const words = ["left", "right", "lung", "effusion", ",", "no", " "];
  let seed = 7;
  const randomText = (): string => Array.from({ length: 12 }, () => words[(seed = (seed * 16807) % 2147483647) % words.length]).join(" ");
  for (let round = 0; round < 50; round += 1) {
    const [before, after] = [randomText(), randomText()];
    const parts = diffWords(before, after);
    const without = (kind: string): string => parts.filter((part) => part.kind !== kind).map((part) => part.text).join("");
    expect([without("ins"), without("del")]).toEqual([before, after]);
  }
});

test("the middle of very long texts is one deletion and one insertion", () => {
  const [before, after] = ["a ".repeat(1500), "b ".repeat(1500)];
  expect(diffWords(before, after).map(({ kind }) => kind)).toEqual(["del", "ins", "same"]);
});
