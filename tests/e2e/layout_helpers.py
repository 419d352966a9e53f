"""The layout of pages and forms in a window: the radiographs' share, cut or wrapped parts, sizes of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

WINDOWS = {1024: 768, 1440: 900, 1920: 1080, 2560: 1440}  # width to height, pixels

#: Finds cut texts, texts below 12 pixels, a page wider than its window, and a hidden button to sign out.
FIND_FAULTS = r"""() => {
  const faults = [];
  for (const element of document.querySelectorAll('.stApp *')) {
    if (element.closest('[data-testid="stDataFrame"], [aria-hidden="true"], style, textarea')) continue;
    const texts = [...element.childNodes].filter(node => node.nodeType === 3 && node.textContent.trim());
    if (!texts.length || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const range = document.createRange();
    range.setStart(texts[0], 0);
    range.setEnd(texts.at(-1), texts.at(-1).length);
    const text = range.getBoundingClientRect(), words = element.textContent.trim().slice(0, 60);
    if (text.width < 2) continue;
    for (let part = element; part; part = part.parentElement) {
      const style = getComputedStyle(part), box = part.getBoundingClientRect();
      if (box.width <= 1 || box.height <= 1 || style.position === 'fixed') break;
      const isOutside = text.right > box.right + 3 || text.left < box.left - 3;
      if (['hidden', 'clip'].includes(style.overflowX) && isOutside) {
        faults.push(`cut: ${words}`);
        break;
      }
      if (['auto', 'scroll'].includes(style.overflowX)) break;
    }
    const isSmall = parseFloat(getComputedStyle(element).fontSize) < 12;
    if (isSmall && !element.closest('code')) faults.push(`small: ${words}`);
  }
  for (const input of document.querySelectorAll('.stApp input')) {  // a select shows its value in an input
    const isVisible = input.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    if (isVisible && input.scrollWidth > input.clientWidth + 1) {
      faults.push(`cut: ${input.value || input.placeholder}`);
    }
  }
  const main = document.querySelector('[data-testid="stMain"]');
  if (main.scrollWidth > main.clientWidth + 1) faults.push(`the page is ${main.scrollWidth} px wide`);
  const out = document.querySelector('.st-key-sign-out').getBoundingClientRect();
  if (out.top < 0 || out.bottom > innerHeight) faults.push(`sign out ends at ${Math.round(out.bottom)}`);
  return faults;
}"""

_MEASURE = """() => {
    const roots = [...document.querySelectorAll('*')].map(element => element.shadowRoot).filter(Boolean);
    const form = roots.map(root => root.querySelector('.judging')).find(Boolean);
    const shown = [...form.querySelectorAll('*')].filter(element => element.getClientRects().length
        && !element.closest('.pane, .sheet') && getComputedStyle(element).clipPath === 'none');
    const describe = element =>
        `${element.tagName}.${element.className}: ${element.textContent.slice(0, 40)}`;
    const visibleArea = element => {
        const {left, right, top, bottom} = element.getBoundingClientRect();
        return Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0))
            * Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0));
    };
    const panes = [...form.querySelectorAll('.pane')];
    // An element is cut if its content is wider than itself; a button, too, if it is outside or covered.
    const isCut = element => getComputedStyle(element).overflowX !== 'visible'
        && !element.matches('.tools, .batch, .indication') && element.scrollWidth > element.clientWidth + 1;
    const isOutside = element => {
        const {left, right, top, height} = element.getBoundingClientRect();
        if (!element.matches('.controls button, .bar button')
            || element.closest('.tools, .unused')) return false;
        const covering = form.getRootNode().elementFromPoint((left + right) / 2, top + height / 2);
        return right > innerWidth + 1 || left < 0 || !(covering === element || element.contains(covering));
    };
    const hasText = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const texts = shown.filter(hasText);
    const isBroken = element => [...element.childNodes].filter(node => node.nodeType === 3).some(node =>
        [...node.data.matchAll(/[\\p{L}\\d-]+/gu)].some(word => {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            return !word[0].includes('-') && range.getClientRects().length > 1;
        }));
    const height = selector => form.querySelector(selector).getBoundingClientRect().height;
    return {
        share: panes.reduce((sum, pane) => sum + visibleArea(pane), 0) / (innerWidth * innerHeight),
        panes: panes.map(pane => [pane.clientWidth, pane.clientHeight]),
        cut: shown.filter(element => isCut(element) || isOutside(element)).map(describe),
        broken: texts.filter(element => !element.matches('textarea') && isBroken(element)).map(describe),
        smallest_text: Math.min(...texts.filter(element => !element.matches('kbd, b, .control-label'))
            .map(element => parseFloat(getComputedStyle(element).fontSize))),
        toolbar_height: height('.controls'),
        toolbar_button_height: height('[data-control="full-screen"]'),
        scrolls_sideways: document.documentElement.scrollWidth > innerWidth,
    };
}"""


@dataclass(frozen=True, kw_only=True)
class FormLayout:
    """A form as it is laid out in its window. Sizes are in CSS pixels."""

    share: float
    panes: list[tuple[int, int]]
    cut: list[str]
    broken: list[str]
    smallest_text: float
    toolbar_height: float
    toolbar_button_height: float
    scrolls_sideways: bool


def measure_layout(page: Page) -> FormLayout:
    """The layout of the form of this page, after a short wait for its last change."""
    page.wait_for_timeout(150)
    measured: dict[str, Any] = page.evaluate(_MEASURE)
    measured["panes"] = [(width, height) for width, height in measured["panes"]]
    return FormLayout(**measured)


def set_window(page: Page, width: int, height: int | None = None) -> None:
    """Set the size of the window; the height defaults to that of a common monitor of this width."""
    page.set_viewport_size({"width": width, "height": height or WINDOWS[width]})
