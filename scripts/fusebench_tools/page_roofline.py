"""A roofline on a page. All variants of a problem have the same FLOPs a byte, so they stand in a strip: their names are beside it,
by rate, where there is room, and below the plot by numbers where there is none."""

from __future__ import annotations

from dataclasses import replace

from fusebench_tools import page
from fusebench_tools.page_run import colour_of, shortened
from fusebench_tools.palette import COLOURS
from fusebench_tools.results import time_text
from fusebench_tools.roofline import Point, Roofline
from fusebench_tools.svg import CHARACTER, Drawing, Scale

DATA = ["device", "device_name", "operator", "problem", "variant", "peer", "precision", "configuration", "flops", "useful_bytes",
        "moved_bytes", "flop_per_useful_byte", "flop_per_moved_byte", "median_ns", "flop_per_s", "memory_roof",
        "memory_roof_bytes_per_s", "compute_roof", "compute_roof_flop_per_s", "percent_of_roof"]
LINE = 13.5  # pixels from one name to the next
SMALL = 6.1  # pixels a character of a name takes, about
BESIDE = 270  # pixels for names beside a strip, its leaders included
ABOVE, BELOW = 8.0, 9.0  # pixels from a roof to the middle of a line above and below it, whose letters then are clear of it
TALLEST = 640.0  # pixels that a plot may have so that names are clear of roofs


def si(value: float, unit: str) -> str:
    for limit, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def spread_out(wanted: list[float], least: float, top: float, bottom: float) -> list[float]:
    """Places as near to the wanted ones, which ascend, as leaves `least` between neighbours, within top..bottom where that can be."""
    placed: list[tuple[float, int]] = []  # clusters: where the first of them is, and how many
    for want in wanted:
        placed.append((min(max(want, top), bottom), 1))
        while len(placed) > 1 and placed[-2][0] + placed[-2][1] * least > placed[-1][0]:
            (first, n), (second, m) = placed[-2:]
            # The place that has the least sum of squares of moves for both clusters together.
            mean = (n * first + m * (second - n * least)) / (n + m)
            placed[-2:] = [(max(top, min(mean, bottom - (n + m - 1) * least)), n + m)]
    return [first + i * least for first, count in placed for i in range(count)]


def spread_around(wanted: list[float], least: float, top: float, bottom: float, bar: float | None, below: bool) -> list[float] | None:
    """As `spread_out`, clear of a bar across, above or below it (`below`: there alone), with the least sum of squares of moves. The first,
    which is a heading, is not parted from the second. None where there is no room."""
    if bar is None:
        bar, below = top - BELOW, True
    best: tuple[float, list[float]] | None = None
    for k in range(1 if below else len(wanted) + 1):
        parts = ((wanted[:k], top, min(bar - ABOVE, bottom)), (wanted[k:], max(bar + BELOW, top), bottom))
        if k == 1 or any(part and low + (len(part) - 1) * least > high for part, low, high in parts):
            continue
        places = [place for part, low, high in parts for place in spread_out(part, least, low, high)]
        cost = sum((place - want) ** 2 for place, want in zip(places, wanted))
        if best is None or cost < best[0]:
            best = (cost, places)
    return best and best[1]


class Plot:
    """One drawing, for a width."""

    def __init__(self, line: Roofline, width: int) -> None:
        self.line, self.width = line, width
        self.left, self.top = 62.0, 12.0
        tallest = max(len(strip) for strip in line.strips)
        # Names beside the strips need a page's width, and strips far enough apart.
        self.beside = width >= 700
        self.right = float(width - 10)
        self.bottom = self.top + max(300.0 if width < 700 else 380.0, LINE * (tallest + 3) if self.beside else 0.0)
        self.x = self.x_scale()
        if self.beside and any(b - a < BESIDE - 1 for a, b in zip(self.strip_places(), [*self.strip_places()[1:], self.right + 8])):
            self.beside = False
            self.bottom = self.top + 380.0
            self.x = self.x_scale()
        self.y = self.y_scale()
        if self.beside:
            self.make_room()
        listed = 0 if self.beside else 22 + LINE * (len(line.points) + len(line.strips))
        self.drawing = Drawing(width, self.bottom + 42 + listed, f"roofline of {line.device_name or line.device}: rate over FLOP per byte")

    def strip_places(self) -> list[float]:
        return [self.x(strip[0].intensity) for strip in self.line.strips]

    def x_scale(self) -> Scale:
        line = self.line
        at = [point.intensity for point in line.points] + [i for point in line.points if (i := point.moved_intensity)]
        if line.memory and line.compute:
            at.append(line.compute.rate / line.memory.rate)  # the ridge
        scale = Scale(min(at) / 1.6, max(at) * 1.6, self.left, self.right, log=True)
        if not self.beside:
            return scale
        # So that there is room for names beside the last strip.
        share = (scale(line.strips[-1][0].intensity) - self.left) / (self.right - self.left)
        return replace(scale, last=min(self.right, self.left + (self.right + 8 - BESIDE - self.left) / share))

    def y_scale(self) -> Scale:
        line = self.line
        rates = [point.rate for point in line.points]
        rates += [bound for strip in line.strips if (bound := line.bound(strip[0].intensity))]
        rates += [line.compute.rate] if line.compute else []
        return Scale(min(rates) / 1.5, max(rates) * 1.5, self.bottom, self.top, log=True)

    def make_room(self) -> None:
        """Taller where that keeps names clear of the roofs; where nothing does, they stand on them."""
        first = self.bottom
        while any(self.clear_places(strip, place) is None for strip, place in zip(self.line.strips, self.strip_places())):
            self.bottom = self.bottom + 20 if self.bottom < self.top + TALLEST else first
            self.y = self.y_scale()
            if self.bottom == first:
                return

    def clear_places(self, strip: list[Point], place: float) -> list[float] | None:
        """Heights of the operator's name and of the points'; None where they have no room."""
        wanted = [self.y(point.rate) for point in strip]
        roof = self.roof_at(place + 23)
        slope = roof is not None and self.roof_at(place + 24) != roof
        return spread_around([wanted[0] - LINE, *wanted], LINE, self.top + 22 - LINE, self.bottom - 6, roof, slope)

    def roof_at(self, x: float) -> float | None:
        """Where the roofs are above a place of the axis."""
        scale = self.x
        bound = self.line.bound(scale.low * (scale.high / scale.low) ** ((x - scale.first) / (scale.last - scale.first)))
        return bound and self.y(bound)

    def draw(self) -> Drawing:
        self.axes()
        self.roofs()
        number = 0
        for strip, place in zip(self.line.strips, self.strip_places()):
            for point in strip:
                self.trail(point)
            if self.beside:
                head, *places = self.clear_places(strip, place) or spread_out(
                    [y - LINE * (i == 0) for i, y in enumerate([self.y(strip[0].rate), *(self.y(point.rate) for point in strip)])],
                    LINE, self.top + 22 - LINE, self.bottom - 6)
                self.drawing.text(place + 23, head + 4, strip[0].best.row["operator"], "note bare")
                for point, at in zip(strip, places):
                    self.name_beside(point, place, at)
            for point in reversed(strip):  # the fastest on top
                self.dot(point, place)
            if not self.beside:
                self.numbers(strip, place, number + 1)
            number += len(strip)
        if not self.beside:
            self.list_below()
        return self.drawing

    def axes(self) -> None:
        d = self.drawing
        d.x_axis(self.x, self.top, self.bottom, lambda value: f"{value:g}")
        d.y_axis(self.y, self.left, self.right, lambda value: si(value, ""), 7)
        label = "FLOP per useful byte" if self.width < 700 else "FLOP per byte, of those that must be moved"
        d.text(self.left, self.bottom + 32, label, "tick")
        d.text(4, self.top + 1, "FLOP/s", "tick")

    def roofs(self) -> None:
        """The memory's slope as far as the compute roof, or the frame, and that roof from there on."""
        line, d = self.line, self.drawing
        low, high = self.x.low, self.x.high
        ridge = line.compute.rate / line.memory.rate if line.memory and line.compute else None
        if line.memory:
            rate = line.memory.rate
            end = min(ridge or high, high, self.y.high / rate)
            start = min(max(low, self.y.low / rate), end)
            d.line(self.x(start), self.y(start * rate), self.x(end), self.y(end * rate), "strong")
        if line.compute:
            start = min(max(ridge or low, low), high)
            d.line(self.x(start), self.y(line.compute.rate), self.x.last, self.y(line.compute.rate), "strong", "stroke-dasharray:7 3")

    def trail(self, point: Point) -> None:
        """From where it should be to where its bytes really put it."""
        if not point.moved_intensity:
            return
        y, really = self.y(point.rate), self.x(point.moved_intensity)
        self.drawing.line(self.x(point.intensity), y, really, y, "thin", f"stroke:{colour_of(point.best)}")
        self.drawing.circle(really, y, 3.5, "hollow", f"--c:{colour_of(point.best)}",
                            f"{point.best.row['variant']}: {point.moved_intensity:.3g} FLOP per byte that it moved")

    def dot(self, point: Point, place: float) -> None:
        best = point.best
        tip = f"{best.row['variant']}: {si(point.rate, 'FLOP/s')}, {point.intensity:.3g} FLOP per useful byte, {time_text(best.median_ns)}"
        self.drawing.circle(place, self.y(point.rate), 4, "peer-dot" if best.peer else "dot edged", f"--c:{colour_of(best)}", tip)

    def name_beside(self, point: Point, place: float, at: float) -> None:
        d, y = self.drawing, self.y(point.rate)
        d.path([(place + 5, y), (place + 16, at), (place + 20, at)], "leader", f"--c:{colour_of(point.best)}")
        rate = si(point.rate, "")
        most = int((BESIDE - 30) / SMALL) - len(rate) - 1
        name = shortened(point.best.row["variant"] + (" (peer)" if point.best.peer else ""), most)
        d.text(place + 23, at + 4, f"{name} {rate}", "label bare")

    def numbers(self, strip: list[Point], place: float, first: int) -> None:
        """On the right, else where no trail is on the left; none where it would cover another."""
        last = {side: -1e9 for side in ((1,) if any(point.moved_bytes for point in strip) else (1, -1))}
        for number, point in enumerate(strip, first):
            y = self.y(point.rate)
            side = next((side for side, above in last.items() if y - above >= 10), 0)
            if side:
                self.drawing.text(place + side * 7, y + 4, str(number), "label", "start" if side > 0 else "end")
                last[side] = y

    def list_below(self) -> None:
        d, at, number = self.drawing, self.bottom + 52, 0
        for strip in self.line.strips:
            row = strip[0].best.row
            d.text(4, at, shortened(f"{row['operator']}, {row['problem']}", int(self.width / CHARACTER)), "note")
            at += LINE
            for point in strip:
                number += 1
                best = point.best
                d.circle(28, at - 4, 4, "peer-dot" if best.peer else "dot edged", f"--c:{colour_of(best)}")
                d.text(20, at, str(number), "label", "end")
                d.text(37, at, shortened(best.row["variant"], 38) + (" (peer)" if best.peer else ""), "label")
                d.text(min(self.width - 4, 460), at, si(point.rate, "FLOP/s"), "label", "end")
                at += LINE


