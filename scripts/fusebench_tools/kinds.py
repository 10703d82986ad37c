"""Which of our files one is, by its header alone, so that a script can say what does take it."""

from __future__ import annotations

import csv
from pathlib import Path

from fusebench_tools import curves, history, ncu, searches, trace
from fusebench_tools.records import BadFile

# The first columns of `profile --trace-csv`, and of `run`'s samples.
SUMS = ["operator", "variant", "configuration", "problem", "device", "iterations", "launches"]
SAMPLES = ["run_id", "operator", "variant", "configuration", "problem", "device", "replica", "sample", "ns"]
REPLAYED = ["space", "strategy", "configurations", "optimum_ns"]
WHAT = {"trace": "is JSON", "curves": "holds search curves", "history": "is a history", "searches": "is of scripts/exhaust",
        "sums": "holds sums of profile --trace-csv", "samples": "holds samples", "replayed": "is the table of tune --replay",
        "comparison": "is a comparison", "counters": "holds counters of scripts/profile ncu"}


def kind_of(path: Path) -> str:
    """What is not known counts as a run, whose reader says what is missing."""
    if trace.is_trace(path):
        return "trace"
    if curves.is_curves(path):
        return "curves"
    if history.is_history(path):
        return "history"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return "run"
    for name, first in (("sums", SUMS), ("samples", SAMPLES), ("replayed", REPLAYED), ("comparison", ["verdict"])):
        if header[: len(first)] == first:
            return name
    if searches.is_searches(header):
        return "searches"
    return "counters" if ncu.is_counters(header) else "run"


def refuse(path: Path, kind: str, instead: dict[str, str]) -> None:
    """Raises BadFile with what the file is and what to do, where that is known."""
    if kind in instead and path.is_file():
        raise BadFile(f"{path} {WHAT[kind]}{instead[kind]}")
