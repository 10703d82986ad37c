#!/usr/bin/env python3
"""fusebench tune as a user meets it. Usage: tune_test.py FUSEBENCH [unittest arguments].

Catches constraints that mean something else than in Python, counts that are not exact, foreign or broken
files that are read all the same, options that do nothing, and results that a search loses when it goes on.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import unittest
from pathlib import Path

from folder_case import FolderCase

PROGRAM = Path(sys.argv[1]).resolve()
EXHAUST = Path(__file__).resolve().parent.parent / "scripts" / "exhaust"
SEED = int(os.environ.get("FUSEBENCH_TEST_SEED", "20261129"))


def tune(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, "tune", *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


class Case(FolderCase):
    def write(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path


def t1(parameters: dict[str, object], conditions: list[str]) -> dict[str, object]:
    return {"ConfigurationSpace": {
        "TuningParameters": [{"Name": name, "Type": "int", "Values": values} for name, values in parameters.items()],
        "Conditions": [{"Parameters": [], "Expression": condition} for condition in conditions]}}


class Options(Case):
    """Each option does something in some uses and is refused in the others."""

    VALUES = {"--space": "s.json", "--import": "i.json", "--replay": "r.json", "--export-t4": "t4.json", "--repeats": 2,
              "--cutoff": 0.9, "--filter": "x", "--strategy": "local", "--budget": 5, "--seed": 3, "--csv": "c.csv",
              "--operator": "residual_epilogue", "--device": "cpu", "--kernels": ".", "--problem": "quick", "--battery": "quick",
              "--timeout": 60, "--max-samples": 5, "--max-time": 1, "--log": "l.jsonl", "--final": 2, "--compilers": 1,
              "--wisdom": "w"}
    FLAGS = {"--count", "--score", "--pin", "--quiet", "--no-wisdom"}
    SEARCH_AND_REPLAY = {"--strategy", "--budget", "--seed", "--csv"}
    ALLOWED = {"--space": {"--space", "--count"},
               "--import": {"--import", "--export-t4", "--filter"},
               "--replay": {"--replay", "--repeats", "--score", "--cutoff", "--filter", *SEARCH_AND_REPLAY}}

    def test_an_option_that_does_nothing_is_refused_in_every_use(self) -> None:
        options = set(re.findall(r"(?m)^ +(?:-h,)?(--[a-z0-9-]+)", tune("--help").stdout)) - {"--help"}
        self.assertEqual(options, set(self.VALUES) | self.FLAGS)
        of_others = set().union(*self.ALLOWED.values())
        searching = options - of_others | {"--filter"} | self.SEARCH_AND_REPLAY
        for use, allowed in [*self.ALLOWED.items(), ("", searching)]:
            # Files that are not there: what is accepted ends at the first of them, and a search at its operator.
            given = [use, str(self.folder / "none")] if use else ["--operator", "nothing"]
            for option in sorted(options - {use, "" if use else "--operator"}):
                if not use and option in self.ALLOWED:
                    continue
                with self.subTest(use=use, option=option):
                    value = [] if option in self.FLAGS else [str(self.VALUES[option])]
                    result = tune(*given, option, *value)
                    if option in self.ALLOWED:
                        self.assert_one_clear_line(result, "exclude one another")
                    elif option in allowed:
                        self.assertNotIn(option + " needs", result.stderr)
                        self.assertNotIn(option + " does nothing", result.stderr)
                    else:
                        self.assert_one_clear_line(result, option)
                        self.assertRegex(result.stderr, f"{option} (needs --|does nothing with {use};)")
        self.assert_one_clear_line(tune("--count"), "--count needs --space")
        self.assert_one_clear_line(tune("--export-t4", "x"), "--export-t4 needs --import")
        self.assertEqual(list(self.folder.iterdir()), [])


class RandomExpression:
    """Text of an expression over a, b, c (whole numbers), f (numbers) and s (texts)."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def number(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.3:
            return self.rng.choice(["a", "b", "c", "f", str(self.rng.randint(0, 9)), "0.5", "2.0", "True"])
        left, right = self.number(depth - 1), self.number(depth - 1)
        kind = self.rng.randrange(8)
        if kind < 6:
            return f"{left} {('+', '-', '*', '//', '/', '%')[kind]} {right}"
        return f"({left})" if kind == 6 else f"-{left}"

    def truth(self, depth: int) -> str:
        kind = self.rng.randrange(9) if depth else self.rng.randrange(4)
        if kind == 0:
            return self.rng.choice(["s == 'x'", "s != 'y'", "s < 'xy'", "s in ['x', 'z']", "s not in ('y', 'q')"])
        if kind == 1:
            listed = ", ".join(self.number(1) for _ in range(self.rng.randint(2, 3)))
            return f"{self.number(1)} {self.rng.choice(['in', 'not in'])} " + self.rng.choice(["[%s]", "(%s)"]) % listed
        if kind < 5:
            text = self.number(2)
            for _ in range(self.rng.choice([1, 1, 2])):
                text += f" {self.rng.choice(['==', '!=', '<', '<=', '>', '>='])} {self.number(2)}"
            return text
        if kind == 5:
            return f"not {self.truth(depth - 1)}"
        if kind == 6:
            return f"({self.truth(depth - 1)})"
        return f"{self.truth(depth - 1)} {('and', 'or')[kind - 7]} {self.truth(depth - 1)}"


