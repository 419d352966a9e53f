// Measurements on a radiograph: length, cardiothoracic ratio, angle. Pure functions. Measurements are not part of a verdict.

import type { ImageMetadata } from "./types";

/** A point in pixels of the matrix: column, row. */
export type Point = readonly [number, number];
export type Line = readonly [Point, Point];

export type Measurement =
  | { kind: "ruler"; lines: readonly [Line] }
  /** The width of the heart, then the width of the thorax. */
  | { kind: "heart-ratio"; lines: readonly [Line] | readonly [Line, Line] }
  /** Both lines meet at the vertex: the first ends there, the second starts there. */
  | { kind: "angle"; lines: readonly [Line] | readonly [Line, Line] };

export type MeasurementKind = Measurement["kind"];

interface Unit {
  /** The size of a pixel, across and down. */
  across: number;
  down: number;
  name: "mm" | "px";
}

/** Millimetres if the pixel spacing is known, else pixels, where the width of a pixel counts as 1. */
function getUnit({ spacing, aspect: [vertical, horizontal] }: ImageMetadata): Unit {
  if (spacing?.kind && spacing.row_mm && spacing.column_mm) return { across: spacing.column_mm, down: spacing.row_mm, name: "mm" };
  return { across: 1, down: vertical / horizontal, name: "px" };
}

const subtract = (to: Point, from: Point, { across, down }: Unit): [number, number] => [(to[0] - from[0]) * across, (to[1] - from[1]) * down];

const measureLength = ([from, to]: Line, unit: Unit): number => Math.hypot(...subtract(to, from, unit));

/** The angle at the vertex, 0 to 180 degrees; NaN if a leg has no length. */
export function computeAngle(metadata: ImageMetadata, [end, vertex]: Line, [, otherEnd]: Line): number {
  const unit = getUnit(metadata);
  const [x1, y1] = subtract(end, vertex, unit);
  const [x2, y2] = subtract(otherEnd, vertex, unit);
  if (Math.hypot(x1, y1) === 0 || Math.hypot(x2, y2) === 0) return NaN;
  return (Math.abs(Math.atan2(x1 * y2 - y1 * x2, x1 * x2 + y1 * y2)) * 180) / Math.PI;
}

/** Heart width by thorax width (Danzer 1919); NaN if the thorax has no width. */
export function computeHeartRatio(metadata: ImageMetadata, heart: Line, thorax: Line): number {
  const unit = getUnit(metadata);
  const width = measureLength(thorax, unit);
  return width === 0 ? NaN : measureLength(heart, unit) / width;
}

/** The text of a measurement, with units, or a request for the missing lines. */
export function formatMeasurement(metadata: ImageMetadata, { kind, lines }: Measurement): string {
  const [first, second] = lines;
  if (kind === "ruler") return formatLength(metadata, ...first);
  if (kind === "angle") return second ? `${formatNumber(computeAngle(metadata, first, second), 1)}°` : "Drag from the vertex for the other leg";
  const heart = `heart ${formatWidth(metadata, first)}`;
  if (!second) return `${heart} · drag across the thorax`;
  return `ratio ${formatNumber(computeHeartRatio(metadata, first, second), 2)} · ${heart} · thorax ${formatWidth(metadata, second)}`;
}

function formatWidth(metadata: ImageMetadata, line: Line): string {
  const unit = getUnit(metadata);
  return `${measureLength(line, unit).toFixed(unit.name === "mm" ? 1 : 0)} ${unit.name}`;
}

const formatNumber = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : "not defined");

/** The distance between two points, and the plane of the measurement; only pixels if there is no valid spacing. */
export function formatLength(metadata: ImageMetadata, from: Point, to: Point): string {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const pixels = `${Math.hypot(dx, dy).toFixed(0)} px`;
  const { spacing } = metadata;
  if (!spacing?.kind || !spacing.row_mm || !spacing.column_mm) return pixels;
  const millimetres = Math.hypot(dx * spacing.column_mm, dy * spacing.row_mm);
  return `${millimetres.toFixed(1)} mm (${spacing.kind}) · ${pixels}`;
}

/** The measurement after a further line of that kind: the second line completes the first, a third begins a new measurement. */
export function addLine(before: Measurement | null, kind: MeasurementKind, line: Line): Measurement {
  if (kind === "ruler") return { kind, lines: [line] };
  const [first, second] = before?.kind === kind ? before.lines : [];
  if (!first || second) return { kind, lines: [line] };
  return { kind, lines: [first, kind === "angle" ? [first[1], line[1]] : line] };
}

/** Where the next line starts: the vertex of an angle that has one leg, else the point itself. */
export function findLineStart(before: Measurement | null, kind: MeasurementKind, point: Point): Point {
  return kind === "angle" && before?.kind === "angle" && before.lines.length === 1 ? before.lines[0][1] : point;
}

/** The measurement with one end of a line moved; the legs of an angle stay joined. */
export function moveEnd(measurement: Measurement, lineIndex: number, endIndex: number, point: Point): Measurement {
  const isVertex = measurement.kind === "angle" && lineIndex !== endIndex; // the first line's end, the second line's start
  const lines = measurement.lines.map((line, index) => {
    const movedEnd = index === lineIndex ? endIndex : isVertex ? 1 - index : -1;
    return line.map((end, endAt) => (endAt === movedEnd ? point : end));
  });
  return { ...measurement, lines } as unknown as Measurement;
}
