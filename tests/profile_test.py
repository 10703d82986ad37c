#!/usr/bin/env python3
"""Timelines as a person or a profiler meets them, on CPU variants.

Usage: profile_test.py FUSEBENCH FUSEBENCH_MUTANTS NVTX_LISTENER|- [unittest arguments]. Catches a trace that no viewer
opens, calls that are missing or stand in no phase, ranges that a profiler would sum under the wrong name, a worker that is
told of phases when no profiler listens, and a trace that a failed run has replaced.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

from folder_case import FolderCase

PROGRAM, MUTANTS = (Path(argument).resolve() for argument in sys.argv[1:3])
LISTENER = None if sys.argv[3] == "-" else Path(sys.argv[3]).resolve()
SMALL = ["--operator", "residual_epilogue", "--problem", "1,4,3,5,7", "--device", "cpu", "--seed", "7"]
CONVOLUTION = ["--operator", "conv_transpose3d_residual", "--problem", "n=1,ci=4,co=4,d=2,h=3,w=4,k=3,s=2,p=1,op=1",
               "--device", "cpu", "--seed", "7"]
PHASES = {"prepare", "verify", "warmup", "measure"}


def call(*arguments: object, program: Path = PROGRAM, **environment: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **{k: str(v) for k, v in environment.items()}})


def nanoseconds(text: str) -> int:
    whole, _, decimals = text.partition(".")
    assert len(decimals) == 3, text
    return int(whole) * 1000 + int(decimals)


class Case(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.trace, self.csv = self.folder / "trace.json", self.folder / "sums.csv"

    def profile(self, *arguments: object, code: int = 0, program: Path = PROGRAM) -> subprocess.CompletedProcess[str]:
        result = call("profile", *arguments, "--trace", self.trace, "--trace-csv", self.csv, program=program)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def events(self, phase: str) -> list[dict]:
        # Times as text, so that no digit is lost on the way.
        document = json.loads(self.trace.read_text(), parse_float=str)
        return [event for event in document["traceEvents"] if event["ph"] == phase]

    def slices(self) -> list[tuple[tuple[int, int], int, int, str]]:
        """(pid, tid), start, end, name of each, in the file's order."""
        return [((e["pid"], e["tid"]), nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"]), e["name"])
                for e in self.events("X")]

    def rows(self) -> list[dict[str, str]]:
        with self.csv.open(newline="") as file:
            return list(csv.DictReader(file, strict=True))


class Trace(Case):
    def test_each_call_of_each_variant_is_a_slice_within_its_variant_within_its_phase(self) -> None:
        self.profile(*SMALL, "--iterations", 3)
        open_slices: dict[tuple[int, int], list[tuple[int, str]]] = {}
        paths: Counter[tuple[str, ...]] = Counter()
        last = 0
        for lane, start, end, name in self.slices():
            self.assertGreaterEqual(start, last, "not in order of time")
            last = start
            stack = open_slices.setdefault(lane, [])
            while stack and stack[-1][0] <= start:
                stack.pop()
            if stack:
                self.assertLessEqual(end, stack[-1][0], f"{name} and {stack[-1][1]} overlap on one lane")
            stack.append((end, name))
            paths[tuple(n for _, n in stack)] += 1
        variants = [row["variant"] for row in self.rows()]
        self.assertGreater(len(variants), 3)
        keys = {f"residual_epilogue {row['variant']} {row['configuration']} {row['problem']} cpu" for row in self.rows()}
        for key in keys:
            self.assertNotRegex(key, "[@/:]")
            # In place the input is written anew before each call; before the first that is part of preparing.
            self.assertEqual(paths["prepare", key], 5 if "_in_place " in key else 2)
            self.assertEqual(paths["verify", key], 1)
            self.assertEqual(paths["warmup", key, "call"], 1)
            self.assertEqual(paths["measure", key, "call"], 3)
        self.assertEqual({path[0] for path in paths}, PHASES)
        self.assertEqual({path[1] for path in paths if len(path) > 1}, keys)

    def test_both_operators_are_named_and_small(self) -> None:
        for arguments in (SMALL, CONVOLUTION):
            with self.subTest(arguments[1]):
                self.profile(*arguments)
                names = [e["args"]["name"] for e in self.events("M") if e["name"] == "process_name"]
                self.assertEqual(names, ["fusebench"])
                self.assertLess(self.trace.stat().st_size, 100_000)
                self.assertEqual(self.events("s"), [])
                self.assertTrue(any(arguments[1] in name for _, _, _, name in self.slices()))

    def test_the_sums_are_those_of_the_slices(self) -> None:
        self.profile(*SMALL, "--iterations", 4)
        of_key: Counter[str] = Counter()
        phase = key = ""
        for _, start, end, name in self.slices():
            if name in PHASES:
                phase = name
            elif name != "call":
                key = name
            elif phase == "measure":
                of_key[key] += end - start
        for row in self.rows():
            key = f"residual_epilogue {row['variant']} {row['configuration']} {row['problem']} cpu"
            self.assertEqual(row["iterations"], "4")
            self.assertEqual(int(row["call_ns"]), of_key[key])
            self.assertGreaterEqual(float(row["event_ns"]), int(row["call_ns"]), "its clock is read around the other")
            for column in ("launches", "kernel_ns", "gap_ns", "span_ns", "memcpy_ns", "memset_ns", "api_ns"):
                self.assertEqual(row[column], "", "nothing was recorded of a device")

    def test_the_table_names_every_variant_and_its_calls(self) -> None:
        result = self.profile(*SMALL, "--filter", "cpu_(serial|threads)", "--iterations", 2)
        lines = [line.split() for line in result.stdout.splitlines()]
        calls = {words[0]: words[1:3] for words in lines if words and words[0].startswith("cpu_")}
        self.assertIn("cpu_threads", calls)
        self.assertTrue(all(rest == ["passed", "2"] for rest in calls.values()), result.stdout)

    def test_flushing_changes_nothing_but_times(self) -> None:
        self.profile(*SMALL, "--filter", "cpu_threads", "--flush", "--iterations", 2)
        self.assertEqual(sum(name == "call" for _, _, _, name in self.slices()), 3)

    def test_a_wrong_variant_is_named_and_called_only_when_that_is_asked(self) -> None:
        result = self.profile(*SMALL, "--filter", " cpu_mutant_zeros$| cpu_threads$", code=1, program=MUTANTS)
        self.assertRegex(result.stdout, r"cpu_mutant_zeros\s+wrong\s+0")
        self.assertRegex(result.stdout, r"cpu_threads\s+passed\s+5")
        self.assertRegex(result.stdout, "cpu_mutant_zeros wrong: .*elements")
        self.assertEqual([row["variant"] for row in self.rows()], ["cpu_threads"])
        result = self.profile(*SMALL, "--filter", " cpu_mutant_zeros$", "--even-wrong", code=1, program=MUTANTS)
        self.assertRegex(result.stdout, r"cpu_mutant_zeros\s+wrong\s+5")

    def test_what_cannot_run_is_named_with_the_reason(self) -> None:
        result = call("profile", *SMALL[:4], "--seed", "7", "--filter", "cpu_threads|cuda_float4")
        if "cuda_float4 unavailable" not in result.stdout:
            self.skipTest("a GPU is here, so nothing is unavailable")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "cuda_float4 unavailable: the NVIDIA driver")
        self.assertIn("passed", result.stdout)

    def test_a_failed_run_leaves_an_earlier_trace_alone(self) -> None:
        self.trace.write_text("earlier")
        for arguments in (["--filter", "nothing_matches"], ["--iterations", "0"], ["--trace-csv", self.folder]):
            result = call("profile", *SMALL, *arguments, "--trace", self.trace)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(self.trace.read_text(), "earlier")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["trace.json"])

    def test_an_interrupted_run_leaves_an_earlier_trace_alone(self) -> None:
        self.trace.write_text("earlier")
        # While several are verified, and while the only one is called: then nothing comes after it that could ask.
        for chosen, phase in ((["--operator", "residual_epilogue"], "verify"), (["--filter", "residual_epilogue cpu_unfused"], "call")):
            with self.subTest(phase=phase):
                process = subprocess.Popen([PROGRAM, "profile", "--device", "cpu", "--problem", "quick", "--iterations", "1000", *chosen,
                                            "--trace", self.trace], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
                assert process.stderr is not None
                for line in process.stderr:
                    if line.endswith(f": {phase}\n"):
                        process.send_signal(signal.SIGINT)
                        break
                rest = process.stderr.read()
                self.assertEqual(process.wait(timeout=300), 2, rest)
                self.assertIn("fusebench: interrupted; no trace was written", rest)
                self.assertEqual(self.trace.read_text(), "earlier")
                self.assertEqual([path.name for path in self.folder.iterdir()], ["trace.json"])

    def test_a_trace_is_not_gzipped_and_no_name_says_so(self) -> None:
        result = call("profile", *SMALL, "--filter", "cpu_stepwise", "--trace", self.folder / "x.json.gz")
        self.assertEqual(result.returncode, 2)
        self.assertIn("leave .gz off", result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_one_file_is_one_file_however_it_is_spelled(self) -> None:
        result = subprocess.run([PROGRAM, "profile", *SMALL, "--filter", "cpu_stepwise", "--trace", "./x", "--trace-csv", "x"],
                                cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--trace and --trace-csv both name x", result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class Usage(Case):
    def test_bad_input_gets_one_line_that_names_it_and_code_2(self) -> None:
        same = self.folder / "same"
        cases = {
            ("--iterations", "0"): ("--iterations",),
            ("--iterations", "many"): ("--iterations",),
            ("--filter", "nothing_matches"): ("nothing_matches", "list"),
            ("--filter", "("): ("regular expression",),
            ("--operator", "nothing"): ("nothing", "residual_epilogue"),
            ("--trace", same, "--trace-csv", same): ("--trace", "--trace-csv", "same"),
            ("--trace", self.folder): (str(self.folder), "folder"),
            ("--trace", self.folder / "no" / "t.json"): ("no", "make it first"),
            ("--trace", "/proc/version"): ("/proc/version",),
            ("--trace-csv", "/proc/nothing.csv"): ("/proc/nothing.csv",),
            ("--no-such-option",): ("--no-such-option",),
        }
        for arguments, words in cases.items():
            with self.subTest(arguments=arguments):
                self.assert_one_clear_line(call("profile", "--device", "cpu", *arguments), *words)

    def test_help_says_that_nothing_protects_one_variant_from_another(self) -> None:
        result = call("profile", "--help")
        self.assertEqual(result.returncode, 0)
        for words in ("Example: fusebench profile", "one process", "no results"):
            self.assertIn(words, result.stdout)


class Nvtx(Case):
    """What a profiler hears, by a listener of the test's own."""

    def setUp(self) -> None:
        super().setUp()
        if LISTENER is None:
            self.skipTest("this build was made without NVTX's headers")

    def heard(self, *arguments: object, code: int = 0, program: Path = PROGRAM) -> dict[str, list[list[str]]]:
        """Each process's log, by its number."""
        result = call(*arguments, program=program, NVTX_INJECTION64_PATH=LISTENER,
                      FUSEBENCH_NVTX_LOG=self.folder / "nvtx.")
        self.assertEqual(result.returncode, code, result.stderr)
        return {path.suffix: [line.split("\t") for line in path.read_text().splitlines()]
                for path in self.folder.glob("nvtx.*")}

    def check(self, log: list[list[str]]) -> list[tuple[str, ...]]:
        """The ranges, each with those around it."""
        self.assertEqual([words[1] for words in log if words[0] == "domain"], ["fusebench"])
        strings = [words[1] for words in log if words[0] == "string"]
        self.assertEqual(len(strings), len(set(strings)), "a text was registered twice")
        stack: list[str] = []
        paths = []
        for what, text, _ in log:
            if what == "push":
                self.assertNotIn(text, stack, "a range within one of the same name")
                stack.append(text)
                paths.append(tuple(stack))
            elif what == "pop":
                stack.pop()
            elif what == "mark":
                self.assertEqual(stack, [], "a mark within a range")
        self.assertEqual(stack, [])
        return paths

    def test_profile_has_phases_and_within_each_the_variant(self) -> None:
        log = next(iter(self.heard("profile", *SMALL, "--filter", "cpu_threads").values()))
        paths = self.check(log)
        inner = [path for path in paths if len(path) == 2]
        key, = {path[1] for path in inner if path[0] == "measure"}
        for phase, name in inner:  # scripts/profile sums by these names, and must find no variant outside of measure
            self.assertEqual(name, key if phase == "measure" else f"{key} ({phase})")
        self.assertRegex(key, "^residual_epilogue cpu_threads [^ @/:]+ n=1,c=4,d=3,h=5,w=7 cpu$")
        outer = [path[0] for path in paths if len(path) == 2]
        self.assertEqual(outer, ["prepare", "verify", "prepare", "warmup", "measure"])
        marks = [words for words in log if words[0] == "mark"]
        self.assertEqual([words[1] for words in marks], [f"passed {key}"])
        colour, payload = marks[0][2].split()
        self.assertEqual(colour, "FF2E8B57")
        self.assertGreater(float(payload), 0)

    def test_in_a_run_the_worker_has_the_ranges_and_the_judge_none(self) -> None:
        logs = self.heard("run", *SMALL, "--filter", "cpu_threads", "--max-time", "0.05", "--quiet")
        with_ranges = []
        for log in logs.values():
            if paths := self.check(log):
                with_ranges.append((paths, [words[1] for words in log if words[0] == "mark"]))
        of_variant = [(paths, marks) for paths, marks in with_ranges if "cpu_threads" in marks[0]]
        (paths, marks), = of_variant
        outer = [path[0] for path in paths if len(path) == 2]
        self.assertEqual(list(dict.fromkeys(outer)), ["verify", "prepare", "warmup", "measure"])
        self.assertEqual(outer[-2:], ["warmup", "measure"], "one range a phase, not one a sample")
        self.assertEqual(len({path[1] for path in paths if len(path) == 2 and path[0] == "measure"}), 1)
        self.assertTrue(marks[0].startswith("passed "))
        controls = {marks[0].split()[2] for _, marks in with_ranges} - {"cpu_threads"}
        self.assertLessEqual({"copy", "memcpy", "fill"}, controls)
        self.assertEqual(len(with_ranges), 1 + len(controls), "a worker for the variant and for each control")

    def test_of_a_worker_that_died_the_judge_says_so(self) -> None:
        logs = self.heard("verify", *SMALL, "--filter", " cpu_mutant_segfault$", "--quiet", code=1, program=MUTANTS)
        marks = [words for log in logs.values() for words in log if words[0] == "mark"]
        self.assertEqual([words[1].split()[:3] for words in marks], [["crashed", "residual_epilogue", "cpu_mutant_segfault"]])
        self.assertEqual(marks[0][2], "FFC0392B 0.0")

    def test_a_judge_in_the_worker_shows_them_too(self) -> None:
        logs = self.heard("verify", *SMALL, "--filter", "cpu_threads", "--judge", "worker", "--quiet", "--battery", "quick")
        outer = {path[0] for log in logs.values() for path in self.check(log)}
        self.assertEqual(outer, {"verify", "prepare"})


class Perfetto(Case):
    def test_perfettos_trace_processor_finds_every_slice(self) -> None:
        processor = os.environ.get("FUSEBENCH_TRACE_PROCESSOR") or shutil.which("trace_processor_shell") or \
            shutil.which("trace_processor")
        if processor is None:
            self.skipTest("no trace_processor: put it on the PATH or name it in FUSEBENCH_TRACE_PROCESSOR; pip's perfetto "
                          "does not carry it")
        self.profile(*SMALL)
        query = self.folder / "query.sql"
        query.write_text("select count(*) as n from slice; select count(*) as n from stats where severity = 'error' and value > 0;")
        result = subprocess.run([processor, "-q", query, self.trace], capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        numbers = [line for line in result.stdout.split() if line.isdigit()]
        self.assertEqual(numbers, [str(len(self.slices())), "0"], result.stdout)


class Gpu(Case):
    ALL = ["--device", "cuda", "--problem", "quick", "--configuration", "default", "--seed", "7"]

    def setUp(self) -> None:
        super().setUp()
        devices = json.loads(call("list", "--device", "cuda", "--json").stdout)
        if all(not variant["available"] for variant in devices):
            self.skipTest(devices[0]["reason"])

    def test_every_kernel_has_an_arrow_from_the_call_that_launched_it(self) -> None:
        result = self.profile(*self.ALL)
        if "host's side only" in result.stderr:
            self.skipTest(result.stderr.strip().splitlines()[-1])
        begun = {e["id"]: nanoseconds(e["ts"]) for e in self.events("s")}
        ended = {e["id"]: (e["pid"], e["tid"], e["ts"]) for e in self.events("f")}
        self.assertEqual(begun.keys(), ended.keys())
        kernels = {(e["pid"], e["tid"], e["ts"]) for e in self.events("X") if e["cat"] == "kernel"}
        self.assertGreater(len(kernels), 10)
        self.assertLessEqual(kernels, set(ended.values()))
        for row in self.rows():
            self.assertGreater(int(row["launches"]), 0)
            self.assertEqual(int(row["launches"]) % 5, 0, "each call of a plan launches the same")

    def test_without_cupti_the_hosts_side_is_kept_and_the_reason_told(self) -> None:
        result = call("profile", *self.ALL, "--filter", "cuda_float4", "--trace", self.trace,
                      FUSEBENCH_CUPTI="/nonexistent/libcupti.so")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "host's side only: CUPTI as FUSEBENCH_CUPTI=/nonexistent/libcupti.so was not found")
        self.assertEqual(sum(name == "call" for _, _, _, name in self.slices()), 6)


if __name__ == "__main__":
    outcome = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2, exit=False).result
    if outcome.skipped and len(outcome.skipped) == outcome.testsRun:
        print("SKIPPED:", outcome.skipped[0][1])  # CTest reads this
    sys.exit(not outcome.wasSuccessful())
