"""A machine's history on a page: each series over its nights, with segments and change points."""

from __future__ import annotations

from pathlib import Path

from fusebench_tools import change_points, page
from fusebench_tools.change_points import ChangePoint
from fusebench_tools.history import SERIES, Segment
from fusebench_tools.page import Cell, Column
from fusebench_tools.records import BadFile
from fusebench_tools.svg import Drawing, Scale, time_label

MOST_SHOWN = 40
COLUMNS = [Column("state"), Column("variant", long=True), Column("nights", True), Column("last night"),
           Column("median", True, hint="of the last night"),
           Column("last change", True), Column("since"), Column("operator", long=True),
           Column("configuration", long=True), Column("problem", long=True), Column("device")]
DATA = ["night", "timestamp_utc", "git_commit", *SERIES, "device_name", "driver", "toolkit", "clock_policy", "median_ns", "low_ns",
        "high_ns"]


class Series:
    """All segments of one, with its change points, in order of time."""

    def __init__(self, segments: list[Segment], points: list[ChangePoint]) -> None:
        self.segments = segments
        self.points = [point for point in points if any(point.segment is segment for segment in segments)]
        self.newest = next(segment for segment in segments if segment.newest)
        self.nights = sorted(((row, segment) for segment in segments for row in segment.rows), key=lambda pair: pair[0]["timestamp_utc"])
        current = [point for point in self.points if point.segment is self.newest]
        self.last = current[-1] if current else None

    @property
    def state(self) -> str:
        if self.last is None:
            return "steady"
        return "slower" if self.last.slower else "faster"


def series_of(segments: list[Segment], points: list[ChangePoint]) -> list[Series]:
    """Those that became slower first, then those with other changes; controls last."""
    by_name: dict[tuple[str, ...], list[Segment]] = {}
    for segment in segments:
        by_name.setdefault(segment.series, []).append(segment)
    found = [Series(of_series, points) for of_series in by_name.values()]
    return sorted(found, key=lambda s: (s.newest.is_control, ["slower", "faster", "steady"].index(s.state), -len(s.points)))


def find(segments: list[Segment]) -> tuple[list[ChangePoint], str]:
    """The change points, and what to say where Otava is missing or fails: that costs them, not the page."""
    try:
        return change_points.find(segments), ""
    except BadFile as problem:
        return [], str(problem)


def draw(series: Series, width: int) -> Drawing:
    left, right, top, bottom = 64, width - 10, 26, 150
    drawing = Drawing(width, bottom + 24, f"history of {series.newest.name}")
    rows = [row for row, _ in series.nights]
    lows, highs = ([float(row[name] or row["median_ns"]) for row in rows] for name in ("low_ns", "high_ns"))
    medians = [float(row["median_ns"]) for row in rows]
    # One slow night must not flatten the others, and a change of a percent not fill the plot. What is out of reach lies
    # at the edge.
    usual = [ns for segment in series.segments for ns in change_points.clamped(segment.times)]
    middle = (min(usual) + max(usual)) / 2
    reach = max(0.75 * (max(usual) - min(usual)), 0.015 * middle)
    scale = Scale(middle - reach, middle + reach, bottom, top)

    def y(ns: float) -> float:
        return min(max(scale(ns), top - 2), bottom + 2)

    x = Scale(0, max(len(rows) - 1, 1), left + 6, right - 6)
    drawing.y_axis(scale, left, right, time_label, 4)
    colour = "#3b8ed0"
    # A line joins only what compares.
    start = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and series.nights[end][1] is series.nights[start][1]:
            continue
        stretch = range(start, end)
        around = [(x(i), y(highs[i])) for i in stretch] + [(x(i), y(lows[i])) for i in reversed(stretch)]
        drawing.path(around, "band", f"--c:{colour}", closed=True)
        drawing.path([(x(i), y(medians[i])) for i in stretch], "curve", f"--c:{colour}")
        if end < len(rows):
            drawing.line(x(end - 0.5), top - 8, x(end - 0.5), bottom, "rule")
            before, after = (series.nights[i][1].conditions for i in (end - 1, end))
            changed = next(b for a, b in zip(before, after) if a != b)
            anchor = "end" if x(end) > width / 2 else "start"
            drawing.text(x(end - 0.5) + (-4 if anchor == "end" else 4), top - 10, f"now {changed}", "note", anchor)
        start = end
    for i in range(len(rows)):
        drawing.circle(x(i), y(medians[i]), 2.2, "dot", f"--c:{colour}", f"{rows[i]['night']}: {time_label(medians[i])}")
    place = {id(row): i for i, row in enumerate(rows)}
    for point in series.points:
        css = "var(--bad)" if point.slower else "var(--good)"
        i = place[id(point.segment.rows[point.index])]
        drawing.line(x(i - 0.5), top, x(i - 0.5), bottom, "curve", f"--c:{css}")
        anchor = "end" if x(i) > width * 0.7 else "start"
        drawing.text(x(i - 0.5) + (-4 if anchor == "end" else 4), top + 10, f"{'▲' if point.slower else '▼'} {point.change:+.1%}",
                     "alarm" if point.slower else "note", anchor)
    for i, anchor in ((0, "start"), (len(rows) - 1, "end")) if len(rows) > 1 else ((0, "start"),):
        drawing.text(left if anchor == "start" else right, bottom + 17, rows[i]["timestamp_utc"][:10], "tick", anchor)
    return drawing


