"""Change points of a history by Apache Otava: E-divisive means (arXiv 1306.4933, as modified in 2301.03034)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fusebench_tools.history import Segment
from fusebench_tools.records import ROOT, BadFile, text_of

# With Otava's own p of .001 noise alone gives a 90-night series .08 change points; with these, 5% outliers give .06.
LARGEST_P = 1e-4
FLOOR = 0.02
SHORTEST = 5  # nights at a level: a few slow nights in a row are weather
FEWEST_NIGHTS = 8  # in fewer a permutation test cannot reach that p
INSTALLED = ROOT / "build/otava"  # by scripts/setup --history


class OtavaMissing(BadFile):
    """Apache Otava is not on this machine."""


@dataclass(frozen=True)
class ChangePoint:
    """From rows[index] of its segment on, the times are others."""

    segment: Segment
    index: int
    before_ns: float
    after_ns: float

    @property
    def slower(self) -> bool:
        return self.after_ns > self.before_ns

    @property
    def change(self) -> float:
        return self.after_ns / self.before_ns - 1


def clamped(values: list[float], reach: int = 3, deviations: float = 3.0) -> list[float]:
    """Hampel's filter: what lies further from the median of its neighbourhood (`reach` values on either side) than
    `deviations` of the neighbourhood's scaled median absolute deviations is moved to that distance. So one slow night
    is no change, and a step that lasts stays where it is."""
    out = []
    for i, value in enumerate(values):
        near = values[max(0, i - reach):i + reach + 1]
        middle = median(near)
        width = deviations * 1.4826 * median(abs(v - middle) for v in near)
        out.append(min(max(value, middle - width), middle + width))
    return out


def export(segments: list[Segment], folder: Path) -> Path:
    """Otava's configuration, in `folder`, with a CSV for each segment: sN.csv for segments[N], its columns time and
    median_ns (clamped). Returns the configuration, in which the group `all` has every test."""
    tests = {}
    for number, segment in enumerate(segments):
        path = folder / f"s{number}.csv"
        lines = [f"{row['timestamp_utc']},{text_of(ns)}" for row, ns in zip(segment.rows, clamped(segment.times))]
        path.write_text("\n".join(["time,median_ns", *lines]) + "\n", encoding="utf-8")
        tests[f"s{number}"] = {"type": "csv", "file": str(path.resolve()), "time_column": "time",
                               "metrics": {"median_ns": {"direction": -1}}}
    path = folder / "otava.yaml"  # JSON is YAML
    path.write_text(json.dumps({"tests": tests, "test_groups": {"all": list(tests)}}, indent=1) + "\n", encoding="utf-8")
    return path


def otava() -> tuple[list[str], dict[str, str]]:
    """Its command and environment. Raises OtavaMissing."""
    if (INSTALLED / "otava").is_dir():
        return [sys.executable, "-m", "otava.main"], os.environ | {"PYTHONPATH": str(INSTALLED)}
    found = shutil.which("otava")
    if found is None:
        raise OtavaMissing("Apache Otava is missing: scripts/setup --history, or pip install apache-otava")
    return [found], dict(os.environ)


def find(segments: list[Segment]) -> list[ChangePoint]:
    """Those of all segments with enough nights. Raises OtavaMissing, and BadFile when Otava fails."""
    segments = [segment for segment in segments if len(segment.rows) >= FEWEST_NIGHTS]
    if not segments:
        return []
    command, environment = otava()
    with tempfile.TemporaryDirectory() as folder:
        config = export(segments, Path(folder))
        # By itself it looks at the last year only.
        result = subprocess.run([*command, "analyze", "--config-file", str(config), "--since", "1980-01-01", "--until",
                                 "2200-01-01", "-P", str(LARGEST_P), "-M", str(FLOOR), "--output", "json", "all"],
                                capture_output=True, text=True, env=environment, check=False)
    found: dict[str, list[dict]] = {}
    for line in result.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    # It answers some errors with 0, and leaves that test out.
    if result.returncode != 0 or len(found) != len(segments):
        last = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BadFile(f"Apache Otava analysed {len(found)} of {len(segments)} series (exit code {result.returncode}): {last}")
    points = []
    for number, segment in enumerate(segments):
        starts = [group["changes"][0]["index"] for group in found[f"s{number}"]]
        points += points_at(segment, starts)
    return points


def points_at(segment: Segment, starts: list[int]) -> list[ChangePoint]:
    """The change points at those indices, less the ones beside a level that lasts fewer nights than SHORTEST or differs from the
    one before by less than the floor: levels are medians, which a slow night does not move."""
    starts = list(starts)
    while True:
        edges = [0, *starts, len(segment.rows)]
        levels = [median(segment.times[a:b]) for a, b in zip(edges, edges[1:])]
        lengths = [b - a for a, b in zip(edges, edges[1:])]
        # The shortest level joins the neighbour that it is nearest to.
        short = min(range(len(levels)), key=lambda i: lengths[i])
        if starts and lengths[short] < SHORTEST:
            beside = [i for i in (short - 1, short + 1) if 0 <= i < len(levels)]
            nearest = min(beside, key=lambda i: abs(levels[i] - levels[short]))
            del starts[max(nearest, short) - 1]
            continue
        small = next((i for i, (a, b) in enumerate(zip(levels, levels[1:])) if max(a, b) / min(a, b) - 1 < FLOOR), None)
        if small is None:
            return [ChangePoint(segment, index, *pair) for index, pair in zip(starts, zip(levels, levels[1:]))]
        del starts[small]


def slower_now(points: list[ChangePoint]) -> list[ChangePoint]:
    """Of each series' newest segment the last change point, where that made it slower: what is still to be mended."""
    last = {id(point.segment): point for point in points if point.segment.newest and not point.segment.is_control}
    return [point for point in last.values() if point.slower]
