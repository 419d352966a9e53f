// Paints the image on a canvas without the GPU: each pixel is interpolated in a level of the pyramid with two weights,
// then looked up in the table of greys.
//
// During a window drag the table is new in each frame, so painting is limited to arithmetic on typed arrays.

import { chooseLevel, type Levels } from "./pyramid";
import { computeScales, type View } from "./transform";

/** From this zoom on, pixels are not interpolated; from `GRID_FROM_ZOOM` on, lines separate them. */
const NEAREST_FROM_ZOOM = 8;
const GRID_FROM_ZOOM = 16;
const BLACK = 0xff000000;

interface Axis {
  index: Int32Array; // offset in the matrix of the first neighbour
  weight: Int32Array; // of the second neighbour, 0 to 256
  first: number; // positions before `first` and from `end` on are outside the image
  end: number;
}

/** For each of `length` screen pixels: its position along one side of the matrix. */
function computeAxis(length: number, side: { size: number; full: number; factor: number; stride: number }, middle: number, step: number, isNearest: boolean): Axis {
  const index = new Int32Array(length);
  const weight = new Int32Array(length);
  let [first, end] = [length, 0];
  for (let i = 0; i < length; i += 1) {
    const position = middle + (i + 0.5 - length / 2) * step;
    if (position < 0 || position >= side.full) continue;
    first = Math.min(first, i);
    end = i + 1;
    const exact = position / side.factor - (isNearest ? 0 : 0.5);
    const base = Math.min(Math.max(Math.floor(exact), 0), Math.max(side.size - (isNearest ? 1 : 2), 0));
    index[i] = base * side.stride;
    weight[i] = isNearest ? 0 : Math.min(Math.max(Math.round((exact - base) * 256), 0), 256);
  }
  return { index, weight, first, end };
}

/** Paints what `view` shows into `pixels`, an image of `width` x `height`. */
export function paintImage(pixels: Uint32Array, width: number, height: number, levels: Levels, view: View, table: Uint32Array): void {
  const { matrix, columns, rows, factor } = chooseLevel(levels, view.zoom);
  const isNearest = view.zoom >= NEAREST_FROM_ZOOM;
  const shrink = view.width / width; // CSS pixels per painted pixel; a coarse frame has fewer pixels than the device
  const [kx, ky] = computeScales(view, 1 / shrink);
  const [a, b, c, d] = view.orientation;
  const byColumn = { size: columns, full: view.columns, factor, stride: 1 };
  const byRow = { size: rows, full: view.rows, factor, stride: columns };
  const isSideways = a === 0;
  const across = isSideways ? computeAxis(width, byRow, view.y, b / ky, isNearest) : computeAxis(width, byColumn, view.x, a / kx, isNearest);
  const down = isSideways ? computeAxis(height, byColumn, view.x, c / kx, isNearest) : computeAxis(height, byRow, view.y, d / ky, isNearest);
  const [right, below] = isSideways ? [columns, 1] : [1, columns];
  pixels.fill(BLACK);
  const { index, weight, first, end } = across;
  for (let y = down.first; y < down.end; y += 1) {
    const row = down.index[y]!;
    const fy = down.weight[y]!;
    let to = y * width + first;
    if (isNearest) {
      for (let x = first; x < end; x += 1, to += 1) pixels[to] = table[matrix[row + index[x]!]!]!;
      continue;
    }
    for (let x = first; x < end; x += 1, to += 1) {
      const from = row + index[x]!;
      const fx = weight[x]!;
      const upper = matrix[from]! * (256 - fx) + matrix[from + right]! * fx;
      const lower = matrix[from + below]! * (256 - fx) + matrix[from + below + right]! * fx;
      pixels[to] = table[(upper * (256 - fy) + lower * fy) >>> 16]!;
    }
  }
}

/** A canvas that shows a radiograph. */
export class ImageCanvas {
  readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  /** Milliseconds that the last full frame took. */
  lastFrameTime = 0;

  constructor(className: string) {
    this.canvas = document.createElement("canvas");
    this.canvas.className = className;
    this.canvas.setAttribute("aria-hidden", "true");
    this.context = this.canvas.getContext("2d", { alpha: false })!;
  }

  /** `isCoarse` paints every second pixel in both directions, for drags on screens too large for full frames. */
  draw(levels: Levels, view: View, table: Uint32Array, isCoarse = false): void {
    const startTime = performance.now();
    const scale = isCoarse ? 0.5 : 1;
    const width = Math.max(1, Math.round(view.width * view.ratio * scale));
    const height = Math.max(1, Math.round(view.height * view.ratio * scale));
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    paintImage(this.pixels, width, height, levels, view, table);
    this.context.putImageData(this.image, 0, 0);
    if (view.zoom >= GRID_FROM_ZOOM && !isCoarse) this.drawGrid(view, width, height);
    if (!isCoarse) this.lastFrameTime = performance.now() - startTime;
  }

  private drawGrid(view: View, width: number, height: number): void {
    const [kx, ky] = computeScales(view, view.ratio);
    const [stepX, stepY] = view.orientation[0] === 0 ? [ky, kx] : [kx, ky];
    const [middleX, middleY] = view.orientation[0] === 0 ? [view.y * ky * view.orientation[1], view.x * kx * view.orientation[2]] : [view.x * kx * view.orientation[0], view.y * ky * view.orientation[3]];
    const findFirstLine = (middle: number, length: number, step: number): number => (((length / 2 - middle) % step) + step) % step;
    this.context.strokeStyle = "rgba(128, 128, 128, 0.35)";
    this.context.beginPath();
    for (let x = findFirstLine(middleX, width, stepX); x < width; x += stepX) {
      this.context.moveTo(Math.round(x) + 0.5, 0);
      this.context.lineTo(Math.round(x) + 0.5, height);
    }
    for (let y = findFirstLine(middleY, height, stepY); y < height; y += stepY) {
      this.context.moveTo(0, Math.round(y) + 0.5);
      this.context.lineTo(width, Math.round(y) + 0.5);
    }
    this.context.stroke();
  }
}
