#!/usr/bin/env python3
"""Histories and their change points. Usage: history_test.py ROOT. Catches a night that is counted twice, a row torn by
a kill that spoils the file, a new driver that passes for a regression, a slow night that passes for a change, and a
change that is missed. What needs Apache Otava is skipped without it.
"""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

from folder_case import FolderCase  # noqa: E402
from fusebench_tools import change_points, history, records  # noqa: E402

SEED = 20261130
try:
    change_points.otava()
    HAS_OTAVA = True
except records.BadFile:
    HAS_OTAVA = False


def night_row(number: int, variant: str, median_ns: float, **more: str) -> dict[str, object]:
    day = datetime(2026, 1, 1, 3, tzinfo=timezone.utc) + timedelta(days=number)
    return dict.fromkeys(history.COLUMNS, "") | {
        "schema_version": 1, "night": f"{day:%Y-%m-%d}", "timestamp_utc": f"{day:%Y-%m-%dT%H:%M:%SZ}",
        "git_commit": f"commit{number}", "operator": "op", "variant": variant, "configuration": "default", "problem": "n=1",
        "device": "cuda", "precision": "float32", "outcome": "passed", "replicas": 10, "median_ns": median_ns,
        "device_name": "NVIDIA H200", "driver": "1", "toolkit": "2", "clock_policy": "default"} | more


def run_row(replica: int, median_ns: float | str, **more: str) -> dict[str, object]:
    return dict.fromkeys(records.columns(), "") | {
        "schema_version": 1, "run_id": "r", "timestamp_utc": "2026-01-01T00:00:00Z", "operator": "op", "variant": "v",
        "configuration": "default", "problem": "n=1", "device": "cuda", "precision": "float32", "replica": replica,
        "outcome": "passed" if median_ns else "wrong", "median_ns": median_ns, "device_name": "NVIDIA H200"} | more


