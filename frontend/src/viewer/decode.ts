// Decodes the transferred bytes into the matrix. The browser has already removed gzip.
//
// Each row is delta-encoded, starting from 0. With up to 8 bits per pixel, a delta is one byte (modulo 256). Otherwise
// it is a zigzag-encoded number of 16 bits (0, -1, 1, -2, ...); all low bytes come first, then all high ones.

/** The matrix, row by row, as unsigned numbers of 16 bits. */
export function decodeMatrix(bytes: Uint8Array, rows: number, columns: number, bits: number): Uint16Array {
  const count = rows * columns;
  const expected = bits > 8 ? 2 * count : count;
  if (bytes.length !== expected) throw new Error(`the matrix came with ${bytes.length} bytes, not ${expected}`);
  const matrix = new Uint16Array(count);
  return bits > 8 ? decodeSixteenBit(bytes, matrix, columns) : decodeEightBit(bytes, matrix, columns);
}

function decodeEightBit(bytes: Uint8Array, matrix: Uint16Array, columns: number): Uint16Array {
  for (let start = 0; start < matrix.length; start += columns) {
    let value = 0;
    for (let index = start; index < start + columns; index += 1) matrix[index] = value = (value + bytes[index]!) & 255;
  }
  return matrix;
}

function decodeSixteenBit(bytes: Uint8Array, matrix: Uint16Array, columns: number): Uint16Array {
  const count = matrix.length;
  for (let start = 0; start < count; start += columns) {
    let value = 0;
    for (let index = start; index < start + columns; index += 1) {
      const zigzag = bytes[index]! | (bytes[count + index]! << 8);
      matrix[index] = value = (value + ((zigzag >>> 1) ^ -(zigzag & 1))) & 65535;
    }
  }
  return matrix;
}
