"""One group's times as a figure: bars from 0, or dots where the slowest is too far from the fastest for one linear axis."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

from fusebench_tools.limits import Lines, bars_from_zero  # noqa: E402
from fusebench_tools.palette import COLOURS  # noqa: E402
from fusebench_tools.results import Best, Group, time_text  # noqa: E402
from fusebench_tools.svg import linear_ticks  # noqa: E402

INK, GREY, ALARM = "#1a1a1a", "#5c5c5c", "#B3261E"
WIDTH_INCHES = 9.0  # 900 pixels on a page: points below are then near a page's own
DPI = 200


def ticks_between(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten; more where the figure spans so little that those are few."""
    fine = (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    for steps in ((1, 2, 5), (1, 2, 3, 5), (1, 1.5, 2, 3, 5, 7), fine):
        ticks = [step * 10.0**power for power in range(-1, 12) for step in steps if low <= step * 10.0**power <= high]
        if len(ticks) >= 5:
            break
    return ticks


def label_of(best: Best, lines: Lines) -> str:
    text = time_text(best.median_ns).replace("us", "µs")
    if not lines.floor_ns:
        return text
    times = best.median_ns / lines.floor_ns
    return f"{text}   {times:.{2 if times < 10 else 1 if times < 100 else 0}f}× floor"


def draw(group: Group, lines: Lines) -> plt.Figure:
    rows = group.best
    times = [best.median_ns for best in rows]
    marks = [ns for ns in (lines.floor_ns, lines.copy_ns) if ns]
    bars = bars_from_zero(group, lines)
    left = 0.0 if bars else 0.85 * min(times + marks)
    last = max(times + marks)
    right = last * (1.42 if bars else (last / left) ** 0.42)  # room for what stands behind the slowest

    with plt.rc_context({"font.size": 11, "font.family": "DejaVu Sans", "hatch.linewidth": 1.1,
                         "svg.hashsalt": "fusebench"}):
        height = 1.75 + 0.46 * len(rows)
        figure = plt.figure(figsize=(WIDTH_INCHES, height), facecolor="white")
        axes = figure.add_axes((0.305, 0.98 / height, 0.675, 0.46 * len(rows) / height))
        for place, best in enumerate(rows):
            draw_row(axes, place, best, bars, lines)
        if not bars:
            axes.set_xscale("log")
            axes.grid(axis="y", color="#e4e4e4", linewidth=0.8)
        axes.set_xlim(left, right)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks([] if bars else range(len(rows)), labels=None if bars else [""] * len(rows))
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(FixedLocator(linear_ticks(left, last, 7) if bars else ticks_between(left, last)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: time_text(ns).replace("us", "µs") if ns else "0"))
        axes.tick_params(axis="x", length=3, colors=GREY, labelsize=10)
        axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color("#b0b0b0")
        if lines.floor_ns:
            axes.axvline(lines.floor_ns, color=INK, linewidth=2.4, zorder=4)
        if lines.copy_ns:
            axes.axvline(lines.copy_ns, color=INK, linewidth=1.2, linestyle=(0, (4, 2)), zorder=4)
        draw_words(figure, bars, group, lines, height)
    return figure


def draw_row(axes: plt.Axes, place: int, best: Best, bars: bool, lines: Lines) -> None:
    colour = COLOURS.get(best.row["precision"], "#999999")
    misses = best.within_1e4 is False
    if bars:
        hatched = {"hatch": "////", "edgecolor": "white"} if best.peer else {"edgecolor": colour}
        axes.barh(place, best.median_ns, height=0.62, color=colour, linewidth=0, zorder=3, **hatched)
    else:
        axes.plot([best.median_ns], [place], "o", markersize=9.5, markeredgewidth=2.2 if best.peer else 0.6,
                  color="white" if best.peer else colour, markeredgecolor=colour if best.peer else INK, zorder=5.5)
    q1, q3 = best.number("q1_ns"), best.number("q3_ns")
    if q1 and q3:
        axes.plot([q1, q3], [place, place], color=INK, linewidth=1.4, zorder=5, solid_capstyle="butt")

    name = best.row["variant"]
    notes = " · ".join(note for note in (best.row["precision"], "peer" if best.peer else "", "in place" if best.in_place else "",
                                         best.count_text) if note)
    axes.annotate(name, (0, place), (-10, 6.2), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                  ha="right", va="center", color=INK, fontsize=10.5 * min(1.0, 27 / len(name)),
                  fontweight="normal" if best.peer else "bold")
    axes.annotate(notes, (0, place), (-10, -6.6), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                  ha="right", va="center", color=GREY, fontsize=8.8)
    end = max(best.median_ns, q3 or 0, lines.copy_ns or 0)
    # So that no grid line strikes a word out.
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.annotate(label_of(best, lines), (end, place), (10, 5.8 if misses else 0), textcoords="offset points",
                  va="center", color=INK, fontsize=10, bbox=ground, zorder=6)
    if misses:
        error = best.number("max_abs_error")
        what = "✗ misses 1e-4" + (f": error {error:.0e}" if error is not None else "")
        axes.annotate(what, (end, place), (10, -6.8), textcoords="offset points", va="center", color=ALARM,
                      fontsize=9.2, fontweight="bold", bbox=ground, zorder=6)


def draw_words(figure: plt.Figure, bars: bool, group: Group, lines: Lines, height: float) -> None:
    def above(inches: float) -> float:
        return 1 - inches / height

    own = group.own
    figure.text(0.016, above(0.27), f"{group.operator} on one {own['device_name']}", fontsize=14, fontweight="bold",
                color=INK, va="center")
    figure.text(0.016, above(0.53), f"{group.problem} · {own['timestamp_utc'][:10]} · median of cold calls, "
                + ("shorter is better" if bars else "log scale, further left is better"), fontsize=9.5, color=GREY, va="center")
    used = {best.row["precision"] for best in group.best}
    handles = [Patch(color=colour, label=name) for name, colour in COLOURS.items() if name in used]
    if any(best.peer for best in group.best):
        handles.append(Patch(facecolor="#9a9a9a", edgecolor="white", hatch="////", label="peer, not ranked") if bars else
                       plt.Line2D([], [], linestyle="", marker="o", markersize=7, markeredgewidth=2, color="white",
                                  markeredgecolor=GREY, label="peer, not ranked"))
    words = []
    if lines.floor_ns:
        handles.append(plt.Line2D([], [], color=INK, linewidth=2.4,
                                  label=f"memory floor {time_text(lines.floor_ns).replace('us', 'µs')}"))
        words.append("floor: useful bytes over the data sheet's bandwidth")
    if lines.copy_ns:
        handles.append(plt.Line2D([], [], color=INK, linewidth=1.2, linestyle=(0, (4, 2)),
                                  label=f"at a copy's rate {time_text(lines.copy_ns).replace('us', 'µs')}"))
    draw_legend(figure, handles, 0.20 / height)
    figure.text(0.016, 0.15 / height, " · ".join(["short black line: quartiles", *words]), fontsize=8.5, color=GREY,
                va="center")


def draw_legend(figure: plt.Figure, handles: list[plt.Artist], bottom: float) -> None:
    """In one line, smaller where many precisions would take it beyond the edge."""
    size = 9.5
    while True:
        legend = figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.006, bottom), ncol=len(handles),
                               frameon=False, fontsize=size, handlelength=1.5, columnspacing=1.3, handletextpad=0.5)
        if legend.get_window_extent(figure.canvas.get_renderer()).x1 <= figure.bbox.width or size < 5:
            return
        legend.remove()
        size -= 0.25


def save(figure: plt.Figure, stem: Path) -> list[Path]:
    """The same picture for a page and for print. Nothing in either depends on when it was made."""
    png, svg = stem.with_name(stem.name + ".png"), stem.with_name(stem.name + ".svg")
    with plt.rc_context({"svg.hashsalt": "fusebench"}):
        figure.savefig(png, dpi=DPI, facecolor="white", metadata={"Software": None})
        figure.savefig(svg, facecolor="white", metadata={"Date": None})
    plt.close(figure)
    return [png, svg]


def save_data(group: Group, lines: Lines, path: Path) -> Path:
    """What the figure shows, row by row from the top, with its vertical lines in every row."""
    columns = ("operator", "problem", "device", "device_name", "variant", "peer", "precision", "configuration",
               "configurations", "passed", "median_ns", "q1_ns", "q3_ns", "floor_ns", "copy_ns", "within_1e4",
               "max_abs_error", "toolkit", "timestamp_utc")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        for best in group.best:
            writer.writerow(best.row | {"peer": str(best.peer).lower(), "configurations": best.configurations,
                                        "passed": best.passed, "floor_ns": lines.floor_ns or "",
                                        "copy_ns": lines.copy_ns or ""})
    return path
