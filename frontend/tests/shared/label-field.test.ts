// The list of labels of a new box.

import { expect, test } from "vitest";
import { filterLabels } from "../../src/shared/label-field";

const LABELS = ["lung nodule", "nodule", "pneumothorax", "left lung"];

test("all labels are listed before anything is typed", () => expect(filterLabels(LABELS, " ")).toEqual(LABELS));

test("labels that begin with the typed text come first, and the text itself can be taken", () => {
  expect(filterLabels(LABELS, "Nod")).toEqual(["nodule", "lung nodule", "Nod"]);
  expect(filterLabels(LABELS, "lung")).toEqual(["lung nodule", "left lung", "lung"]);
});

test("a label that is typed in full comes first and is listed once", () => expect(filterLabels(LABELS, "Nodule")).toEqual(["nodule", "lung nodule"]));

test("a text that no label contains is the only choice", () => expect(filterLabels(LABELS, " rib 4 ")).toEqual(["rib 4"]));