def figure(series: Series, stem: str) -> str:
    data = page.csv_text([*DATA, "change_point"], ([*(row[name] for name in DATA),
                         any(point.segment.rows[point.index] is row for point in series.points)] for row, _ in series.nights))
    caption = f"{len(series.nights)} nights; the band: all replicas' medians; what is far out lies at the edge."
    return f"<h3>{page.escape(series.newest.name)}</h3>" + page.figure(lambda width: draw(series, width), caption, stem, data)


def verdict(machine: str, segments: list[Segment], points: list[ChangePoint], missing: str) -> str:
    if missing:
        return page.verdict("doubt", f"History of {machine}: no change points were looked for", [missing])
    slower = change_points.slower_now(points)
    items = [f"{point.segment.name}: {point.change:+.1%} since {point.segment.rows[point.index]['night']}" for point in slower]
    if items:
        return page.verdict("bad", f"History of {machine}: {len(items)} series slower now", items)
    if not any(len(segment.rows) >= change_points.FEWEST_NIGHTS for segment in segments):
        return page.verdict("doubt", f"History of {machine}: fewer than {change_points.FEWEST_NIGHTS} nights, no verdict yet")
    return page.verdict("good", f"History of {machine}: nothing is slower now")


def section(path: Path, segments: list[Segment], points: list[ChangePoint]) -> str:
    every = series_of(segments, points)
    parts = [f"<h2>History of {page.escape(path.stem)}</h2>"]
    if len(every) > MOST_SHOWN:
        parts.append(f"<p class=muted>The first {MOST_SHOWN} of {len(every)} series, changed ones first; the table has all.</p>")
    rows = []
    for s in every:
        operator, variant, configuration, problem, device, _ = s.newest.series
        last = s.nights[-1][0]
        rows.append([Cell(s.state, css={"slower": "bad", "faster": "good"}.get(s.state, "")), variant,
                     Cell(str(len(s.nights)), len(s.nights)), last["night"],
                     Cell(time_label(float(last["median_ns"])), float(last["median_ns"])),
                     page.number(s.last.change * 100 if s.last else None, "+.1f", "%"),
                     s.newest.rows[s.last.index]["night"] if s.last else "", operator, configuration, problem, device])
    parts.append(page.table(COLUMNS, rows))
    parts += [figure(s, f"{path.stem}.history.{number}") for number, s in enumerate(every[:MOST_SHOWN])]
    return "".join(parts)
