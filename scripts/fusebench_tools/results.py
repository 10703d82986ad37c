"""Rows of results files put together for tables and plots: one group for each operator, problem and device."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from fusebench_tools.records import ROOT, BadFile, Row, read

LEAST_SAMPLES = 5  # of which quartiles say something


@dataclass(frozen=True)
class Best:
    """A variant's fastest configuration that passed; `runs` counts those that have a row of it."""

    row: Row
    peer: bool
    configurations: int
    passed: int
    runs: int = 1

    @property
    def median_ns(self) -> float:
        return float(self.row["median_ns"])

    def number(self, column: str) -> float | None:
        return float(self.row[column]) if self.row[column] else None

    @property
    def gbps(self) -> float | None:
        """None for a control that computes: what it moves says nothing."""
        computes = self.row["operator"] == "control" and self.number("flops")
        return None if computes else self.number("throughput_gbps")

    @property
    def spread_percent(self) -> float | None:
        """The interquartile range over the median."""
        q1, q3 = self.number("q1_ns"), self.number("q3_ns")
        return None if q1 is None or q3 is None else 100 * (q3 - q1) / self.median_ns

    @property
    def too_few_samples(self) -> bool:
        """For a spread, as in the program's own table; a row that does not say how many it has counts as enough."""
        return bool(self.row["samples"]) and int(self.row["samples"]) < LEAST_SAMPLES

    @property
    def within_1e4(self) -> bool | None:
        return {"true": True, "false": False}.get(self.row["within_1e4"])

    @property
    def in_place(self) -> bool:
        return self.row["in_place"] == "true"

    @property
    def count_text(self) -> str:
        """"best of 12" configurations, "newest of 2 runs", or nothing where there is only one of each."""
        words = [f"best of {self.configurations}"] if self.configurations > 1 else []
        words += [f"{self.passed} passed"] if self.passed < self.configurations else []
        words += [f"newest of {self.runs} runs"] if self.runs > 1 else []
        return ", ".join(words)


@dataclass
class Group:
    """What was measured of one operator and problem on one kind of device; `best` by time."""

    operator: str
    problem: str
    device: str
    best: list[Best] = field(default_factory=list)
    controls: list[Best] = field(default_factory=list)

    @property
    def own(self) -> Row:
        """A row of the run itself, for what all of them share."""
        return next((b.row for b in self.best if not b.peer), self.best[0].row)

    def baseline_ns(self) -> float | None:
        return min((b.median_ns for b in self.best if not b.peer and b.row["variant"].endswith("_unfused")), default=None)

    def work(self) -> tuple[float, float] | None:
        """Useful bytes and FLOPs of a call, which are the operator's and so its peers' too; None in a file that does not say."""
        found = ((b.number("useful_bytes"), b.number("flops")) for b in self.best)
        return next(((useful, flops) for useful, flops in found if useful and flops), None)

    def copy_gbps(self) -> float | None:
        """What the better of the run's copies reached."""
        rates = [b.number("throughput_gbps") for b in self.controls if b.row["variant"] in ("copy", "memcpy")]
        return max((rate for rate in rates if rate), default=None)


def timed(row: Row) -> bool:
    return row["outcome"] == "passed" and bool(row["median_ns"])


def typical_of(rows: list[Row]) -> list[Row]:
    """Of each series' replicas one, as the program's own table shows them: the first that did not pass, else the one with the
    median of their medians (the lower of two)."""
    series: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("run_id", "operator", "variant", "configuration", "problem", "device"))
        series.setdefault(key, []).append(row)

    def typical(replicas: list[Row]) -> Row:
        failed = next((row for row in replicas if row["outcome"] != "passed"), None)
        with_time = sorted((row for row in replicas if row["median_ns"]), key=lambda row: float(row["median_ns"]))
        return failed or (with_time[(len(with_time) - 1) // 2] if with_time else replicas[0])

    return [typical(replicas) for replicas in series.values()]


def best_of(rows: list[Row], peer: bool) -> list[Best]:
    """Of several runs of one configuration the newest counts: the fastest would be a lucky one, and runs of different commits
    or machines are no replicas of each other. Runs of peers stand apart."""
    variants: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        if row["outcome"] != "unavailable":
            of_variant = variants.setdefault((row["run_id"] if peer else "", row["variant"]), {})
            of_variant.setdefault(row["configuration"], []).append(row)
    found = []
    for configurations in variants.values():
        # Sorted, not max: of two in the same second the one that was given last.
        newest = [sorted(runs, key=lambda r: r["timestamp_utc"])[-1] for runs in configurations.values()]
        good = [row for row in newest if timed(row)]
        if good:
            passed = sum(row["outcome"] == "passed" for row in newest)
            fastest = min(good, key=lambda r: float(r["median_ns"]))
            found.append(Best(fastest, peer, len(newest), passed, len(configurations[fastest["configuration"]])))
    return sorted(found, key=lambda b: b.median_ns)


def groups_of(paths: list[Path], peer_paths: list[Path]) -> list[Group]:
    """In the order of the files' rows. Raises BadFile where nothing has a time, or a file of peers is of
    no use to any group."""
    own = typical_of([row for path in paths for row in read(path)])
    groups: list[Group] = []
    for row in own:
        if row["operator"] == "control" or not timed(row):
            continue
        if not any(belongs(row, group) for group in groups):
            groups.append(Group(row["operator"], row["problem"], row["device"]))
    if not groups:
        raise BadFile(f"{', '.join(map(str, paths))}: no timed rows")
    peers: list[Row] = []
    for path in peer_paths:
        rows = typical_of(read(path))
        if not any(belongs(row, group) for row in rows for group in groups):
            raise BadFile(f"{path}: no row is of an operator, problem and device of {', '.join(map(str, paths))}")
        peers += rows
    for group in groups:
        mine, theirs = ([row for row in rows if belongs(row, group)] for rows in (own, peers))
        group.best = sorted(best_of(mine, False) + best_of(theirs, True), key=lambda b: b.median_ns)
        for rows, peer in ((own, False), (peers, True)):
            controls = [r for r in rows if r["operator"] == "control" and same_place(r, group)]
            known = {b.row["variant"] for b in group.controls}
            order = [r["variant"] for r in controls]
            group.controls += sorted((b for b in best_of(controls, peer) if b.row["variant"] not in known),
                                     key=lambda b: order.index(b.row["variant"]))
    return groups


def same_place(row: Row, group: Group) -> bool:
    return (row["problem"], row["device"]) == (group.problem, group.device)


def belongs(row: Row, group: Group) -> bool:
    return row["operator"] == group.operator and same_place(row, group)


def time_text(nanoseconds: float) -> str:
    for limit, unit, scale in ((1e3, "ns", 1), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if nanoseconds < limit:
            return f"{nanoseconds / scale:.4g} {unit}"
    return f"{nanoseconds / 1e9:.4g} s"


def rate_text(gbps: float | None) -> str:
    """Whole GB/s, and two digits of what is below ten: a small problem must not reach 0."""
    return "" if gbps is None else f"{gbps:.0f}" if gbps >= 9.95 else f"{gbps:.2g}"


def peak_gbps(device_name: str) -> float | None:
    """The data sheet's memory bandwidth, from the program's own list."""
    text = (ROOT / "harness/device/cuda/data_sheet.cpp").read_text(encoding="utf-8")
    for name, gbps in re.findall(r'\{"([^"]+)",\s*([\d.]+)', text):
        if device_name.startswith(name):
            return float(gbps)
    return None