class Case(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "machine.csv"

    def script(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return self.run_script(ROOT / "scripts/history", *arguments)

    def nights(self, variant: str, level, count: int = 90, noise: float = 0.003, **more: str) -> list[dict[str, object]]:
        """Medians of `count` nights at level(night), 5% of them slow by 5% to 20%."""
        chance = random.Random(f"{SEED} {variant}")
        return [night_row(i, variant, level(i) * (1 + chance.gauss(0, noise))
                          * (1 + (chance.uniform(0.05, 0.2) if chance.random() < 0.05 else 0)), **more) for i in range(count)]


class Appending(Case):
    def test_a_night_is_the_median_of_its_replicas_and_is_added_once(self) -> None:
        run = self.write_rows("run.csv", [run_row(0, 30), run_row(1, 10), run_row(2, 20), run_row(0, 5, variant="bad"),
                                         run_row(1, "", variant="bad"), run_row(0, "", variant="absent", outcome="unavailable")])
        for added in (2, 0):
            result = self.script("--append", run, "--night", "n1", "--machine", "m", "--history", self.folder / "h")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{added} rows of the night n1 added", result.stdout)
        with (self.folder / "h/m.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(r["variant"], r["outcome"], r["replicas"], r["median_ns"], r["low_ns"], r["high_ns"]) for r in rows],
                         [("v", "passed", "3", "20", "10", "30"), ("bad", "wrong", "2", "", "", "")])

    def test_a_row_torn_by_a_kill_is_written_again_and_nothing_else_is_touched(self) -> None:
        rows = [night_row(0, name, 100.0) for name in ("a", "b, quoted", "c")]
        self.assertEqual(history.append(self.path, rows), 3)
        whole = self.path.read_bytes()
        for size in range(len(whole)):
            self.path.write_bytes(whole[:size])
            history.append(self.path, rows)
            self.assertEqual(self.path.read_bytes(), whole, f"cut to {size}")

    def test_a_file_that_is_no_history_stays_as_it_is(self) -> None:
        self.path.write_text("a,b\n1,2\n3")
        with self.assertRaisesRegex(records.BadFile, "machine.csv:1: these are not the columns"):
            history.append(self.path, [night_row(0, "a", 1.0)])
        self.assertEqual(self.path.read_text(), "a,b\n1,2\n3")

    def test_replicas_under_different_conditions_are_no_night(self) -> None:
        run = self.write_rows("run.csv", [run_row(0, 30, driver="1"), run_row(1, 10, driver="2")])
        result = self.script("--append", run, "--history", self.folder / "h")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("driver '1' and '2'", result.stderr)
        self.assertFalse((self.folder / "h").exists())


class Segments(Case):
    def test_each_set_of_conditions_is_one_and_the_last_nights_is_the_newest(self) -> None:
        history.append(self.path, [night_row(i, "v", 100.0 + i, driver=d) for i, d in enumerate("1121")])
        segments = history.segments_of(self.path)
        self.assertEqual([(s.conditions[1], s.times, s.newest) for s in segments],
                         [("1", [100.0, 101.0, 103.0], True), ("2", [102.0], False)])

    def test_hampels_filter_moves_an_outlier_and_leaves_a_step(self) -> None:
        quiet = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 101.2]
        self.assertEqual(change_points.clamped(quiet), quiet)
        outlier = change_points.clamped([*quiet[:3], 150.0, *quiet[4:]])
        self.assertEqual(outlier[:3] + outlier[4:], [*quiet[:3], *quiet[4:]])
        # The neighbourhood's median is 100.2, its median deviation 0.8.
        self.assertAlmostEqual(outlier[3], 100.2 + 3 * 1.4826 * 0.8)
        step = [v * f for f in (1.0, 1.05) for v in quiet]
        self.assertEqual(change_points.clamped(step), step)

    def test_a_few_slow_nights_and_a_change_below_the_floor_are_no_change_points(self) -> None:
        def found(levels: list[tuple[int, float]]) -> list[tuple[int, bool]]:
            rows = [night_row(0, "v", ns) for count, ns in levels for _ in range(count)]
            starts = [sum(count for count, _ in levels[:i]) for i in range(1, len(levels))]
            points = change_points.points_at(history.Segment(("op",) * 6, ("x",) * 4, rows), starts)
            return [(point.index, point.slower) for point in points]

        self.assertEqual(found([(20, 100.0), (5, 110.0)]), [(20, True)])
        self.assertEqual(found([(20, 110.0), (5, 100.0)]), [(20, False)])
        self.assertEqual(found([(20, 100.0), (4, 110.0), (20, 100.0)]), [])
        self.assertEqual(found([(20, 100.0), (4, 110.0)]), [])
        self.assertEqual(found([(20, 100.0), (20, 101.9), (20, 104.0)]), [(40, True)])
        self.assertEqual(found([(20, 100.0), (4, 104.0), (20, 105.0)]), [(20, True)])

    def test_bad_input_is_one_line_and_code_2(self) -> None:
        history.append(self.path, [night_row(i, "v", 100.0) for i in range(7)])
        whole = self.path.read_text()
        torn = self.folder / "torn.csv"
        torn.write_text(whole[:-3])
        foreign = self.folder / "foreign.csv"
        foreign.write_text(self.path.read_text().replace("median_ns", "median_us"))
        no_time = self.folder / "no_time.csv"
        no_time.write_text(self.path.read_text().replace(",100,", ",nan,"))
        for arguments, words in (([self.folder / "absent.csv"], ["absent.csv"]), ([torn], ["torn.csv", "cut off"]),
                                 ([foreign], ["foreign.csv:1", "median_ns"]), ([no_time], ["no_time.csv:2", "'nan'"]),
                                 (["--history", self.folder / "none"], ["no history"]), (["--night", "x"], ["--append"]),
                                 (["--csv", self.path, self.path], ["machine.csv", "replace"]),
                                 (["--history", self.folder, "--csv", self.path], ["machine.csv", "replace"]),
                                 (["--csv", self.folder / "none/out.csv", self.path], ["none/out.csv", "folder is missing"]),
                                 (["--append", self.path, "--history", self.folder, "--machine", "../other"], ["../other"]),
                                 (["--nights"], ["--help"])):
            with self.subTest(arguments=arguments):
                result = self.script(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)
                self.assertEqual(self.path.read_text(), whole)
        result = self.script(self.path)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("no series has 8 nights", result.stderr)

    def test_without_otava_it_says_how_to_get_it(self) -> None:
        segment = history.Segment(("op",) * 6, ("x",) * 4, [night_row(i, "v", 1.0) for i in range(8)])
        with mock.patch.object(change_points, "INSTALLED", self.folder), mock.patch.dict(os.environ, {"PATH": ""}), \
                self.assertRaisesRegex(change_points.OtavaMissing, "scripts/setup --history"):
            change_points.find([segment])


@unittest.skipUnless(HAS_OTAVA, "no Apache Otava; scripts/setup --history fetches it")
class ChangePoints(Case):
    def points(self, *rows: list[dict[str, object]]) -> list[change_points.ChangePoint]:
        history.append(self.path, [row for of_series in rows for row in of_series])
        return change_points.find(history.segments_of(self.path))

    def test_a_known_step_is_found_where_it_is_and_noise_is_none(self) -> None:
        print(f"seed {SEED}")
        noise = [self.nights(f"noise{i}", lambda _: 100e3) for i in range(8)]
        points = self.points(self.nights("stepped", lambda i: 100e3 if i < 60 else 103e3), *noise)
        self.assertEqual([point.segment.series[1] for point in points], ["stepped"])
        self.assertLessEqual(abs(points[0].index - 60), 1)
        self.assertAlmostEqual(points[0].change, 0.03, delta=0.005)
        self.assertEqual(change_points.slower_now(points), points)

    def test_a_step_of_3_percent_is_found_by_the_fifth_night(self) -> None:
        points = self.points(self.nights("stepped", lambda i: 100e3 if i < 85 else 103e3))
        self.assertEqual([abs(point.index - 85) <= 1 for point in points], [True])

    def test_another_driver_is_another_segment(self) -> None:
        rows = self.nights("v", lambda i: 100e3 if i < 45 else 120e3)
        for row in rows[45:]:
            row["driver"] = "590"
        self.assertEqual(self.points(rows), [])

    def test_the_exit_code_tells_slower_now_from_mended_faster_and_earlier_conditions(self) -> None:
        earlier = self.nights("v", lambda i: 100e3 if i < 30 else 110e3)
        for row in earlier[60:]:
            row["driver"] = "590"
        for name, rows, code, words in (
                ("slower", self.nights("v", lambda i: 100e3 if i < 60 else 110e3), 1, ["now slower by 9.9%", "commit59..commit60"]),
                ("mended", self.nights("v", lambda i: 110e3 if 30 <= i < 60 else 100e3), 0, ["slower by", "nothing is slower now"]),
                ("faster", self.nights("v", lambda i: 110e3 if i < 60 else 100e3), 0, ["faster by"]),
                ("earlier", earlier, 0, ["under earlier conditions"]),
                ("control", self.nights("v", lambda i: 100e3 if i < 60 else 110e3, operator="control"), 0, ["slower by"])):
            with self.subTest(name=name):
                path = self.folder / f"{name}.csv"
                history.append(path, rows)
                out = self.folder / "points.csv"
                result = self.script(path, "--csv", out)
                self.assertEqual((result.returncode, result.stderr), (code, ""), result)
                for word in words:
                    self.assertIn(word, result.stdout)
                with out.open() as file:
                    points = list(csv.DictReader(file))
                self.assertEqual({p["history"] for p in points}, {name})
                self.assertTrue(all(0.85 < float(p["ratio"]) < 1.15 for p in points))

    def test_what_is_exported_is_what_otava_reads(self) -> None:
        history.append(self.path, self.nights("v", lambda i: 100e3 if i < 60 else 110e3))
        result = self.script(self.path, "--export", self.folder / "otava")
        self.assertEqual(result.returncode, 0, result)
        command, environment = change_points.otava()
        out = subprocess.run([*command, "analyze", "--config-file", result.stdout.strip(), "--until", "2200-01-01", "--since",
                              "1980-01-01", "all"], env=environment, capture_output=True, text=True, check=True)
        self.assertIn("+9.9%", out.stdout)


if __name__ == "__main__":
    outcome = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False).result
    sys.exit(not outcome.wasSuccessful())
