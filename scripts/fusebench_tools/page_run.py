"""A run on a page: each group's times beside the floor with peers, how its samples are spread, and its table."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from fusebench_tools import page
from fusebench_tools.limits import Lines, bars_from_zero, lines_of
from fusebench_tools.page import Cell, Column
from fusebench_tools.palette import COLOURS
from fusebench_tools.records import Row, read_table
from fusebench_tools.results import Best, Group, rate_text
from fusebench_tools.svg import CHARACTER, Drawing, Scale, time_label

COLUMNS = [Column("variant", long=True), Column("precision"), Column("median", True),
           Column("of floor", True, hint="median over the memory floor"),
           Column("spread", True, hint="interquartile range over the median, - of fewer than 5 samples"), Column("GB/s", True), Column("% of copy", True),
           Column("max abs error", True), Column("within 1e-4"), Column("bit-equal %", True), Column("speed-up", True),
           Column("configuration", long=True)]
DATA = ["operator", "problem", "device", "device_name", "variant", "peer", "precision", "configuration", "median_ns", "q1_ns", "q3_ns",
        "floor_ns", "copy_ns", "within_1e4", "max_abs_error", "toolkit", "timestamp_utc"]
SAMPLE_COLUMNS = ["run_id", "operator", "variant", "configuration", "problem", "device", "replica", "sample", "ns", "throttled"]


def colour_of(best: Best) -> str:
    return COLOURS.get(best.row["precision"], "#999999")


def notes_of(best: Best) -> str:
    return " · ".join(note for note in (best.row["precision"], "peer" if best.peer else "", "in place" if best.in_place else "",
                                        best.count_text) if note)


def row_places(width: int) -> tuple[float, float, float]:
    """Where a plot of rows has its bars begin, how high a row is, and where its bar is in that."""
    return (300, 34, 8) if width >= 700 else (4, 52, 28)


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def percent_label(percent: float) -> str:
    return f"{percent:+g}%" if abs(percent) > 1e-9 else "0%"


def row_name(drawing: Drawing, y: float, width: int, name: str, note: str, css: str = "name") -> None:
    note = shortened(note, 44 if width >= 700 else 58)
    if width >= 700:
        drawing.text(292, y + 14, name, css, "end")
        drawing.text(292, y + 27, note, "note", "end")
    else:
        drawing.text(4, y + 12, name, css)
        drawing.text(4, y + 24, note, "note")


def times_scale(group: Group, lines: Lines, first: float, last: float) -> Scale:
    marks = [ns for ns in (lines.floor_ns, lines.copy_ns) if ns]
    every = [best.median_ns for best in group.best] + marks
    if bars_from_zero(group, lines):
        return Scale(0.0, max(every), first, last)
    return Scale(0.85 * min(every), 1.02 * max(every), first, last, log=True)


def draw_times(group: Group, lines: Lines, width: int) -> Drawing:
    left, height, bar = row_places(width)
    bars = bars_from_zero(group, lines)
    # As much room behind the slowest as its label takes.
    scale = times_scale(group, lines, left, width - 25 * CHARACTER)
    bottom = 6 + height * len(group.best)
    drawing = Drawing(width, bottom + 24, f"time of each variant of {group.operator} beside the memory floor")
    drawing.x_axis(scale, 4, bottom, lambda ns: time_label(ns) if ns else "0")
    for i, best in enumerate(group.best):
        y = 6 + i * height
        row_name(drawing, y, width, best.row["variant"], notes_of(best), "peer-name" if best.peer else "name")
        end, middle = scale(best.median_ns), y + bar + 8
        style, tip = f"--c:{colour_of(best)}", f"{best.row['variant']}: {time_label(best.median_ns)}, {best.row['configuration']}"
        q1, q3 = best.number("q1_ns"), best.number("q3_ns")
        quartiles = (scale(q1), max(scale(q3), scale(q1) + 1)) if q1 and q3 else None
        if bars:
            drawing.rect(left, y + bar, end - left, 16, "peer" if best.peer else "bar", style, tip)
        else:
            drawing.line(left, middle, scale.last, middle, "grid")
        if quartiles:
            drawing.line(quartiles[0], middle, quartiles[1], middle, "thin")
        if not bars:
            drawing.circle(end, middle, 5, "peer-dot" if best.peer else "dot edged", style, tip)
            end += 5
        text = time_label(best.median_ns)
        if lines.floor_ns:
            text += f" · {best.median_ns / lines.floor_ns:.3g}× floor"
        near = lines.copy_ns and -5 < scale(lines.copy_ns) - end < 100
        behind = (scale(lines.copy_ns) if near else end) + 6
        drawing.text(behind, y + bar + (7 if best.within_1e4 is False else 12), text)
        if best.within_1e4 is False:
            drawing.text(behind, y + bar + 19, "misses 1e-4", "alarm")
    # On a phone names stand above the bars, where a line must not strike them out.
    places = [6 + i * height + bar for i in range(len(group.best))]
    stretches = [(2.0, float(bottom))] if width >= 700 else [(y - 2.0, y + 18.0) for y in places]
    for ns, css in ((lines.floor_ns, "strong"), (lines.copy_ns, "dashed")):
        for top, end in stretches if ns else []:
            drawing.line(scale(ns), top, scale(ns), end, css)
    return drawing


def times_figure(group: Group, lines: Lines, stem: str) -> str:
    used = {best.row["precision"] for best in group.best}
    entries = [("", colour, name) for name, colour in COLOURS.items() if name in used]
    if any(best.peer for best in group.best):
        entries.append(("peer" if bars_from_zero(group, lines) else "ring peer-ring", "", "peer, not ranked"))
    if lines.floor_ns:
        entries.append(("line", "var(--ink)", f"memory floor {time_label(lines.floor_ns)}"))
    if lines.copy_ns:
        entries.append(("line dashed", "var(--ink)", f"at a copy's rate {time_label(lines.copy_ns)}"))
    data = page.csv_text(DATA, ([(best.row | {"peer": str(best.peer).lower(), "floor_ns": lines.floor_ns,
                                              "copy_ns": lines.copy_ns})[name] for name in DATA] for best in group.best))
    how = ("bars begin at 0, shorter is better" if bars_from_zero(group, lines) else
           "the axis is logarithmic, further left is better")
    return page.figure(lambda width: draw_times(group, lines, width), f"Median of cold calls: {how}; the short line: quartiles.",
                       f"{stem}.times", data, page.legend(entries))


def samples_of(path: Path) -> list[Row]:
    return [row for _, row in read_table(path, SAMPLE_COLUMNS)]


def values_of(group: Group, rows: list[Row], samples: list[Row]) -> dict[str, list[float]]:
    """What is known of each variant's spread, for the run and configuration that the table shows: samples, else the replicas'
    medians. One value alone has no spread."""
    found: dict[str, list[float]] = {}
    for best in group.best:
        if best.peer:
            continue
        key = ("run_id", "operator", "variant", "configuration", "problem", "device")
        values = [float(s["ns"]) for s in samples if all(s[k] == best.row[k] for k in key)]
        values = values or [float(row["median_ns"]) for row in rows if row["median_ns"] and all(row[k] == best.row[k] for k in key)]
        if len(values) > 1:
            found[best.row["variant"]] = values
    return found


def draw_spread(group: Group, values: dict[str, list[float]], width: int) -> Drawing:
    """Each variant's distribution around its own median, in percent; each hump is as high as any other."""
    left, height, _ = row_places(width)
    shown = [best for best in group.best if best.row["variant"] in values and not best.peer]
    relative = {best.row["variant"]: [100 * (v / median(values[best.row["variant"]]) - 1) for v in values[best.row["variant"]]]
                for best in shown}
    every = sorted(v for of_variant in relative.values() for v in of_variant)
    # What is far out is counted at the edge, so that one straggler does not flatten the rest.
    low = min(every[int(0.01 * (len(every) - 1))], -0.5) * 1.15
    high = max(every[int(0.99 * (len(every) - 1))], 0.5) * 1.15
    scale = Scale(low, high, left, width - 8)
    bottom = 8 + height * len(shown)
    drawing = Drawing(width, bottom + 24, f"distribution of the samples of each variant of {group.operator}")
    drawing.x_axis(scale, 4, bottom, percent_label)
    bins = 120 if width >= 700 else 60
    for i, best in enumerate(shown):
        of_variant = relative[best.row["variant"]]
        base = 8 + (i + 1) * height - 4
        # Their own median: that of several replicas' samples is not the one of the replica in the table.
        row_name(drawing, 8 + i * height, width, best.row["variant"],
                 f"{len(of_variant)} around {time_label(median(values[best.row['variant']]))}")
        if len(of_variant) < 30:
            for value in of_variant:
                drawing.circle(scale(min(max(value, low), high)), base - 9, 3.5, "dot", f"--c:{colour_of(best)};fill-opacity:.6")
            continue
        counts = [0] * bins
        for value in of_variant:
            counts[min(bins - 1, max(0, int((value - low) / (high - low) * bins)))] += 1
        step = (scale.last - scale.first) / bins
        points = [(scale.first, base)]
        for b, count in enumerate(counts):
            top = base - (24 if width >= 700 else 19) * count / max(counts)
            points += [(scale.first + b * step, top), (scale.first + (b + 1) * step, top)]
        drawing.path([*points, (scale.last, base)], "hump", f"--c:{colour_of(best)}", closed=True)
        drawing.line(scale.first, base, scale.last, base, "grid")
    drawing.line(scale(0), 4, scale(0), bottom, "rule")
    return drawing


