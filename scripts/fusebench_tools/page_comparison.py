"""A comparison on a page: the ratio of every series with its interval, and the table by harm."""

from __future__ import annotations

import math
from pathlib import Path

from fusebench_tools import page
from fusebench_tools.page import Cell, Column
from fusebench_tools.page_run import percent_label, row_name, row_places
from fusebench_tools.records import Row, read_numbers
from fusebench_tools.svg import Drawing, Scale, time_label

NEEDED = ["verdict", "operator", "variant", "configuration", "problem", "device", "reason", "old_replicas", "new_replicas",
          "old_median_ns", "new_median_ns", "ratio", "ratio_low", "ratio_high", "p", "adjusted_p", "spread"]
BY_HARM = ["newly wrong", "slower", "gone", "ambiguous", "not comparable", "new", "same", "faster"]
KINDS = {"newly wrong": "bad", "slower": "bad", "gone": "doubt", "ambiguous": "doubt", "faster": "good"}
COLOURS = {"bad": "var(--bad)", "doubt": "var(--doubt)", "good": "var(--good)"}
MOST_SHOWN = 60
COLUMNS = [Column("verdict"), Column("variant", long=True), Column("ratio", True, hint="new over old"),
           Column("95% interval", True, hint="of the ratio"), Column("p", True), Column("old", True, hint="median before"),
           Column("new", True, hint="median after"), Column("reason", wordy=True),
           Column("operator", long=True), Column("configuration", long=True), Column("problem", long=True), Column("device")]


def read(path: Path) -> list[Row]:
    return read_numbers(path, NEEDED, NEEDED[7:])


def is_control(row: Row) -> bool:
    return row["operator"] == "control"


def value(row: Row, name: str) -> float | None:
    return float(row[name]) if row[name] else None


def verdict(rows: list[Row]) -> str:
    own = [row for row in rows if not is_control(row)]
    counts = {name: sum(row["verdict"] == name for row in own) for name in BY_HARM}
    summary = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "no series"
    items = [summary_of(row) for row in own if row["verdict"] in ("newly wrong", "slower")][:20]
    items += [f"the machine drifted: the control {row['variant']} became {row['verdict']} ({float(row['ratio']) - 1:+.2%})" for row in rows
              if is_control(row) and row["verdict"] in ("slower", "faster")]
    if counts["newly wrong"] + counts["slower"]:
        return page.verdict("bad", f"Regressed: {summary}", items)
    if counts["same"] + counts["faster"]:
        return page.verdict("good", f"Nothing slower, nothing newly wrong: {summary}", items)
    return page.verdict("doubt", f"No verdict: {summary}", items)


def summary_of(row: Row) -> str:
    name = " ".join(row[k] for k in ("operator", "variant", "configuration", "problem", "device"))
    if row["verdict"] == "newly wrong":
        return f"newly wrong: {name}: {row['reason']}"
    return (f"slower by {float(row['ratio']) - 1:.2%}: {name}, {time_label(float(row['old_median_ns']))} to "
            f"{time_label(float(row['new_median_ns']))}")


def draw(rows: list[Row], width: int) -> Drawing:
    """A dot for each ratio, a line for its interval; the further right, the slower."""
    left, height, bar = row_places(width)
    ends = [100 * (float(row[name]) - 1) for row in rows for name in ("ratio", "ratio_low", "ratio_high") if row[name]]
    low, high = min(min(ends) * 1.1, -1.0), max(max(ends) * 1.1, 1.0)
    scale = Scale(low, high, left + 6, width - 16)
    bottom = 8 + height * len(rows)
    drawing = Drawing(width, bottom + 24, "ratio of medians, new over old, of each series")
    drawing.x_axis(scale, 4, bottom, percent_label)
    drawing.line(scale(0), 4, scale(0), bottom, "axis")
    for i, row in enumerate(rows):
        y = 8 + i * height
        configuration = "" if row["configuration"] == "default" else row["configuration"]
        note = " · ".join(text for text in (row["verdict"], configuration, row["operator"] if is_control(row) else "") if text)
        row_name(drawing, y, width, row["variant"], note)
        colour = COLOURS.get(KINDS.get(row["verdict"], ""), "var(--muted)")
        at = y + bar + 8
        if row["ratio_low"] and row["ratio_high"]:
            edges = [scale(100 * (float(row[name]) - 1)) for name in ("ratio_low", "ratio_high")]
            drawing.line(edges[0], at, max(edges[1], edges[0] + 1), at, "curve", f"--c:{colour}")
        drawing.circle(scale(100 * (float(row["ratio"]) - 1)), at, 4.5, "dot", f"--c:{colour}",
                       f"{row['operator']} {row['variant']}: {float(row['ratio']):.4f}, {row['verdict']}")
    return drawing


def section(path: Path, rows: list[Row], stem: str) -> str:
    timed = [row for row in rows if row["ratio"]]
    parts = [f"<h2>Comparison</h2><p class=muted>{page.escape(path.name)}</p>"]
    if timed:
        # The largest changes, whatever their verdict, when there are too many.
        largest = sorted(timed, key=lambda row: (BY_HARM.index(row["verdict"]) if row["verdict"] in BY_HARM[:2] else 9,
                                                 -abs(math.log(float(row["ratio"])))))[:MOST_SHOWN]
        shown = sorted(largest, key=lambda row: -float(row["ratio"]))
        more = f" The {MOST_SHOWN} largest changes of {len(timed)}." if len(timed) > MOST_SHOWN else ""
        parts.append(page.figure(lambda width: draw(shown, width), "Change of the median and its 95% interval; right is slower." + more,
                                 f"{stem}.ratios", page.csv_text(NEEDED, ([row[name] for name in NEEDED] for row in shown))))
    parts.append(page.table(*page.without_empty(("reason",), COLUMNS, [[
        Cell(row["verdict"], f"{BY_HARM.index(row['verdict'])} {row['verdict']}" if row["verdict"] in BY_HARM else None,
             KINDS.get(row["verdict"], "")),
        row["variant"],
        page.number(value(row, "ratio"), ".4f"),
        Cell(f"{value(row, 'ratio_low'):.4f} – {value(row, 'ratio_high'):.4f}" if row["ratio_low"] and row["ratio_high"] else "",
             value(row, "ratio_low")),
        page.number(value(row, "p"), ".2g"),
        *(Cell(time_label(value(row, name)), value(row, name)) if row[name] else Cell("", "")
          for name in ("old_median_ns", "new_median_ns")),
        row["reason"], row["operator"], row["configuration"], row["problem"], row["device"]] for row in rows])))
    return "".join(parts)
