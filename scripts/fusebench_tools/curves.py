"""Search curves of `fusebench tune --replay --csv`: the best found against the budget, one figure a space."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from fusebench_tools.records import BadFile

COLUMNS = ["space", "strategy", "draws", "mean_found_ns", "random_ns", "median_ns", "optimum_ns", "gain"]

# Told apart by colour-blind eyes (Okabe and Ito's palette), in the order in which a file names strategies.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
INK, GREY = "#1a1a1a", "#8c8c8c"


@dataclass(frozen=True)
class Point:
    draws: int
    found_ns: float
    random_ns: float
    optimum_ns: float


Curves = dict[str, dict[str, list[Point]]]  # by space, then by strategy


def is_curves(path: Path) -> bool:
    """Whether a file's header is that of curves."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.readline().strip().split(",") == COLUMNS
    except (OSError, UnicodeDecodeError):
        return False


def read(path: Path) -> Curves:
    """Raises BadFile, with the line, for a number that is none and for an empty or torn file."""
    text = path.read_text(encoding="utf-8-sig")
    if not text.endswith("\n"):
        raise BadFile(f"{path}: the last line has no end; the file was cut off")
    curves: Curves = {}
    for number, row in enumerate(csv.reader(text.splitlines()[1:]), start=2):
        if len(row) != len(COLUMNS):
            raise BadFile(f"{path}:{number}: the row has {len(row)} fields, the header {len(COLUMNS)}")
        fields = dict(zip(COLUMNS, row))
        try:
            point = Point(int(fields["draws"]), float(fields["mean_found_ns"]), float(fields["random_ns"]),
                          float(fields["optimum_ns"]))
        except ValueError as error:
            raise BadFile(f"{path}:{number}: {error}") from None
        curves.setdefault(fields["space"], {}).setdefault(fields["strategy"], []).append(point)
    if not curves:
        raise BadFile(f"{path}: there is a header and no row")
    return curves


def drawn(strategies: dict[str, list[Point]]) -> list[tuple[str, str]]:
    """Strategy and colour, of all but random search, which is drawn as it is expected to go."""
    names = [name for name in strategies if name != "random"]
    return list(zip(names, COLOURS * len(names)))


def best_of(strategies: dict[str, list[Point]]) -> list[str]:
    """Who is lowest on average over the budget; several where they are alike."""
    mean = {name: sum(point.found_ns for point in points) / len(points) for name, points in strategies.items()}
    return [name for name in mean if mean[name] <= min(mean.values()) * (1 + 1e-9)]


def limits_of(strategies: dict[str, list[Point]]) -> tuple[float, float]:
    """Times at the ends of the axis, from a bit below the optimum: what is far off, as first draws are, must not flatten what
    matters. The best strategy is always shown: in a small space all may begin where random search is not expected to be."""
    first = next(iter(strategies.values()))
    best = strategies[best_of({name: strategies[name] for name, _ in drawn(strategies)} or strategies)[0]]
    low, high = first[0].optimum_ns, max(first[len(first) // 25].random_ns, best[len(best) // 25].found_ns)
    return low - 0.03 * (high - low), high + 0.1 * (high - low)


def label_of(name: str, strategies: dict[str, list[Point]]) -> str:
    """A strategy's name, which says where its curve is missing from the plot."""
    _, high = limits_of(strategies)
    inside = sum(point.found_ns <= high for point in strategies[name])
    return name if inside >= min(2, len(strategies[name])) else f"{name} (slower than what is shown)"


def unit_of(ns: float) -> tuple[float, str]:
    return next(((size, name) for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if ns >= size), (1.0, "ns"))


def draw(space: str, strategies: dict[str, list[Point]]):  # noqa: ANN201 (matplotlib is imported late)
    """Random search as it is expected to go, and the optimum, as lines; the budget on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    any_curve = next(iter(strategies.values()))
    size, unit = unit_of(any_curve[0].optimum_ns)
    with plt.rc_context({"font.size": 11, "font.family": "DejaVu Sans", "svg.hashsalt": "fusebench"}):
        figure, axes = plt.subplots(figsize=(9.0, 5.0), facecolor="white", layout="constrained")
        axes.plot([p.draws for p in any_curve], [p.random_ns / size for p in any_curve], color=GREY, linestyle="--",
                  label="random search, expected")
        axes.axhline(any_curve[0].optimum_ns / size, color=INK, linewidth=1.0, linestyle=":", label="optimum")
        for name, colour in drawn(strategies):
            points = strategies[name]
            axes.plot([p.draws for p in points], [p.found_ns / size for p in points], color=colour,
                      marker="o" if len(points) == 1 else None, label=label_of(name, strategies))
        axes.set_ylim(*(ns / size for ns in limits_of(strategies)))
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda draws, _: f"{draws:g}"))
        axes.set_xlim(any_curve[0].draws, any_curve[-1].draws)
        axes.set_xlabel("configurations measured")
        axes.set_ylabel(f"best found, mean over repeats ({unit})")
        axes.set_title(space, loc="left", color=INK)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.legend(frameon=False)
    return figure


def save(figure, stem: Path) -> list[Path]:  # noqa: ANN001
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for path in paths:
        figure.savefig(path, dpi=200, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths
