// How radiographs hang: frontal ones left, lateral ones right, as they do on the wall.

import type { Radiograph } from "./types";

const ORDER = ["pa", "ap", "lateral"];

/** In the order that they hang in; those of one view, and of none that is known, as the exam has them. */
export function hung(radiographs: readonly Radiograph[]): Radiograph[] {
  const place = ({ view }: Radiograph): number => {
    const known = ORDER.findIndex((each) => view.toLowerCase().startsWith(each));
    return known < 0 ? ORDER.length : known;
  };
  return [...radiographs].sort((some, other) => place(some) - place(other));
}

/** What tells one radiograph from every other, of this exam or another. */
export const addressOf = (radiograph: Radiograph): string => radiograph.pixels ?? `none:${radiograph.id}`;
