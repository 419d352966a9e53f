// @vitest-environment happy-dom
// A figure of a report: how it is mounted, replaced and removed.

import { expect, test, vi } from "vitest";
import mount from "../../src/figure/figure";

const drawing = (title: string, text: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" aria-label="${title}"><text>${text}</text></svg>`;

test("a figure is labelled and drawn, replaced by the next one, and removed at the end", () => {
  const parentElement = document.createElement("div");
  const component = { parentElement, setTriggerValue: vi.fn() };
  mount({ ...component, data: { svg: drawing("Accuracy", "62.10") } });
  const end = mount({ ...component, data: { svg: drawing("Kappa", "0.41") } });
  expect(parentElement.querySelectorAll("svg")).toHaveLength(1);
  expect(parentElement.querySelector("[role=region]")?.getAttribute("aria-label")).toBe("Kappa");
  expect(parentElement.textContent).toBe("0.41");
  end();
  expect(parentElement.childElementCount).toBe(0);
});
