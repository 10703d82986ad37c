"""The history of a machine: one append-only CSV, a row for each series and night."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from fusebench_tools.records import ROOT, BadFile, Row, check, read, read_table, text_of

COLUMNS = ["schema_version", "night", "timestamp_utc", "git_commit", "dirty", "operator", "variant", "configuration",
           "problem", "device", "precision", "outcome", "replicas", "median_ns", "low_ns", "high_ns", "device_name",
           "driver", "toolkit", "clock_policy"]
SERIES = ("operator", "variant", "configuration", "problem", "device", "precision")
SEGMENT = ("device_name", "driver", "toolkit", "clock_policy")  # times of different ones do not compare
FOLDER = ROOT / "results/history"


def machine() -> str:
    """This machine's name, fit for a file's."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", platform.node()).strip(".") or "machine"


def path_of(folder: Path, name: str) -> Path:
    """A machine's history. Raises BadFile for a name that would lie elsewhere."""
    if not name or "/" in name or name.startswith("."):
        raise BadFile(f"--machine: '{name}' cannot be part of a file's name")
    return folder / f"{name}.csv"


def rows_of_night(paths: list[Path], night: str) -> list[dict[str, object]]:
    """A row for each series of a night's runs: the median over its replicas' medians with the lowest and the highest;
    no times where a replica did not pass. What was unavailable is left out. Raises BadFile for a bad file, and where
    two replicas of a series ran under different conditions."""
    series: dict[tuple[str, ...], list[Row]] = {}
    for row in (row for path in paths for row in read(path)):
        if row["outcome"] != "unavailable":
            series.setdefault(tuple(row[name] for name in SERIES), []).append(row)
    if not series:
        raise BadFile(f"{', '.join(map(str, paths))}: nothing ran, so there is nothing for the history")
    return [row_of(night, rows) for rows in series.values()]


def row_of(night: str, rows: list[Row]) -> dict[str, object]:
    first = rows[0]
    for name in SEGMENT:
        found = sorted({row[name] for row in rows})
        if len(found) > 1:
            raise BadFile(f"{first['operator']} {first['variant']} has {name} '{found[0]}' and '{found[1]}' in one night; "
                          "append the runs as two nights")
    failed = next((row for row in rows if row["outcome"] != "passed"), None)
    times = [] if failed else [float(row["median_ns"]) for row in rows if row["median_ns"]]
    return {name: first.get(name, "") for name in COLUMNS} | {
        "schema_version": 1, "night": night, "timestamp_utc": max(row["timestamp_utc"] for row in rows),
        "outcome": (failed or first)["outcome"], "replicas": len(rows),
        "median_ns": median(times) if times else None, "low_ns": min(times, default=None),
        "high_ns": max(times, default=None)}


def append(path: Path, rows: list[dict[str, object]]) -> int:
    """Adds those rows whose night and series the file does not have yet, and says how many. It is safe to be killed
    in: a row cut off by that is removed by the next call. Raises BadFile where `path` is no history."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        old = file.read()
        whole = old.rfind(b"\n") + 1
        if whole and old[:whole].split(b"\n", 1)[0].decode(errors="replace").split(",") != COLUMNS:
            raise BadFile(f"{path}:1: these are not the columns of a history; results/README.md lists them")
        if whole < len(old):
            file.truncate(whole)
        lines = list(csv.DictReader(io.StringIO(old[:whole].decode(), newline="")))
        known = {identity(row) for row in lines}
        new = [row for row in rows if identity(row) not in known]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not whole:
            writer.writerow(COLUMNS)
        for row in new:
            writer.writerow([text_of(row[name]) for name in COLUMNS])
        if new:
            file.write(text.getvalue().encode())
            file.flush()
            os.fsync(file.fileno())
    return len(new)


def identity(row: dict[str, object]) -> tuple[object, ...]:
    return (row["night"], *(row[name] for name in SERIES), *(row[name] for name in SEGMENT))


@dataclass
class Segment:
    """The nights of one series under the same conditions, in order of time, those that passed with a time."""

    series: tuple[str, ...]
    conditions: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    newest: bool = False  # the series' last night is in it

    @property
    def name(self) -> str:
        operator, variant, configuration, problem, device, _ = self.series
        return " ".join(text for text in (operator, variant, "" if configuration == "default" else configuration, problem,
                                          device) if text)

    @property
    def times(self) -> list[float]:
        return [float(row["median_ns"]) for row in self.rows]

    @property
    def is_control(self) -> bool:
        return self.series[0] == "control"


def is_history(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.readline().strip().split(",") == COLUMNS
    except (OSError, UnicodeDecodeError):
        return False


def segments_of(path: Path) -> list[Segment]:
    """All segments of a history, series by series as they first appear. Raises BadFile."""
    found: dict[tuple[str, ...], dict[tuple[str, ...], Segment]] = {}
    table = read_table(path, COLUMNS)
    for where, row in table:
        check(where, row)
    for row in sorted((row for _, row in table), key=lambda row: row["timestamp_utc"]):
        if not row["median_ns"]:
            continue
        series, conditions = (tuple(row[name] for name in names) for names in (SERIES, SEGMENT))
        of_series = found.setdefault(series, {})
        for segment in of_series.values():
            segment.newest = False
        segment = of_series.setdefault(conditions, Segment(series, conditions))
        segment.rows.append(row)
        segment.newest = True
    return [segment for of_series in found.values() for segment in of_series.values()]
