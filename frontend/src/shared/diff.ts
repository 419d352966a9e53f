// The difference between two texts, word by word.

/** Words and the blanks between them, each a separate piece. */
const pieces = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_'-]+|[^\s\p{L}\p{N}_'-]/gu) ?? [];

export interface DiffPart {
  kind: "same" | "del" | "ins";
  text: string;
}

/**
 * Parts of `before` and `after` in reading order.
 *
 * Longest common subsequence of words; beyond two million cells (texts of 1,400 words) the middle is
 * given as one deletion and one insertion.
 */
export function diffWords(before: string, after: string): DiffPart[] {
  const a = pieces(before);
  const b = pieces(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return joinNeighbours([...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)]);
}

const same = (text: string): DiffPart => ({ kind: "same", text });

function compare(a: string[], b: string[]): DiffPart[] {
  if (a.length * b.length > 2_000_000) {
    return [{ kind: "del", text: a.join("") }, { kind: "ins", text: b.join("") }];
  }
  // length[i][j]: common pieces of a from i on and b from j on
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i * width + j] =
        a[i] === b[j] ? length[(i + 1) * width + j + 1]! + 1 : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
    }
  }
  const parts: DiffPart[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      parts.push(same(a[i]!));
      i += 1;
      j += 1;
    } else if (length[(i + 1) * width + j]! >= length[i * width + j + 1]!) {
      parts.push({ kind: "del", text: a[i++]! });
    } else {
      parts.push({ kind: "ins", text: b[j++]! });
    }
  }
  for (; i < a.length; i += 1) parts.push({ kind: "del", text: a[i]! });
  for (; j < b.length; j += 1) parts.push({ kind: "ins", text: b[j]! });
  return parts;
}

/** Neighbours of one kind joined into one. */
function joinNeighbours(parts: DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  for (const part of parts) {
    const last = result[result.length - 1];
    if (!part.text) continue;
    if (last?.kind === part.kind) last.text += part.text;
    else result.push({ ...part });
  }
  return result;
}
