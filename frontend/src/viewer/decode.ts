// From the bytes on the wire to the matrix. The browser has taken gzip away already.
//
// Each row begins at 0 and holds differences from pixel to pixel. Up to 8 bits these are bytes, modulo 256; above,
// they are zigzag numbers of 16 bits (0, -1, 1, -2, ...), all low bytes first, then all high ones.

/** The matrix, row by row, as unsigned numbers of 16 bits. */
export function decode(bytes: Uint8Array, rows: number, columns: number, bits: number): Uint16Array {
  const count = rows * columns;
  const wanted = bits > 8 ? 2 * count : count;
  if (bytes.length !== wanted) throw new Error(`the matrix came with ${bytes.length} bytes, not ${wanted}`);
  const matrix = new Uint16Array(count);
  return bits > 8 ? sixteen(bytes, matrix, columns) : eight(bytes, matrix, columns);
}

function eight(bytes: Uint8Array, matrix: Uint16Array, columns: number): Uint16Array {
  for (let start = 0; start < matrix.length; start += columns) {
    let value = 0;
    for (let at = start; at < start + columns; at += 1) matrix[at] = value = (value + bytes[at]!) & 255;
  }
  return matrix;
}

function sixteen(bytes: Uint8Array, matrix: Uint16Array, columns: number): Uint16Array {
  const count = matrix.length;
  for (let start = 0; start < count; start += columns) {
    let value = 0;
    for (let at = start; at < start + columns; at += 1) {
      const zigzag = bytes[at]! | (bytes[count + at]! << 8);
      matrix[at] = value = (value + ((zigzag >>> 1) ^ -(zigzag & 1))) & 65535;
    }
  }
  return matrix;
}
