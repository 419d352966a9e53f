// What the drawable canvas draws, compared.

/** Whether two drawings are the same; the canvas writes its numbers with four decimals. */
export function same(some, others) {
  const near = (a, b) => Math.abs(a - b) < 0.05;
  const width = (box) => box.width * (box.scaleX ?? 1);
  const height = (box) => box.height * (box.scaleY ?? 1);
  return (
    some.length === others.length &&
    some.every((a, index) => {
      const b = others[index];
      return (a.label ?? "") === (b.label ?? "") && near(a.left, b.left) && near(a.top, b.top) && near(width(a), width(b)) && near(height(a), height(b));
    })
  );
}
