// The difference between two texts, word by word.

/** Split into words, white space and punctuation. */
const splitWords = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_'-]+|[^\s\p{L}\p{N}_'-]/gu) ?? [];

export interface DiffPart {
  kind: "same" | "del" | "ins";
  text: string;
}

/**
 * Parts of `before` and `after` in reading order.
 *
 * Longest common subsequence of words. If its table would exceed two million cells (texts of 1,400 words),
 * the middle is one deletion and one insertion.
 */
export function diffWords(before: string, after: string): DiffPart[] {
  const a = splitWords(before);
  const b = splitWords(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return mergeAdjacent([...a.slice(0, start).map(createSamePart), ...middle, ...a.slice(a.length - end).map(createSamePart)]);
}

const createSamePart = (text: string): DiffPart => ({ kind: "same", text });

function diffMiddle(a: string[], b: string[]): DiffPart[] {
  if (a.length * b.length > 2_000_000) {
    return [{ kind: "del", text: a.join("") }, { kind: "ins", text: b.join("") }];
  }
  // commonLengths[i * width + j]: length of the longest common subsequence of a.slice(i) and b.slice(j)
  const width = b.length + 1;
  const commonLengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      commonLengths[i * width + j] =
        a[i] === b[j] ? commonLengths[(i + 1) * width + j + 1]! + 1 : Math.max(commonLengths[(i + 1) * width + j]!, commonLengths[i * width + j + 1]!);
    }
  }
  const parts: DiffPart[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      parts.push(createSamePart(a[i]!));
      i += 1;
      j += 1;
    } else if (commonLengths[(i + 1) * width + j]! >= commonLengths[i * width + j + 1]!) {
      parts.push({ kind: "del", text: a[i++]! });
    } else {
      parts.push({ kind: "ins", text: b[j++]! });
    }
  }
  for (; i < a.length; i += 1) parts.push({ kind: "del", text: a[i]! });
  for (; j < b.length; j += 1) parts.push({ kind: "ins", text: b[j]! });
  return parts;
}

/** Merge adjacent parts of the same kind. */
function mergeAdjacent(parts: DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  for (const part of parts) {
    const last = result[result.length - 1];
    if (!part.text) continue;
    if (last?.kind === part.kind) last.text += part.text;
    else result.push({ ...part });
  }
  return result;
}