class Space(Case):
    def count(self, document: object) -> str:
        result = tune("--space", self.write("t1.json", document), "--count")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()[0]

    def test_counts_are_exact(self) -> None:
        # Parameters and conditions of a convolution kernel whose space is public: 4,362 of 10,240.
        parameters = {"bx": list(range(16, 257, 16)), "by": "[1, 2, 4, 8, 16]", "tx": "[1, 2, 3, 4]",
                      "ty": "[1, 2, 3, 4]", "read_only": [0, 1], "padding": [0, 1], "shmem": [0, 1], "fw": "[15]"}
        conditions = ["padding==0 or bx % 32 != 0", "bx*by<=1024", "padding==0 or shmem != 0",
                      "shmem == 0 or (((bx*tx+(fw-1)))*((by*ty+(fw-1)))) < 12*1024"]
        self.assertEqual(self.count(t1(parameters, conditions)), "4362")

    def test_random_expressions_mean_what_they_mean_in_python(self) -> None:
        print(f"seed {SEED} (FUSEBENCH_TEST_SEED changes it)")
        rng = random.Random(SEED)
        values = {"a": [-3, 0, 1, 2], "b": [1, 2, 5], "c": [0, 4, 7], "f": [0.5, 2.0], "s": ["x", "y"]}
        compared = 0
        while compared < 150:
            text = RandomExpression(rng).truth(3)
            expected = 0
            try:
                for choice in itertools.product(*values.values()):
                    expected += bool(eval(text, {"__builtins__": {}}, dict(zip(values, choice))))
            except (ZeroDivisionError, TypeError, OverflowError):
                continue
            except SyntaxError as error:
                self.fail(f"{text}: {error}")
            with self.subTest(expression=text):
                result = tune("--space", self.write("t1.json", t1(values, [text])), "--count")
                if expected:
                    self.assertEqual(result.stdout.split()[:1], [str(expected)], result.stderr)
                else:
                    self.assertIn("empty", result.stderr)
            compared += 1

    def test_what_is_no_space_gets_one_line_that_names_it(self) -> None:
        cases: list[tuple[object, tuple[str, ...]]] = [
            ("{", ("not JSON", "line 1")),
            ([], ("no T1 file", "ConfigurationSpace")),
            ({"results": []}, ("no T1 file",)),
            ({"ConfigurationSpace": 1}, ("TuningParameters",)),
            ({"ConfigurationSpace": {"TuningParameters": [{"Name": "a"}]}}, ("Values", "missing")),
            (t1({"a": 5}, []), ("'a'", "no list")),
            (t1({"a": "[1, x]"}, []), ("'a'", "column 5", "constants")),
            (t1({"a": "[1, 1]"}, []), ("'a'", "twice")),
            (t1({"a": [1, None]}, []), ("null",)),
            (t1({}, []), ("no parameter",)),
            (t1({"a": [1, 2]}, ["a < 0"]), ("'a < 0'", "empty")),
            (t1({"a": [1, 2]}, ["a < q"]), ("'q'", "there is: a")),
            (t1({"a": [1, 2]}, ["a <"]), ("column 4",)),
        ]
        for document, words in cases:
            path = self.write("t1.json", document)
            with self.subTest(document=document):
                self.assert_one_clear_line(tune("--space", path, "--count"), str(path), *words)
        recorded = {"cache": cache(SEED), "T4": {"results": []},
                    "log": '{"fusebench_tuning_log":2,"operator":"o","problem":"p","device":"cpu","device_name":"d"}\n'}
        for what, document in recorded.items():
            path = self.write("recorded.json", document)
            self.assert_one_clear_line(tune("--space", path), "no T1 file", what, "replay it with --replay")
        self.assert_one_clear_line(tune("--space", self.folder / "none.json", "--count"), "none.json", "No such file")
        self.assert_one_clear_line(tune("--space", self.folder, "--count"), "folder")


def cache(seed: int) -> dict[str, object]:
    """A Kernel Tuner cache of 240 configurations, of which some fail; times and costs from the seed."""
    rng = random.Random(seed)
    values = {"block": [32 * i for i in range(1, 11)], "tile": [1, 2, 3, 4], "load": ["ca", "cg", "cs"], "flag": [0, 1]}
    entries = {}
    for choice in itertools.product(*values.values()):
        configuration = dict(zip(values, choice))
        time = (1 + abs(configuration["block"] - 192) / 300 + 0.3 / configuration["tile"]
                + 0.1 * values["load"].index(configuration["load"])) * rng.uniform(1, 1.02)
        entries[",".join(map(str, choice))] = configuration | {
            "time": "RuntimeFailedConfig" if rng.random() < 0.1 else time, "times": [time, time],
            "compile_time": rng.uniform(300, 400), "verification_time": 1.0, "benchmark_time": 30 * time,
            "strategy_time": 0, "framework_time": 1.0}
    return {"device_name": "made up", "kernel_name": "kernel", "tune_params_keys": list(values), "tune_params": values,
            "objective": "time", "cache": entries}


