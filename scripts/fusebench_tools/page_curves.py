"""Search curves on a page: the best found against the budget."""

from __future__ import annotations

from fusebench_tools import page
from fusebench_tools.curves import Point, best_of, drawn, label_of, limits_of
from fusebench_tools.page import Cell, Column
from fusebench_tools.svg import Drawing, Scale, time_label

COLUMNS = [Column("strategy"), Column("configurations", True), Column("found", True, hint="mean over repeats, at the end"),
           Column("over optimum", True)]


def draw(space: str, strategies: dict[str, list[Point]], width: int) -> Drawing:
    left, right, top, bottom = 66, width - 12, 12, 300 if width >= 700 else 240
    first = next(iter(strategies.values()))
    y = Scale(*limits_of(strategies), bottom, top)
    x = Scale(first[0].draws, max(first[-1].draws, first[0].draws + 1), left, right, log=True)
    drawing = Drawing(width, bottom + 40, f"best found against the budget on {space}")
    drawing.x_axis(x, top, bottom, lambda draws: f"{draws:g}")
    drawing.y_axis(y, left, right, time_label)

    def curve(points: list[Point], value, css: str, style: str) -> None:  # noqa: ANN001
        inside = [(x(p.draws), y(value(p))) for p in points if value(p) <= y.high]
        if len(inside) > 1:
            drawing.path(inside, css, style)
        elif len(inside) == len(points):
            drawing.circle(*inside[0], 3.5, "dot", style)

    curve(first, lambda p: p.random_ns, "curve", "--c:var(--muted);stroke-dasharray:5 4")
    optimum = y(first[0].optimum_ns)
    drawing.line(left, optimum, right, optimum, "dashed")
    for name, colour in drawn(strategies):
        curve(strategies[name], lambda p: p.found_ns, "curve", f"--c:{colour}")
    drawing.text((left + right) / 2, bottom + 34, "configurations measured", "tick", "middle")
    return drawing


def section(space: str, strategies: dict[str, list[Point]]) -> str:
    data = page.csv_text(["space", "strategy", "draws", "mean_found_ns", "random_ns", "optimum_ns"],
                         ([space, name, p.draws, p.found_ns, p.random_ns, p.optimum_ns]
                          for name, points in strategies.items() for p in points))
    entries = [("line", colour, label_of(name, strategies)) for name, colour in drawn(strategies)]
    entries += [("line dashed", "var(--muted)", "random search, expected"), ("line dashed", "var(--ink)", "optimum")]
    caption = "Best found, mean over repeats; lower is better."
    if "random" in strategies:
        caption += " Random search is drawn as it is expected to go; what it found is in the table and the data."
    ends = [(name, points[-1]) for name, points in strategies.items()]
    return (f"<h2>Search on {page.escape(space)}</h2>"
            + page.figure(lambda width: draw(space, strategies, width), caption,
                          f"tune.{space}", data, page.legend(entries))
            + page.table(COLUMNS, ([name, Cell(str(p.draws), p.draws), Cell(time_label(p.found_ns), p.found_ns),
                                    page.number(100 * (p.found_ns / p.optimum_ns - 1), ".2f", "%")] for name, p in ends)))


def verdict(curves: dict[str, dict[str, list[Point]]]) -> str:
    items = []
    for space, strategies in curves.items():
        best = best_of(strategies)
        ends = sorted(strategies[name][-1].found_ns / strategies[name][-1].optimum_ns - 1 for name in best)
        over = " to ".join(dict.fromkeys(f"{end:.2%}" for end in (ends[0], ends[-1])))
        if len(best) == 1:
            items.append(f"{space}: {best[0]} is lowest on average over the budget, and ends {over} over the optimum")
            continue
        who = "all strategies" if len(best) == len(strategies) else f"{', '.join(best[:-1])} and {best[-1]}"
        items.append(f"{space}: {who} are alike on average over the budget" + ("" if len(best) == len(strategies) else ", and lowest")
                     + f"; they end {over} over the optimum")
    return page.verdict("", "Search strategies", items)
