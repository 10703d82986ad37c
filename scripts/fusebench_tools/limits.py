"""What a group's times are held against: the memory floor, and the time at a copy's rate."""

from __future__ import annotations

from dataclasses import dataclass

from fusebench_tools.results import Group, peak_gbps


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