def spread_figure(group: Group, values: dict[str, list[float]], stem: str) -> str:
    data = page.csv_text(["variant", "ns"], ([name, ns] for name, of_variant in values.items() for ns in of_variant))
    return page.figure(lambda width: draw_spread(group, values, width),
                       "How samples (or, with fewer than 30, replicas' medians) lie about their median; what is far out is "
                       "counted at the edge.", f"{stem}.samples", data)


def runs_note(group: Group) -> str:
    if all(best.runs < 2 for best in group.best + group.controls):
        return ""
    return ('<p class="muted">Where several runs have the same configuration, all that is shown is of the newest. '
            "Whether they differ is for <code>fusebench compare</code> to say.</p>")


def table_row(best: Best, group: Group, lines: Lines) -> list[Cell | str]:
    row, ns, control = best.row, best.median_ns, best.row["operator"] == "control"
    baseline = group.baseline_ns()
    within = "" if control or best.within_1e4 is None else "yes" if best.within_1e4 else "no"
    notes = ", ".join(note for note in ("peer" if best.peer else "", "in place" if best.in_place else "", best.count_text) if note)
    return [row["variant"] + (f" ({notes})" if notes else ""), "control" if control else row["precision"], Cell(time_label(ns), ns),
            number(None if control or not lines.floor_ns else ns / lines.floor_ns, ".3g", "×"),
            Cell("-", "") if best.too_few_samples else number(best.spread_percent, ".1f", "%"),
            Cell(rate_text(best.gbps), "" if best.gbps is None else best.gbps), number(None if control else best.number("ceiling_percent"), ".1f"),
            number(None if control else best.number("max_abs_error"), ".1e"), Cell(within, css="bad" if within == "no" else ""),
            number(None if control else best.number("bit_equal_percent"), ".2f"),
            number(None if control or not baseline else baseline / ns, ".2f", "×"), row["configuration"]]


