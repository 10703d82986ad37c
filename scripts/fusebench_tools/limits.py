"""What a group's times are held against, the memory floor and the time at a copy's rate, and on which axis."""

from __future__ import annotations

from dataclasses import dataclass

from fusebench_tools.results import Group, peak_gbps

FARTHEST = 10  # times the fastest: beyond, bars on one linear axis leave the fast ones no length to compare


@dataclass(frozen=True)
class Lines:
    """In nanoseconds; None where not known."""

    floor_ns: float | None
    copy_ns: float | None


def lines_of(group: Group, given_peak_gbps: float | None) -> Lines:
    useful = float(group.own["useful_bytes"] or 0)
    peak = given_peak_gbps or peak_gbps(group.own["device_name"])
    copy = group.copy_gbps()
    return Lines(useful / peak if useful and peak else None, useful / copy if useful and copy else None)


def bars_from_zero(group: Group, lines: Lines) -> bool:
    """Whether times are bars on a linear axis. Else they are dots on a logarithmic one, which has no 0 for a bar to begin at."""
    times = [best.median_ns for best in group.best]
    return max([*times, lines.copy_ns or 0.0]) < FARTHEST * min(times)