def draw(line: Roofline, width: int) -> Drawing:
    return Plot(line, width).draw()


def data_of(line: Roofline) -> str:
    rows = []
    for point in line.points:
        best, bound = point.best, line.bound(point.intensity)
        values = {"device": line.device, "device_name": line.device_name, "peer": best.peer, "flops": point.flops,
                  "useful_bytes": point.useful_bytes, "moved_bytes": point.moved_bytes, "flop_per_useful_byte": point.intensity,
                  "flop_per_moved_byte": point.moved_intensity, "flop_per_s": point.rate,
                  "memory_roof": line.memory and line.memory.name, "memory_roof_bytes_per_s": line.memory and line.memory.rate,
                  "compute_roof": line.compute and line.compute.name, "compute_roof_flop_per_s": line.compute and line.compute.rate,
                  "percent_of_roof": bound and 100 * point.rate / bound}
        rows.append([(best.row | values)[name] for name in DATA])
    return page.csv_text(DATA, rows)


def legend_of(line: Roofline) -> str:
    used = {point.best.row["precision"] for point in line.points}
    entries = [("", colour, name) for name, colour in COLOURS.items() if name in used]
    if any(point.best.peer for point in line.points):
        entries.append(("ring peer-ring", "", "peer, not ranked"))
    if any(point.moved_bytes for point in line.points):
        entries.append(("ring", "", "by the bytes that it moved"))
    if line.memory:
        entries.append(("line", "var(--ink)", f"{line.memory.name}: {si(line.memory.rate, 'B/s')}"))
    if line.compute:
        entries.append(("line dashed", "var(--ink)", f"{line.compute.name}: {si(line.compute.rate, 'FLOP/s')} in float32"))
    return page.legend(entries)


def caption_of(line: Roofline) -> str:
    text = "FLOPs that the operator's definition asks for, over the median. "
    roofs = " and ".join(roof.name for roof in line.roofs)
    text += f"Roofs are this run's controls: {roofs}." if roofs else "The run has no controls."
    if line.compute and line.device == "cuda":
        text += " What tensor cores could do was not measured, so their variants may stand above fma."
    if not line.compute and line.memory:
        text += " The run has no control fma, so only memory's roof is drawn."
    return text


def section(line: Roofline, stem: str) -> str:
    return (f"<h2>Roofline of {page.escape(line.device_name or line.device)}</h2>"
            + page.figure(lambda width: draw(line, width), caption_of(line), stem, data_of(line), legend_of(line)))
