// The matrix at full, half, quarter … size, so that the cost of drawing depends on the pixels drawn.

export interface Level {
  readonly matrix: Uint16Array;
  readonly columns: number;
  readonly rows: number;
  readonly factor: number; // pixels of the full matrix per pixel of this level, along each axis
}

/** The full matrix first. */
export type Levels = [Level, ...Level[]];

const MAX_SIDE_OF_SMALLEST_LEVEL = 400;

/** Each level has the means of two by two pixels of the one before; an odd last row or column is left out. */
export function buildPyramid(matrix: Uint16Array, rows: number, columns: number): Levels {
  let level: Level = { matrix, columns, rows, factor: 1 };
  const levels: Levels = [level];
  while (Math.min(level.columns, level.rows) > 2 && Math.max(level.columns, level.rows) > MAX_SIDE_OF_SMALLEST_LEVEL) {
    level = halveLevel(level);
    levels.push(level);
  }
  return levels;
}

function halveLevel({ matrix, columns, rows, factor }: Level): Level {
  const [width, height] = [columns >> 1, rows >> 1];
  const half = new Uint16Array(width * height);
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0, from = 2 * y * columns; x < width; x += 1, from += 2, to += 1) {
      half[to] = (matrix[from]! + matrix[from + 1]! + matrix[from + columns]! + matrix[from + columns + 1]! + 2) >> 2;
    }
  }
  return { matrix: half, columns: width, rows: height, factor: 2 * factor };
}

/** The smallest level with at least one pixel per screen pixel. */
export function chooseLevel(levels: Levels, zoom: number): Level {
  return levels.reduce((best, level) => (level.factor * zoom <= 1 ? level : best), levels[0]);
}