def number(value: float | None, form: str, suffix: str = "") -> Cell:
    return page.number(value, form, suffix)


def section(group: Group, rows: list[Row], samples: list[Row], peak_gbps: float | None, stem: str) -> str:
    lines, own = lines_of(group, peak_gbps), [best.row for best in group.best if not best.peer]

    def all_of(column: str, most: int | None = None) -> str:
        """One of each, as runs of several commits or days are shown together."""
        return page.escape(", ".join(dict.fromkeys(row[column][:most] for row in own)))

    parts = [f"<h2>{page.escape(group.operator)} on {all_of('device_name') or page.escape(group.device)}</h2>",
             f'<p class="muted">{page.prose(group.problem)} · driver {all_of("driver")} · {all_of("toolkit")} · '
             f'{all_of("timestamp_utc", 10)} · commit {all_of("git_commit", 10)}</p>',
             runs_note(group), times_figure(group, lines, stem)]
    values = values_of(group, rows, samples)
    if values:
        parts += ["<h3>Spread</h3>", spread_figure(group, values, stem)]
    rows_shown = [table_row(best, group, lines) for best in group.best + group.controls]
    parts.append(page.table(*page.without_empty(("of floor", "% of copy", "speed-up"), COLUMNS, rows_shown)))
    return "".join(parts)


def verdict(groups: list[Group], rows: list[Row]) -> str:
    """The fastest within 1e-4 of each group, and what did not pass."""
    bad = [f"{r['operator']} {r['variant']} {r['configuration']}: {r['outcome']}{', ' if r['reason'] else ''}{r['reason']}"
           for r in rows if r["outcome"] not in ("passed", "unavailable")]
    items = []
    for group in groups:
        right = [b for b in group.best if not b.peer and b.within_1e4 and not b.in_place]
        if right:
            alike = [g for g in groups if (g.operator, g.device) == (group.operator, group.device)]
            name = f"{group.operator} on {group.device}" + (f" at {group.problem}" if len(alike) > 1 else "")
            items.append(f"{name}: {right[0].row['variant']}, {time_label(right[0].median_ns)}, is the fastest "
                         "within 1e-4 of the exact reference order")
    if bad:
        return page.verdict("bad", f"{len(bad)} did not pass", [*bad[:20], *([f"and {len(bad) - 20} more"] if len(bad) > 20 else []), *items])
    return page.verdict("good", "Everything that ran is right", items)
