"""What Nsight Compute counted, as a table on a page: why each variant takes its time."""

from __future__ import annotations

from pathlib import Path

from fusebench_tools import page
from fusebench_tools.ncu import PERCENTAGES, TOP
from fusebench_tools.page import Cell, Column
from fusebench_tools.records import Row
from fusebench_tools.svg import time_label

COLUMNS = [Column("variant", long=True), Column("alone", True, hint="times of a call's kernels, each alone"),
           Column("moved", True, hint="bytes over the memory bus, over those that must cross it"),
           Column("warps wait for", long=True), Column("DRAM %", True),
           Column("tensor %", True, hint="of what tensor cores could do"), Column("FMA %", True, hint="of what FMA units could do"),
           Column("occupancy %", True), Column("registers", True),
           Column("kernels", True, hint="of a call"), Column("operator"),
           Column("configuration", long=True)]


def cells_of(row: Row) -> list[Cell | str]:
    def number(name: str, form: str, suffix: str = "") -> Cell:
        return page.number(float(row[name]) if row[name] else None, form, suffix)

    stalls = [(row[f"stall_{i}"], row[f"stall_{i}_percent"]) for i in range(1, TOP + 1)]
    waits = ", ".join(f"{reason.replace('_', ' ')} {float(percent):.0f}%" for reason, percent in stalls if reason and percent)
    ns = float(row["duration_ns"]) if row["duration_ns"] else None
    return [row["variant"], Cell("" if ns is None else time_label(ns), "" if ns is None else ns), number("moved_over_useful", ".2f", "×"),
            waits, *(number(name, ".0f") for name in PERCENTAGES), number("registers", "g"), number("kernels", "g"), row["operator"],
            row["configuration"]]


def section(path: Path, rows: list[Row], without_time: list[Row]) -> str:
    """`rows` of the page's operators; `without_time`: those of them that no row of the run is drawn for."""
    head = f"<h2>What {page.escape(path.stem)} counted</h2>"
    if not rows:
        return head + "<p>Nothing of the operators that are shown.</p>"
    note = ""
    if without_time:
        names = ", ".join(f"{row['variant']} {row['configuration']}" for row in without_time)
        note = f"<p>Without a ring in the roofline, since no time that it shows is of this configuration: {page.escape(names)}.</p>"
    return head + page.table(COLUMNS, map(cells_of, rows)) + note
