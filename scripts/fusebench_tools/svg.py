"""Just enough SVG for a page's plots: scales, axes and shapes, coloured by the page's style sheet alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from fusebench_tools.results import time_text

CHARACTER = 6.6  # pixels a character of a plot's 12-pixel text takes, about


@dataclass(frozen=True)
class Scale:
    """Values low..high onto pixels first..last."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, max(value, 1e-300) if self.log else value))
        return self.first + (self.last - self.first) * ((at - low) / (high - low) if high > low else 0.5)

    def ticks(self, most: int) -> list[float]:
        return log_ticks(self.low, self.high, most) if self.log else linear_ticks(self.low, self.high, most)


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most `most` of them."""
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(power * m for m in (1, 2, 5, 10, 20, 50, 100) if (high - low) / (power * m) <= most - 1)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """The finest of some ladders of round numbers that has at most `most` in the range."""
    ladders = ((1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,))
    found: list[float] = []
    for ladder in ladders:
        powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        found = [m * 10.0**power for power in powers for m in ladder if low <= m * 10.0**power <= high]
        if len(found) <= most:
            break
    found = found[:: math.ceil(len(found) / most)]
    return found if len(found) >= 2 else linear_ticks(low, high, most)


def time_label(ns: float) -> str:
    return time_text(ns).replace("us", "µs")


class Drawing:
    """Shapes in order; the class of each is the style sheet's."""

    def __init__(self, width: int, height: float, label: str) -> None:
        self.width, self.height, self._label = width, height, label
        self._parts: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, css: str, style: str = "", tip: str = "") -> None:
        self._add("rect", css, style, tip, x=x, y=y, width=max(width, 0.5), height=height)

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str, style: str = "") -> None:
        self._add("line", css, style, "", x1=x1, y1=y1, x2=x2, y2=y2)

    def circle(self, x: float, y: float, r: float, css: str, style: str = "", tip: str = "") -> None:
        self._add("circle", css, style, tip, cx=x, cy=y, r=r)

    def path(self, points: list[tuple[float, float]], css: str, style: str = "", closed: bool = False) -> None:
        text = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if closed else "")
        self._parts.append(f'<path class="{css}"{self._style(style)} d="{text}"/>')

    def text(self, x: float, y: float, text: str, css: str = "", anchor: str = "start") -> None:
        self._parts.append(f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def x_axis(self, scale: Scale, top: float, bottom: float, label) -> None:  # noqa: ANN001
        """Grid lines from top to bottom, and their labels, as many as have room."""
        ticks = scale.ticks(max(2, int(abs(scale.last - scale.first) / 70)))
        for tick in ticks:
            at, text = scale(tick), label(tick)
            self.line(at, top, at, bottom, "grid")
            half = len(text) * CHARACTER / 2
            if at < half:
                self.text(0, bottom + 15, text, "tick")
            elif at > self.width - half:
                self.text(self.width, bottom + 15, text, "tick", "end")
            else:
                self.text(at, bottom + 15, text, "tick", "middle")

    def y_axis(self, scale: Scale, left: float, right: float, label, most: int = 5) -> None:  # noqa: ANN001
        for tick in scale.ticks(most):
            self.line(left, scale(tick), right, scale(tick), "grid")
            self.text(left - 6, scale(tick) + 4, label(tick), "tick", "end")

    def __str__(self) -> str:
        return (f'<svg viewBox="0 0 {self.width} {self.height:.0f}" width="{self.width}" role="img" '
                f'aria-label="{escape(self._label)}">{"".join(self._parts)}</svg>')

    @staticmethod
    def _style(style: str) -> str:
        return f' style="{style}"' if style else ""

    def _add(self, name: str, css: str, style: str, tip: str, **numbers: float) -> None:
        given = " ".join(f'{key}="{value:.1f}"' for key, value in numbers.items())
        end = f"><title>{escape(tip)}</title></{name}>" if tip else "/>"
        self._parts.append(f'<{name} class="{css}"{self._style(style)} {given}{end}')