class Replay(Case):
    def setUp(self) -> None:
        super().setUp()
        print(f"seed {SEED} (FUSEBENCH_TEST_SEED changes it)")
        self.cache = self.write("space.json", cache(SEED))

    def test_all_strategies_are_scored_and_written_down(self) -> None:
        scores = self.folder / "scores.csv"
        result = tune("--replay", self.cache, "--strategy", "all", "--budget", 30, "--repeats", 5, "--score", "--csv",
                      scores)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("240 configurations", result.stdout)
        with scores.open(newline="") as file:
            rows = {row["strategy"]: row for row in csv.DictReader(file, strict=True)}
        self.assertEqual(list(rows), ["model", "genetic", "annealing", "local", "random", "exhaustive"])
        for row in rows.values():
            self.assertIn(row["strategy"], result.stdout)
            self.assertIn(f"{float(row['score']):.3f} +- ", result.stdout)
            self.assertLessEqual(float(row["optimum_ns"]), float(row["mean_found_ns"]))
            self.assertLessEqual(float(row["mean_found_ns"]), float(row["worst_found_ns"]))
        with (self.folder / "scores.curves.csv").open(newline="") as file:
            points = [row for row in csv.DictReader(file, strict=True) if row["strategy"] == "model"]
        found = [float(point["mean_found_ns"]) for point in points]
        self.assertEqual(found, sorted(found, reverse=True))
        self.assertEqual(points[-1]["draws"], rows["model"]["budget_draws"])

    def test_the_same_seed_gives_the_same_score_and_another_another(self) -> None:
        def table(seed: int) -> str:
            result = tune("--replay", self.cache, "--budget", 30, "--repeats", 3, "--seed", seed)
            self.assertEqual(result.returncode, 0, result.stderr)
            return " ".join(result.stdout.splitlines()[2].split()[:-1])  # less the seconds it took
        self.assertEqual(table(5), table(5))
        self.assertNotEqual(table(5), table(6))

    def test_t4_written_is_scored_as_what_it_was_written_from(self) -> None:
        t4 = self.folder / "t4.json"
        result = tune("--import", self.cache, "--export-t4", t4)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(t4.read_text())
        self.assertEqual(len(document["results"]), 240)
        with gzip.open(self.folder / "t4.json.gz", "wb") as file:
            file.write(t4.read_bytes())
        def scores(path: Path) -> list[str]:
            result = tune("--replay", path, "--strategy", "genetic", "--repeats", 4)
            if "no zlib" in result.stderr:
                self.skipTest(result.stderr)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stdout.splitlines()[2].split()[1:4]
        self.assertEqual(scores(t4), scores(self.cache))
        self.assertEqual(scores(self.folder / "t4.json.gz"), scores(self.cache))

    def test_budgets_are_counts_and_shares(self) -> None:
        for budget, draws in {"7": 7, "10%": 24, "100%": 240}.items():
            result = tune("--replay", self.cache, "--strategy", "random", "--repeats", 1, "--budget", budget)
            self.assertIn(f"budget {draws} draws", result.stdout)
        for budget in ("0", "-1", "x", "101%", "5x", "5m", ""):
            result = tune("--replay", self.cache, "--budget", budget or " ")
            self.assert_one_clear_line(result, "--budget", *(["at most 100%"] if budget.endswith("%") else []))

    def test_a_cache_that_is_not_closed_is_read_and_that_is_said(self) -> None:
        text = self.cache.read_text()
        self.assertTrue(text.endswith("}}}"))
        path = self.write("open.json", text[:-2] + ",")
        result = tune("--replay", path, "--repeats", 1, "--strategy", "random")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "^open: the cache is not closed[^\n]*\n$")
        exported = tune("--import", path, "--export-t4", self.folder / "t4.json")
        self.assertRegex(exported.stderr, "^[^\n]*open.json: the cache is not closed[^\n]*\n$")
        self.assertEqual(tune("--replay", self.cache, "--repeats", 1, "--strategy", "random").stderr, "")

    def test_no_score_is_given_where_random_search_is_expected_beside_the_optimum(self) -> None:
        values = [1.0, 1.001, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
        entries = {str(i): {"p": i, "time": time, "times": [time]} for i, time in enumerate(values)}
        path = self.write("small.json", {"device_name": "made up", "kernel_name": "k", "tune_params_keys": ["p"],
                                         "tune_params": {"p": list(range(8))}, "objective": "time", "cache": entries})
        scores = self.folder / "scores.csv"
        result = tune("--replay", path, "--budget", 4, "--repeats", 3, "--csv", scores)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\nmodel +- +- +\+")
        self.assertIn("no P: after 2 draws", result.stdout)
        (row,) = csv.DictReader(scores.read_text().splitlines())
        self.assertEqual((row["score"], row["score_by_cost"]), ("", ""))
        self.assertIn(" +- ", tune("--replay", path, "--budget", 1, "--repeats", 3).stdout)

    def test_bad_input_gets_one_line_and_nothing_is_overwritten(self) -> None:
        before = self.cache.read_bytes()
        self.assert_one_clear_line(tune("--replay", self.cache, "--strategy", "magic"), "'magic'", "model, genetic")
        self.assert_one_clear_line(tune("--replay", self.cache, "--csv", self.cache), "would replace")
        self.assert_one_clear_line(tune("--import", self.cache, "--export-t4", self.cache), "would replace")
        self.assert_one_clear_line(tune("--import", self.cache), "--export-t4")
        self.assert_one_clear_line(tune("--import", self.cache, "--export-t4", self.folder / "none" / "x"), "none/x")
        self.assert_one_clear_line(tune("--import", self.cache, "--replay", self.cache), "exclude")
        self.assert_one_clear_line(tune("--replay", self.write("t1.json", t1({"a": [1]}, []))), "no recorded space")
        self.assert_one_clear_line(tune("--replay", self.write("torn.json", before.decode()[:-900])), "torn.json", "not JSON")
        torn = self.folder / "torn.json.gz"
        torn.write_bytes(gzip.compress(before)[:-30])
        self.assert_one_clear_line(tune("--replay", torn), "torn.json.gz")
        self.assertEqual(self.cache.read_bytes(), before)


class Live(Case):
    """Registered variants on the CPU, which every machine has."""

    def search(self, budget: int | str, *more: object) -> subprocess.CompletedProcess[str]:
        return tune("--operator", "residual_epilogue", "--filter", "cpu_in_place", "--problem", "1,4,3,5,7", "--max-time", 0.02,
                    "--seed", 7, "--budget", budget, "--log", self.folder / "log.jsonl", "--wisdom", self.folder / "wisdom",
                    *more, timeout=300)

    def entries(self, stage: str = "search") -> list[dict[str, object]]:
        header, *lines = (self.folder / "log.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(header)["problem"], "n=1,c=4,d=3,h=5,w=7")
        return [entry for entry in map(json.loads, lines) if entry["stage"] == stage]

    def test_a_search_keeps_a_log_and_goes_on_from_it(self) -> None:
        first = self.search(3, "--final", 0)
        self.assertIn(first.returncode, (0, 1), first.stderr)
        before = self.entries()
        self.assertEqual(len(before), 3)
        log = self.folder / "log.jsonl"
        log.write_text(log.read_text() + json.dumps(before[0])[:50])  # as a kill leaves it
        second = self.search(5, "--final", 0)
        self.assertIn(second.returncode, (0, 1), second.stderr)
        after = self.entries()
        self.assertEqual(after[:3], before)
        self.assertEqual(len({entry["configuration"] for entry in after}), 5)
        self.assertRegex(second.stdout, r"cpu_in_place .* 5  24 ")
        for entry in after:
            self.assertEqual(entry["outcome"] == "passed", entry["median_ns"] > 0)
            self.assertEqual(bool(entry["reason"]), entry["outcome"] != "passed")
            parts = [entry["compile_ns"], entry["verify_ns"], entry["measure_ns"]]
            self.assertTrue(all(part >= 0 for part in parts) and sum(parts) <= entry["total_ns"], entry)
            self.assertGreater(entry["verify_ns"], 0)
            self.assertRegex(entry["source"], "^[0-9a-f]{32}$")
            self.assertTrue(entry["options"] and entry["toolkit"] and entry["driver"])
        done = self.search(5, "--final", 0)  # nothing is left to measure but the controls
        self.assertEqual(self.entries(), after, done.stderr)

    def rows(self, path: Path) -> list[dict[str, str]]:
        with path.open(newline="") as file:
            return list(csv.DictReader(file, strict=True))

    def test_a_search_that_goes_on_loses_no_row_of_its_results(self) -> None:
        results = self.folder / "r.csv"
        self.search(3, "--final", 0, "--no-wisdom", "--csv", results)
        before, whole = self.rows(results), results.read_text()
        samples = (self.folder / "r.samples.csv").read_text()
        results.write_text(whole + whole.splitlines()[-1][:40])  # as a kill leaves it
        again = self.search(4, "--final", 0, "--no-wisdom", "--csv", results)
        self.assertIn("3 of 24 known from", again.stderr)
        after = self.rows(results)
        self.assertEqual(after[:len(before)], before)
        measured = [row["configuration"] for row in after if row["operator"] != "control"]
        self.assertEqual((len(measured), len(set(measured))), (4, 4))
        self.assertTrue((self.folder / "r.samples.csv").read_text().startswith(samples))
        other = self.write("other.csv", "precious\n")
        self.assert_one_clear_line(self.search(5, "--final", 0, "--no-wisdom", "--csv", other), "other.csv", "another file")
        self.assertEqual(other.read_text(), "precious\n")

    def test_going_on_says_what_is_known_and_what_is_left_out_and_why(self) -> None:
        self.search(3, "--final", 0, "--no-wisdom")
        log = self.folder / "log.jsonl"
        header, *lines = log.read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        entries[1]["source"] = "0" * 32
        entries[2]["configuration"] = "chunk=7,unroll=4,store=cached"
        log.write_text("\n".join([header, *map(json.dumps, entries)]) + "\n")
        result = self.search(1, "--final", 0, "--no-wisdom")
        self.assertIn(f"1 of 24 known from {log}; 1 left out: no configuration of the space; "
                      "1 left out: of other sources of the variant\n", result.stderr)

    def test_the_final_counts_apart_and_the_search_to_its_end(self) -> None:
        result = self.search(4, "--final", 2, "--no-wisdom")
        counted = [tuple(map(int, pair)) for pair in re.findall(r"(?m)^\[(\d+)/(\d+)\]", result.stderr)]
        self.assertEqual(counted, [(i, len(counted)) for i in range(1, len(counted) + 1)])
        final = [tuple(map(int, pair)) for pair in re.findall(r"(?m)^\[final (\d+)/(\d+)\]", result.stderr)]
        if sum(entry["outcome"] == "passed" for entry in self.entries()) > 1:
            self.assertGreater(len(final), 0)
            self.assertEqual(final, [(i, final[0][1]) for i in range(1, len(final) + 1)])

    def test_a_final_for_which_no_time_is_left_is_none(self) -> None:
        result = self.search("0.001s", "--no-wisdom")
        self.assertIn("no time is left for a final", result.stderr)
        self.assertEqual(self.entries("final"), [])
        self.assertNotIn("[final", result.stderr)

    def test_a_problem_that_no_memory_holds_is_refused_at_once(self) -> None:
        log = self.folder / "log.jsonl"
        result = tune("--operator", "residual_epilogue", "--device", "cpu", "--problem", "100000,1000,1000,100,10", "--log", log,
                      "--wisdom", self.folder / "wisdom")
        self.assert_one_clear_line(result, "n=100000", "GB")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_wisdom_that_cannot_be_read_costs_only_itself(self) -> None:
        file = self.known()
        good = file.read_text()
        for name, text in (("0.json", "{"), ("package.json", '{"name": "another program"}')):
            (file.parent / name).write_text(text)
        result = self.search(1, "--final", 0)
        self.assertIn(result.returncode, (0, 1))
        for name in ("0.json", "package.json"):
            self.assertRegex(result.stderr, f"(?m)^fusebench: wisdom left out: .*{name}")
        verified = subprocess.run([PROGRAM, "verify", "--operator", "residual_epilogue", "--filter", "cpu_in_place", "--battery",
                                   "timed", "--problem", "1,4,3,5,7", "--wisdom", file.parent], text=True, capture_output=True,
                                  timeout=300, check=False)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertRegex(verified.stderr, "(?m)^fusebench: wisdom left out: .*0.json.*take the file away$")
        self.assertIn(f"wisdom in {file.parent}: cpu_in_place ", verified.stderr)
        self.assertEqual(json.loads(file.read_text()).keys(), json.loads(good).keys())

    def test_what_was_measured_of_other_sources_or_verified_otherwise_is_measured_again(self) -> None:
        self.search(2, "--final", 0)
        log = self.folder / "log.jsonl"
        header, *lines = log.read_text().splitlines()
        for key, value in (("source", "0" * 32), ("battery", "full")):
            with self.subTest(changed=key):
                entries = [json.loads(line) | {key: value} for line in lines]
                log.write_text("\n".join([header, *map(json.dumps, entries)]) + "\n")
                self.search(1, "--final", 0, "--no-wisdom")
                self.assertEqual(len(self.entries()), 3)

    def test_the_best_are_measured_again_and_kept_as_wisdom_that_run_uses(self) -> None:
        found = self.search(6, "--final", 2)
        if found.returncode == 1:
            self.skipTest("nothing passed: " + found.stdout)
        files = list((self.folder / "wisdom").iterdir())
        self.assertEqual(len(files), 1, found.stderr)
        wisdom = json.loads(files[0].read_text())
        self.assertEqual(wisdom["variant"], "cpu_in_place")
        self.assertEqual(wisdom["problem"], "n=1,c=4,d=3,h=5,w=7")
        self.assertEqual(wisdom["measured"], 6)
        self.assertIn(wisdom["configuration"], found.stdout)
        finalists = self.entries("final")
        if len([e for e in self.entries() if e["outcome"] == "passed"]) > 1:
            self.assertEqual({len(entry["samples_ns"]) for entry in finalists}, {7})
            self.assertIn(wisdom["configuration"], {entry["configuration"] for entry in finalists})

        def run(problem: str, *more: object, folder: Path = self.folder / "wisdom") -> str:
            result = subprocess.run([PROGRAM, "verify", "--operator", "residual_epilogue", "--filter", "cpu_in_place",
                                     "--battery", "quick", "--problem", problem, "--wisdom", str(folder),
                                     *map(str, more)], text=True, capture_output=True, timeout=300, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr

        chosen = f"wisdom in {self.folder / 'wisdom'}: cpu_in_place {wisdom['configuration']}: "
        self.assertIn(chosen + "exact\n", run("1,4,3,5,7"))
        self.assertIn(chosen + "other problem: n=1,c=4,d=3,h=5,w=7\n", run("1,4,3,5,8"))
        self.assertNotIn("wisdom", run("1,4,3,5,7", "--configuration", "default"))
        (self.folder / "empty").mkdir()
        self.assertIn(f"wisdom in {self.folder / 'empty'}: nothing is known of 1 variant, which takes the default\n",
                      run("1,4,3,5,7", folder=self.folder / "empty"))
        missing = subprocess.run([PROGRAM, "verify", "--wisdom", self.folder / "none"], text=True, capture_output=True, check=False)
        self.assert_one_clear_line(missing, "--wisdom", str(self.folder / "none"))
        files[0].write_text(json.dumps(wisdom | {"source": "0" * 32}))
        self.assertIn(chosen + "exact, of other sources of the variant\n", run("1,4,3,5,7"))
        files[0].write_text("{")
        self.assert_one_clear_line(self.search(8), files[0].name, "take the file away")
        self.assertEqual(files[0].read_text(), "{")

    def known(self, **changed: object) -> Path:
        """Wisdom of a search over two configurations, with some members changed."""
        found = self.search(2, "--final", 0)
        if found.returncode == 1:
            self.skipTest("nothing passed: " + found.stdout)
        (file,) = (self.folder / "wisdom").iterdir()
        file.write_text(json.dumps(json.loads(file.read_text()) | changed))
        (self.folder / "log.jsonl").unlink()
        return file

    def test_a_search_measures_what_is_known_after_the_default_whatever_its_budget(self) -> None:
        known = "chunk=65536,unroll=4,store=cached"
        file = self.known(configuration=known)
        text = file.read_text()
        self.search(1, "--final", 0)
        configurations = [entry["configuration"] for entry in self.entries()]
        self.assertEqual(len(configurations), 2)
        self.assertEqual(configurations[1], known)
        (self.folder / "log.jsonl").unlink()
        file.write_text(text)  # whichever of the two was the faster
        self.search("0.001s", "--final", 0)
        self.assertEqual([entry["configuration"] for entry in self.entries()], configurations)

    def test_wisdom_that_failed_in_a_search_stays(self) -> None:
        known = "chunk=65536,unroll=4,store=cached"
        file = self.known(configuration=known)
        before = file.read_text()
        self.search(2, "--final", 0, "--no-wisdom")
        log = self.folder / "log.jsonl"
        header, first, *_ = log.read_text().splitlines()
        usual = json.loads(first) | {"outcome": "passed", "reason": "", "median_ns": 1000.0}
        failed = usual | {"configuration": known, "outcome": "timed_out", "reason": "made up", "median_ns": 0.0}
        log.write_text("\n".join([header, json.dumps(usual), json.dumps(failed)]) + "\n")
        result = self.search(2, "--final", 0)
        self.assertIn("stays", result.stderr)
        self.assertIn(known, result.stderr)
        self.assertEqual(file.read_text(), before)
        # Of other sources it says nothing of these.
        file.write_text(json.dumps(json.loads(before) | {"source": "0" * 32}))
        self.search(2, "--final", 0)
        self.assertNotEqual(json.loads(file.read_text())["configuration"], known)

    def test_a_search_of_which_nothing_passed_is_a_negative_verdict_though_another_has(self) -> None:
        log = self.folder / "log.jsonl"

        def both() -> subprocess.CompletedProcess[str]:
            return tune("--operator", "residual_epilogue", "--device", "cpu", "--filter", "cpu_(in_place|simd|stepwise)$", "--problem",
                        "1,4,3,5,7", "--max-time", 0.02, "--budget", 1, "--final", 0, "--log", log, "--no-wisdom", timeout=300)

        both()
        header, *lines = log.read_text().splitlines()
        known = {"cpu_in_place": {"outcome": "wrong", "reason": "made up", "median_ns": 0.0},
                 "cpu_simd": {"outcome": "passed", "reason": "", "median_ns": 1000.0}}
        entries = [entry | known[entry["variant"]] for entry in map(json.loads, lines)]
        self.assertEqual({entry["variant"] for entry in entries}, set(known))
        log.write_text("\n".join([header, *map(json.dumps, entries)]) + "\n")
        result = both()
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout, "cpu_in_place +none passed")
        self.assertNotRegex(result.stdout, "cpu_simd +none passed")
        self.assertIn("not tuned: cpu_stepwise: it has no parameters\n", result.stderr)

    def test_what_a_configuration_cost_is_known_though_it_ran_out_of_time(self) -> None:
        tune("--operator", "residual_epilogue", "--filter", "cpu_in_place", "--problem", "4,64,16,64,64", "--max-time", 0.02,
             "--timeout", 0.1, "--budget", 1, "--log", self.folder / "log.jsonl", "--no-wisdom", timeout=300)
        _, line = (self.folder / "log.jsonl").read_text().splitlines()
        entry = json.loads(line)
        if entry["outcome"] != "timed_out":
            self.skipTest(f"it was {entry['outcome']}")
        spent = entry["compile_ns"] + entry["verify_ns"] + entry["measure_ns"]
        self.assertGreater(spent, 0)
        self.assertLessEqual(spent, entry["total_ns"])

    def test_what_cannot_be_written_is_refused_before_the_search(self) -> None:
        self.search(1, "--final", 0, "--no-wisdom")
        log = self.folder / "log.jsonl"
        before = log.read_bytes()
        self.assert_one_clear_line(self.search(2, "--csv", log), "--csv", "--log", "log.jsonl")
        samples = self.folder / "x.samples.csv"
        log.rename(samples)
        here = ("--filter", "cpu_in_place", "--problem", "1,4,3,5,7", "--no-wisdom")
        self.assert_one_clear_line(tune(*here, "--csv", self.folder / "x.csv", "--log", samples), "with its samples", "--log")
        samples.rename(log)
        self.assert_one_clear_line(tune(*here[:-1], "--log", log, "--wisdom", "/proc/none"), "/proc/none", "--no-wisdom")
        self.assert_one_clear_line(tune(*here[:-1], "--log", log, "--wisdom", self.folder / "none" / "w"), "none", "make it first")
        self.assert_one_clear_line(tune(*here, "--log", self.folder / "new.jsonl.gz"), "new.jsonl.gz", "without .gz")
        self.assertFalse((self.folder / "none").exists() or (self.folder / "new.jsonl.gz").exists())
        self.assertEqual(log.read_bytes(), before)
        with gzip.open(self.folder / "log.gz", "wb") as file:
            file.write(before)
        packed = (self.folder / "log.gz").read_bytes()
        self.assert_one_clear_line(tune(*here, "--log", self.folder / "log.gz"), "log.gz", "gunzip it first")
        self.assertEqual((self.folder / "log.gz").read_bytes(), packed)

    def test_a_log_is_replayed_and_exported(self) -> None:
        self.search(8, "--final", 0, "--no-wisdom")
        log, t4 = self.folder / "log.jsonl", self.folder / "t4.json"
        if not any(entry["outcome"] == "passed" for entry in self.entries()):
            self.skipTest("nothing passed")
        replayed = tune("--replay", log, "--budget", "50%", "--repeats", 20, "--strategy", "all")
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        self.assertIn("cpu_in_place: 8 configurations", replayed.stdout)
        self.assertRegex(replayed.stdout, r"exhaustive .* \d+/20 ")
        passed = {entry["configuration"]: entry["median_ns"] for entry in self.entries() if entry["outcome"] == "passed"}
        begins_best = min(passed.values()) == passed.get(self.entries()[0]["configuration"])
        self.assertEqual("each search begins with the default, which is the optimum here" in replayed.stdout, begins_best, replayed)
        exported = tune("--import", log, "--export-t4", t4)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        self.assertEqual(len(json.loads(t4.read_text())["results"]), 8)
        self.assertEqual(tune("--replay", t4, "--budget", "50%", "--repeats", 2).returncode, 0)
        self.assertFalse((self.folder / "wisdom").exists())
        before = log.read_bytes()
        self.assert_one_clear_line(tune("--import", log, "--export-t4", log), "would replace")
        self.assert_one_clear_line(tune("--replay", log, "--filter", "nothing"), "nothing")
        self.assertEqual(log.read_bytes(), before)

    def test_bad_input_gets_one_line_and_the_log_stays(self) -> None:
        log = self.folder / "log.jsonl"
        header = {"fusebench_tuning_log": 2, "operator": "residual_epilogue", "problem": "n=2,c=4,d=3,h=5,w=7",
                  "device": "cpu", "device_name": "another"}
        for text, words in ((json.dumps(header) + "\n", ("problem", "n=2,c=4", "--log")),
                            ("operator,variant\n", ("no tuning log",)), ("no line end", ("no tuning log",)),
                            ("{}\n", ("no tuning log",))):
            log.write_text(text)
            with self.subTest(log=text):
                self.assert_one_clear_line(self.search(1), "log.jsonl", *words)
                self.assertEqual(log.read_text(), text)
        log.unlink()
        self.assert_one_clear_line(self.search("none"), "--budget 'none'")
        self.assert_one_clear_line(self.search(1, "--strategy", "magic"), "'magic'", "model")
        self.assert_one_clear_line(self.search(1, "--strategy", "all"), "--replay")
        self.assert_one_clear_line(tune("--filter", "nothing_matches"), "nothing_matches")
        self.assert_one_clear_line(tune("--device", "cpu", "--operator", "residual_epilogue", "--filter", "cpu_(unfused|stepwise)$"),
                                   "cpu_stepwise, cpu_unfused: it has no parameters")
        self.assert_one_clear_line(tune("--operator", "nothing"), "nothing")
        self.assertFalse(log.exists())


class Exhaust(Case):
    """scripts/exhaust on logs made up here."""

    PROBLEM = "n=1,c=4,d=3,h=5,w=7"

    def write_log(self, variant: str, device: str, times: dict[str, float], batteries: tuple[str, ...]) -> None:
        costs = dict.fromkeys(("search_ns", "ahead_ns", "compile_ns", "verify_ns", "measure_ns", "total_ns"), 1)
        basis = {"source": "s", "options": "o", "toolkit": "t", "driver": "d", "git_commit": "c", "timestamp": ""}
        header = {"fusebench_tuning_log": 2, "operator": "residual_epilogue", "problem": self.PROBLEM, "device": device, "device_name": "there"}
        entries = [{"stage": "search", "variant": variant, "configuration": text, "outcome": "passed", "reason": "", "median_ns": ns,
                    "samples_ns": [ns], "battery": battery} | costs | basis for (text, ns), battery in zip(times.items(), batteries)]
        (self.folder / f"residual_epilogue.{variant}.jsonl").write_text("\n".join(map(json.dumps, [header, *entries])) + "\n")

    def tables(self, *options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([EXHAUST, "--program", PROGRAM, "--no-search", "--logs", self.folder, "--out", self.folder / "out",
                               *options], capture_output=True, text=True, timeout=120)

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "out" / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def test_tables_the_logs_and_says_what_is_not_complete(self) -> None:
        self.write_log("cpu_simd", "cpu", {"unroll=1": 30.0, "unroll=2": 10.0, "unroll=4": 20.0}, ("quick",) * 3)
        result = self.tables("--device", "cpu", "--wisdom", self.folder / "none")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("not complete: cpu_threads: nothing measured", result.stdout)
        self.assertIn("cpu_simd: not judged: 10% are 1 draw, fewer than 20\n", result.stdout)
        self.assertEqual([(r["variant"], r["configurations"], r["measured"], r["best_configuration"], r["best_median_ns"],
                           r["default_median_ns"]) for r in self.rows("exhaustive.csv")], [("cpu_simd", "3", "3", "unroll=2", "10.0", "30.0")])
        self.assertEqual([row["space"] for row in self.rows("replayed.csv")], ["cpu_simd"])
        self.assertIn("operator's variants on a device", subprocess.run([EXHAUST, "--help"], capture_output=True, text=True).stdout)
        alone = self.tables("--device", "cpu", "--filter", "cpu_simd$")
        self.assertEqual(alone.returncode, 0, alone)
        self.assertNotIn("not complete", alone.stdout)

    def test_takes_the_size_of_a_space_from_wisdom_where_the_device_is_not(self) -> None:
        listed = json.loads(subprocess.run([PROGRAM, "list", "--json", "--filter", "cuda_bulk_copy$"], capture_output=True, text=True).stdout)
        if listed[0]["available"]:
            self.skipTest("the device is here")
        # The first is of another battery, which the next search would not take as known either.
        texts = [f"block_size=32,tile_bytes=1024,tiles={tiles},stages=1,hint=evict_normal" for tiles in (4, 1, 2)]
        self.write_log("cuda_bulk_copy", "cuda", dict.fromkeys(texts, 5.0), ("quick", "timed", "timed"))
        wisdom = dict.fromkeys(("fusebench_wisdom", "architecture", "driver", "toolkit", "git_commit", "timestamp"), "") | {
            "operator": "residual_epilogue", "variant": "cuda_bulk_copy", "device": "cuda", "device_name": "there",
            "problem": self.PROBLEM, "configuration": texts[1], "median_ns": 5.0, "default_over_best": 1.0, "ties": [],
            "measured": 2, "source": "s"}
        for space, words in ((2, ""), (3, "not complete: cuda_bulk_copy: 2 of 3")):
            (self.folder / "one.json").write_text(json.dumps(wisdom | {"space": space}))
            result = self.tables("--wisdom", self.folder, "--filter", "cuda_bulk_copy$")
            self.assertEqual(result.returncode, 2 if words else 0, result)
            self.assertEqual("not complete" in result.stdout, bool(words), result)
            self.assertIn(words, result.stdout)
        self.assertEqual([(row["measured"], row["battery"]) for row in self.rows("exhaustive.csv")], [("2", "timed")])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
