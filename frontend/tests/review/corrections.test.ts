// @vitest-environment happy-dom
// The list of corrections below the question.

import { expect, test } from "vitest";
import { correctedFields, correctionsList } from "../../src/review/corrections";
import { createInitialState } from "../../src/review/opinion";
import type { ListedBox } from "../../src/shared/viewer";
import { reviewData } from "../forms";

const data = reviewData();

test("a moved box is listed with its old and its new size and corner", () => {
  const added = { label: "effusion", x: 60, y: 20, width: 400, height: 250 } as ListedBox;
  const removed = { label: "effusion", x: 10, y: 20, width: 400, height: 250 };
  const fields = correctedFields(data.questionWithKey!, createInitialState(data, data.questionWithKey!), { added: [added], removed: [removed] }, () => undefined);
  const list = correctionsList(fields, () => undefined)!;
  expect([...list.querySelectorAll("del, ins")].map((mark) => `${mark.tagName} ${mark.textContent}`)).toEqual(["DEL effusion 400 × 250 px at 10, 20", "INS effusion 400 × 250 px at 60, 20"]);
});
