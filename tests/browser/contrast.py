"""Whether text can be read: the contrast of WCAG 2.2, section 1.4.3."""

from __future__ import annotations

from typing import NamedTuple

from playwright.sync_api import Locator

READ = """root => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const paint = layers => {
    for (const [colour, opacity] of [['white', 1], ...layers]) {
      canvas.globalAlpha = opacity; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1) }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3) };
  const found = [];
  for (const element of [root, ...root.querySelectorAll('*')]) {
    const own = [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.textContent);
    const words = element.matches('input[type=text], select') ? element.value || element.placeholder : own.join(' ');
    if (!words?.trim() || element.matches('style, option') || !element.getClientRects().length) continue;
    const layers = [];
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      layers.unshift([style.backgroundColor, 1]);
      opacity *= style.opacity }
    const style = getComputedStyle(element), colour = element instanceof SVGElement ? style.fill : style.color;
    const name = `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
    found.push([name, words.trim(), colour, paint([...layers, [colour, opacity]]), paint(layers)]) }
  return found }"""


class Words(NamedTuple):
    """Words on screen, in the colours they and what is behind them come to."""

    element: str
    words: str
    colour: str
    front: tuple[int, int, int]
    back: tuple[int, int, int]

    @property
    def contrast(self) -> float:
        """From 1, invisible, to 21, black on white."""
        lighter, darker = sorted((luminance(self.front), luminance(self.back)), reverse=True)
        return (lighter + 0.05) / (darker + 0.05)


def luminance(rgb: tuple[int, int, int]) -> float:
    channels = [c / 255 for c in rgb]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def words_in(root: Locator) -> list[Words]:
    """Everything written on screen in an element."""
    return [
        Words(name, text, colour, tuple(front), tuple(back)) for name, text, colour, front, back in root.evaluate(READ)
    ]
