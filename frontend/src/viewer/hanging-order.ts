// The hanging order of radiographs: frontal views left, lateral views right.

import type { Radiograph } from "./types";

const VIEW_ORDER = ["pa", "ap", "lateral"];

/** Sort by view. Radiographs of the same or of an unknown view keep their order. */
export function sortForHanging(radiographs: readonly Radiograph[]): Radiograph[] {
  const findPosition = ({ view }: Radiograph): number => {
    const index = VIEW_ORDER.findIndex((prefix) => view.toLowerCase().startsWith(prefix));
    return index < 0 ? VIEW_ORDER.length : index;
  };
  return [...radiographs].sort((first, second) => findPosition(first) - findPosition(second));
}

/** Identifies a radiograph across exams. */
export const getAddress = (radiograph: Radiograph): string => radiograph.pixelsUrl ?? `none:${radiograph.id}`;
