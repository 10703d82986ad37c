#!/usr/bin/env python3
"""The program as a user meets it: exit codes, messages, files, crashes, interrupts.

Usage: cli_test.py FUSEBENCH FUSEBENCH_MUTANTS [unittest arguments]. Catches a time printed for a wrong
result, a crash that takes others with it, rows lost to a kill, messages that name nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from collections import Counter
from pathlib import Path

from folder_case import FolderCase

PROGRAM, MUTANTS = (Path(argument).resolve() for argument in sys.argv[1:3])
EPILOGUE = ["--operator", "residual_epilogue"]  # the operator of these problems
SMALL = [*EPILOGUE, "--problem", "1,4,3,5,7", "--max-time", "0.05", "--seed", "7"]
VERIFY_SMALL = [*EPILOGUE, "--problem", "1,4,3,5,7", "--seed", "7"]


def call(program: Path, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, strict=True))


class Case(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.csv = self.folder / "run.csv"

    def assert_gone_soon(self, process: str) -> None:
        for _ in range(100):
            try:
                if ") Z " in Path(f"/proc/{process}/stat").read_text():
                    return  # only nobody has reaped it
            except (FileNotFoundError, ProcessLookupError):
                return
            time.sleep(0.05)
        self.fail(f"process {process} lives on")


class Usage(Case):
    def test_every_subcommand_has_help_with_an_example(self) -> None:
        for name in ("list", "run", "verify", "compile", "compare", "ab", "gbench", "tune", "profile"):
            result = call(PROGRAM, name, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"Example: fusebench {name}", result.stdout)

    def test_bad_input_gets_one_line_that_names_it_and_code_2(self) -> None:
        cases: dict[tuple[str, ...], tuple[str, ...]] = {
            (): ("subcommand",),
            ("no_such_command",): ("no_such_command",),
            ("run", "--no-such-option"): ("--no-such-option",),
            ("run", "--operator", "nothing"): ("nothing", "residual_epilogue"),
            ("run", "--filter", "nothing_matches"): ("nothing_matches", "list"),
            ("run", "--filter", "("): ("regular expression",),
            ("run", "--device", "tpu"): ("tpu",),
            ("run", *EPILOGUE, "--problem", "1,2,3"): ("1,2,3", "N,C,D,H,W"),
            ("run", "--problem", "1,2,3"): ("'1'", "(operator conv_transpose3d_residual; --operator or --filter"),
            ("list", "--problem", "n=1,ci=2"): ("'co'", "operator conv_transpose3d_residual", "--operator"),
            ("run", *EPILOGUE, "--problem", "n=1,c=2,d=3,h=4"): ("'w'",),
            ("run", *EPILOGUE, "--problem", "n=1,c=2,d=3,h=4,w=0"): ("w", "at least 1"),
            ("run", *EPILOGUE, "--problem", "n=1,c=2,d=3,h=4,w=5,q=6"): ("'q'",),
            ("run", *EPILOGUE, "--problem", "n=1,c=2,d=3,h=4,w=x"): ("'x'", "whole number"),
            ("run", *EPILOGUE, "--problem", "9999999999,9999999999,9,9,9"): ("2^60",),
            ("run", "--filter", "cpu_threads", "--configuration", "chunk=7"): ("chunk", "65536"),
            ("run", "--filter", "cpu_threads", "--configuration", "nothing=7"): ("nothing", "chunk"),
            ("run", "--seed", "-1"): ("seed", "'-1'"),
            ("run", "--seed", "99999999999999999999999"): ("seed", "2^64"),
            ("run", "--max-time", "0"): ("max-time", "above 0"),
            ("verify", "--battery", "some"): ("battery", "quick"),
            ("run", "--judge", "nobody"): ("judge", "worker"),
            ("compile", "--arch", "sm_90a", "--kernels", "/nonexistent"): ("/nonexistent",),
            ("run", "--max-samples", "0"): ("max-samples",),
            ("run", "--max-time", "5", "--timeout", "4"): ("--max-time 5", "--timeout 4"),
            ("run", "--csv", str(self.csv), "--json", str(self.csv)): ("--csv", "--json", str(self.csv)),
            ("run", "--csv", "/dev/stdout"): ("/dev/stdout", "regular file"),
            ("run", "--csv", str(self.folder / "no/such/run.csv")): ("no/such",),
            ("run", "--csv", str(self.folder)): (str(self.folder),),
            ("run", "--with", "/nonexistent.csv"): ("/nonexistent.csv", "No such file"),
            ("verify", "--with", "/nonexistent.csv"): ("--with",),
            ("compile", "--arch", "volta"): ("volta", "sm_90a"),
            ("gbench", "--nothing"): ("--nothing",),
            ("run", "--replicas", "0"): ("replicas",),
            ("verify", "--replicas", "2"): ("--replicas",),
            ("compare", "/nonexistent.csv"): ("NEW",),
            ("compare", "/nonexistent.csv", "/nonexistent.csv"): ("/nonexistent.csv", "No such file"),
            ("compare", "a.csv", "b.csv", "--floor", "0.5"): ("'0.5'", "0.5%"),
            ("compare", "a.csv", "b.csv", "--floor", "-1%"): ("'-1%'",),
            ("compare", "a.csv", "b.csv", "--csv", "b.csv"): ("replace b.csv",),
            ("compare", "a.csv", "b.csv", "--csv", "c", "--json", "c"): ("--csv", "--json"),
            ("compare", "a.csv", "b.csv", "--json", "no/such/c.json"): ("no/such",),
            ("ab", "/nonexistent", str(PROGRAM)): ("/nonexistent", "program"),
            ("ab", str(PROGRAM), str(self.folder)): (str(self.folder), "program"),
            ("ab", str(PROGRAM), str(PROGRAM), "--replicas", "0"): ("replicas",),
            ("ab", "/bin/echo", str(PROGRAM)): ("/bin/echo", "no fusebench"),
            ("ab", str(PROGRAM), "/bin/false"): ("/bin/false", "no fusebench", "exit code 1"),
            ("ab", "a", "b", "--keep", "no/such"): ("--keep", "no folder no;"),
            ("ab", "a", "b", "--keep", __file__): ("--keep", __file__),
            ("ab", "a", "b", "--keep", str(self.folder), "--csv", str(self.folder / "new.csv")): ("--csv", "--keep", "new.csv"),
            ("ab", "a", "b", "--keep", str(self.folder), "--json", str(self.folder / "old.csv")): ("--json", "--keep", "old.csv"),
            ("run", "--csv", "a.csv", "--json", "a.samples.csv"): ("--json", "a.samples.csv"),
            ("ab", str(PROGRAM), str(PROGRAM), "--quiet", "--filter", "nothing_matches"): (str(PROGRAM), "nothing_matches"),
        }
        for arguments, words in cases.items():
            with self.subTest(arguments=arguments):
                self.assert_one_clear_line(call(PROGRAM, *arguments), *words)

    def test_a_usage_error_points_to_the_help_of_its_subcommand(self) -> None:
        # What gbench does not know goes to Google Benchmark.
        for name in ("list", "run", "verify", "compile", "compare", "ab", "tune"):
            self.assert_one_clear_line(call(PROGRAM, name, "--no-such-option"), f"see 'fusebench {name} --help'")
        self.assert_one_clear_line(call(PROGRAM), "see 'fusebench --help'")

    def test_an_empty_value_is_refused_whatever_the_option(self) -> None:
        # Those of a subcommand that take a value, by its help; their own checks may come first.
        for name in ("list", "run", "verify", "compile", "gbench", "tune"):
            options = re.findall(r"(?m)^ +(--[a-z0-9-]+) [A-Z]", call(PROGRAM, name, "--help").stdout)
            self.assertGreater(len(options), 3, name)
            for option in options:
                with self.subTest(subcommand=name, option=option):
                    required = ["--arch", "sm_90a"] if name == "compile" and option != "--arch" else []
                    self.assert_one_clear_line(call(PROGRAM, name, *required, option, ""), option)

    def test_bad_input_leaves_an_earlier_result_alone(self) -> None:
        self.csv.write_text("precious")
        call(PROGRAM, "run", "--csv", str(self.csv), "--filter", "nothing_matches")
        call(PROGRAM, "run", "--csv", str(self.csv), *EPILOGUE, "--problem", "1,2,3")
        call(PROGRAM, "run", "--csv", str(self.csv), "--json", str(self.folder / "no/run.json"))
        self.assertEqual(self.csv.read_text(), "precious")

    def test_a_full_disk_is_one_line_and_code_2(self) -> None:
        result = call(PROGRAM, "run", "--quiet", "--filter", "cpu_stepwise", "--json", "/dev/full", *SMALL)
        self.assert_one_clear_line(result, "/dev/full", "No space left")


    def test_a_full_disk_under_standard_output_is_noticed(self) -> None:
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "list"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("No space left", result.stderr)


class List(Case):
    def test_list_says_what_can_run_and_why_the_rest_cannot(self) -> None:
        entries = json.loads(call(PROGRAM, "list", "--json").stdout)
        by_name = {entry["variant"]: entry for entry in entries}
        self.assertTrue(by_name["cpu_stepwise"]["available"])
        for entry in entries:
            self.assertEqual(entry["available"], entry["reason"] == "", entry)
            self.assertGreaterEqual(entry["configurations"], 1)
        self.assertEqual((by_name["cpu_in_place"]["in_place"], by_name["cpu_threads"]["in_place"]), ("only", "no"))

    def test_list_as_text_has_a_line_for_each_variant(self) -> None:
        entries = json.loads(call(PROGRAM, "list", "--json").stdout)
        lines = call(PROGRAM, "list").stdout.splitlines()
        self.assertEqual(len(lines), len(entries) + 1)

    def test_list_says_which_variants_do_not_do_a_problem_even_where_they_cannot_run(self) -> None:
        result = call(PROGRAM, "list", "--json", "--operator", "conv_transpose3d_residual", "--problem",
                      "n=1,ci=4,co=4,d=2,h=2,w=2,k=2")
        self.assertEqual(result.returncode, 0, result)
        by_name = {entry["variant"]: entry for entry in json.loads(result.stdout)}
        self.assertTrue(by_name["cpu_direct"]["available"], by_name["cpu_direct"])
        self.assertEqual(by_name["cuda_parity_ffma"]["reason"], "needs kernel 3 in every dimension, not 2")
        self.assertFalse(by_name["cuda_parity_ffma"]["available"])


class Compile(Case):
    def test_each_kernel_is_named_once_whatever_parameters_only_the_host_reads(self) -> None:
        listed = json.loads(call(PROGRAM, "list", "--json").stdout)
        found = next(v for v in listed if v["variant"] == "cuda_wgmma_bf16")
        result = call(PROGRAM, "compile", "--json", "--arch", "sm_90a", "--filter", " cuda_wgmma_bf16$", timeout=600)
        if "was not found on this machine" in result.stderr:
            self.skipTest(result.stderr.strip())
        rows = [row for row in json.loads(result.stdout) if row["kernel"] == "convolve"]
        macros = {re.sub(r"(runs|singles|fetchers)=\d+,", "", row["configuration"]) for row in rows}
        self.assertGreater(len(rows), 1)
        self.assertEqual(len(rows), len(macros))
        self.assertLess(len(rows), found["configurations"])

    def test_a_problem_takes_the_kernels_of_its_passes_and_none_of_them_spills(self) -> None:
        # What a consumer spills is read back behind its stores: docs/fused_kernel.md.
        sizes = "n=1,ci={},co=64,d=2,h=2,w=2,k=3,s=2,p=1,op=1"
        options = ("compile", "--json", "--arch", "sm_90a", "--operator", "conv_transpose3d_residual",
                   "--filter", "cuda_wgmma", "--configuration", "default")
        result = call(PROGRAM, *options, "--problem", sizes.format(96), timeout=600)
        if "was not found on this machine" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result)
        rows = json.loads(result.stdout)
        self.assertEqual(Counter((row["kernel"], row["spill bytes"], row["result"]) for row in rows),
                         {(f"{kernel}_{kind}", "0", "compiled"): 5 for kernel in ("pack", "convolve")
                          for kind in ("first", "middle", "last")})
        result = call(PROGRAM, *options, "--problem", sizes.format(32), timeout=600)
        self.assertEqual(Counter((row["kernel"], row["spill bytes"], row["result"]) for row in json.loads(result.stdout)),
                         {(kernel, "0", "compiled"): 5 for kernel in ("pack", "convolve")})
        result = call(PROGRAM, "compile", "--json", "--arch", "sm_90a", "--filter", " cuda_wgmma_bf16x3$", "--configuration",
                      "keep_x=*,store=*", "--problem", sizes.format(96), timeout=600)
        self.assertEqual(Counter((row["spill bytes"], row["result"]) for row in json.loads(result.stdout)), {("0", "compiled"): 24})
        result = call(PROGRAM, *options, "--problem", sizes.format(5000))
        self.assertEqual(result.returncode, 2, result)
        for row in json.loads(result.stdout):
            self.assertEqual(row["result"], "unsupported: needs at most 2048 input channels, not 5000")


    def test_what_an_architecture_does_not_have_is_told_once_a_variant(self) -> None:
        result = call(PROGRAM, "compile", "--json", "--arch", "sm_80", "--filter", "cuda_wgmma|cuda_bulk_copy")
        if "was not found on this machine" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 2, result)
        rows = json.loads(result.stdout)
        self.assertEqual(len(rows), len({row["variant"] for row in rows}), rows)
        self.assertEqual(len(rows), 6)


class Run(Case):
    def test_every_available_variant_passes_and_has_a_time(self) -> None:
        document = self.folder / "run.json"
        result = call(PROGRAM, "run", "--device", "cpu", "--csv", str(self.csv), "--json", str(document), *SMALL)
        self.assertEqual(result.returncode, 0, result)
        rows = rows_of(self.csv)
        names = {row["variant"] for row in rows}
        self.assertTrue({"copy", "memcpy", "fill", "fma", "cpu_unfused", "cpu_stepwise"} <= names)
        for row in rows:
            if row["outcome"] == "unavailable":
                self.assertNotEqual(row["reason"], "")
                continue
            self.assertEqual((row["outcome"], row["reason"]), ("passed", ""), row)
            self.assertGreater(float(row["median_ns"]), 0)
            self.assertLessEqual(float(row["min_ns"]), float(row["q1_ns"]))
            self.assertLessEqual(float(row["q1_ns"]), float(row["median_ns"]))
            self.assertLessEqual(float(row["median_ns"]), float(row["q3_ns"]))
            self.assertLessEqual(float(row["ci_low_ns"]), float(row["ci_high_ns"]))
            self.assertEqual(row["seed"], "7")
            self.assertEqual(row["in_place"], str(row["variant"] == "cpu_in_place").lower())
            # In a row a call in place would work on the output of the one before.
            self.assertEqual(row["back_to_back_ns"] == "", row["in_place"] == "true", row["variant"])
            if row["operator"] != "control":
                self.assertEqual(row["within_1e4"], "true")
                if row["precision"] == "exact_order":
                    self.assertEqual(float(row["bit_equal_percent"]), 100)
        parsed = json.loads(document.read_text())
        self.assertTrue(parsed["complete"])
        self.assertEqual(len(parsed["records"]), len(rows))
        samples = rows_of(self.folder / "run.samples.csv")
        for row in rows:
            mine = [s for s in samples if s["variant"] == row["variant"] and s["operator"] == row["operator"]]
            self.assertEqual(len(mine), int(row["samples"]), row["variant"])

    def test_what_reads_kernels_from_a_folder_is_no_commits_result(self) -> None:
        call(PROGRAM, "run", "--filter", "cpu_stepwise", "--kernels", str(self.folder), "--csv", str(self.csv), *SMALL)
        rows = rows_of(self.csv)
        self.assertEqual({row["dirty"] for row in rows if row["variant"] == "cpu_stepwise"}, {"true"})

    def test_a_small_problem_is_not_held_to_a_floor_of_thread_wake_ups(self) -> None:
        for problem in ("1,4,2,16,16", "1,8,4,16,16"):
            result = call(PROGRAM, "run", "--device", "cpu", *EPILOGUE, "--problem", problem,
                          "--max-time", "0.05")
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_useful_bytes_count_each_tensor_once_and_flops_each_operation_of_the_definition(self) -> None:
        call(PROGRAM, "run", "--filter", "cpu_stepwise", "--csv", str(self.csv), *SMALL)
        rows = {row["variant"]: row for row in rows_of(self.csv)}
        elements = 1 * 4 * 3 * 5 * 7
        work = {name: (int(row["useful_bytes"]), int(row["flops"])) for name, row in rows.items()}
        self.assertEqual(work, {"copy": (8 * elements, 0), "memcpy": (8 * elements, 0), "fill": (4 * elements, 0),
                                "fma": (8 * elements, 2 * 512 * elements), "cpu_stepwise": (4 * (2 * elements + 4), 4 * elements)})
        listed = json.loads(call(PROGRAM, "list", "--filter", "cpu_stepwise", "--json", *EPILOGUE, "--problem",
                                 "1,4,3,5,7").stdout)
        self.assertEqual([(entry["problem"], entry["useful_bytes"], entry["flops"]) for entry in listed],
                         [(rows["cpu_stepwise"]["problem"], *work["cpu_stepwise"])])

    def test_the_same_seed_gives_the_same_errors(self) -> None:
        errors = []
        for _ in range(2):
            call(PROGRAM, "verify", "--filter", "cpu_algebraic_fma", "--csv", str(self.csv), *VERIFY_SMALL)
            row = rows_of(self.csv)[0]
            errors.append((row["max_abs_error"], row["max_rel_error"], row["bit_equal_percent"]))
        self.assertEqual(errors[0], errors[1])

    def test_all_configurations_run(self) -> None:
        call(PROGRAM, "verify", "--filter", "cpu_simd$", "--configuration", "all", "--battery", "quick",
             "--csv", str(self.csv), *VERIFY_SMALL)
        rows = rows_of(self.csv)
        count = next(e["configurations"] for e in json.loads(call(PROGRAM, "list", "--json").stdout)
                     if e["variant"] == "cpu_simd")
        self.assertEqual(len(rows), count)
        self.assertEqual(len({row["configuration"] for row in rows}), count)

    def test_with_shows_the_rows_of_another_file_as_peers_and_writes_none_of_them(self) -> None:
        peers = self.folder / "peers.csv"
        call(PROGRAM, "run", "--filter", "cpu_stepwise", "--csv", str(peers), *SMALL)
        result = call(PROGRAM, "run", "--filter", "cpu_simd", "--csv", str(self.csv), "--with", str(peers), *SMALL)
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stdout, r"cpu_stepwise +peer ")
        self.assertNotIn("cpu_stepwise", {row["variant"] for row in rows_of(self.csv)})

    def test_with_is_checked_before_anything_runs(self) -> None:
        torn = self.folder / "torn.csv"
        call(PROGRAM, "run", "--filter", "cpu_stepwise", "--csv", str(torn), *SMALL)
        whole = torn.read_text()
        of_another = [*EPILOGUE, "--filter", "cpu_stepwise", "--problem", "1,4,3,5,8", "--with", str(torn)]
        self.assert_one_clear_line(call(PROGRAM, "run", *of_another), str(torn), "w=8")
        self.assert_one_clear_line(call(PROGRAM, "run", "--csv", str(torn), "--filter", "cpu_stepwise", "--with",
                                          str(torn), *SMALL), str(torn))
        self.assertEqual(torn.read_text(), whole)
        torn.write_text(whole[:-20])
        self.csv.write_text("precious")
        result = call(PROGRAM, "run", "--csv", str(self.csv), "--filter", "cpu_stepwise", "--with", str(torn), *SMALL)
        self.assert_one_clear_line(result, f"{torn}:{len(whole.splitlines())}")
        self.assertEqual(self.csv.read_text(), "precious")

    def test_many_configurations_are_one_row_unless_every_is_asked_for(self) -> None:
        arguments = ["run", "--filter", "cpu_threads$", "--configuration", "chunk=*", *SMALL]
        best, every = (call(PROGRAM, *arguments, *more).stdout for more in ([], ["--every"]))
        self.assertEqual(len(re.findall(r"^cpu_threads .* \(best of \d+\) ", best, re.MULTILINE)), 1)
        self.assertEqual(len(re.findall(r"^cpu_threads ", best, re.MULTILINE)), 1)
        self.assertGreater(len(re.findall(r"^cpu_threads ", every, re.MULTILINE)), 1)

    def test_quiet_prints_nothing(self) -> None:
        result = call(PROGRAM, "verify", "--quiet", "--filter", "cpu_stepwise", *VERIFY_SMALL)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_quiet_still_says_what_went_wrong(self) -> None:
        result = call(MUTANTS, "verify", "--quiet", "--filter", "cpu_mutant_zeros", *VERIFY_SMALL)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^fusebench: cpu_mutant_zeros wrong: at n=.*elements wrong")

    def test_nothing_that_can_run_is_code_2(self) -> None:
        entries = json.loads(call(PROGRAM, "list", "--json", "--device", "cuda").stdout)
        if any(entry["available"] for entry in entries):
            self.skipTest("this machine has a GPU")
        result = call(PROGRAM, "run", "--device", "cuda")
        self.assert_one_clear_line(result, entries[0]["reason"])


class Compare(Case):
    """On files whose times are made up: columns and texts as `run` writes them."""

    def setUp(self) -> None:
        super().setUp()
        self.old, self.new = self.folder / "old.csv", self.folder / "new.csv"

    template: list[dict[str, str]] = []

    def rows(self, ratios: dict[str, float], replicas: int = 10, **changes: str) -> list[dict[str, str]]:
        if not Compare.template:
            call(PROGRAM, "run", "--filter", "cpu_stepwise", "--csv", str(self.csv), *SMALL)
            Compare.template = rows_of(self.csv)
        row = next(row for row in Compare.template if row["variant"] == "cpu_stepwise")
        return [row | {"variant": name, "replica": str(i), "median_ns": str(1000.0 * ratio * (1 + i * 1e-4))} | changes
                for name, ratio in ratios.items() for i in range(replicas)]

    @staticmethod
    def write(path: Path, rows: list[dict[str, str]]) -> None:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def test_a_regression_is_code_1_on_top_of_the_table_and_in_every_output(self) -> None:
        self.write(self.old, self.rows({"a": 1, "b": 1, "c": 1}))
        self.write(self.new, self.rows({"a": 1, "b": 1.02, "c": 0.9}))
        verdicts, document = self.folder / "verdicts.csv", self.folder / "verdicts.json"
        result = call(PROGRAM, "compare", str(self.old), str(self.new), "--csv", str(verdicts), "--json", str(document))
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], "^operator residual_epilogue, problem n=[^ ]+, device cpu$")
        self.assertNotIn("residual_epilogue", "".join(lines[1:]))
        self.assertRegex(lines[2], r"^slower .* b .* 1\.0200 +1\.019\d to 1\.020\d +0\.0\d% +1\.1e-05 "
                                   r"+1\.0005 us +1\.0205 us$")
        self.assertEqual(lines[-1], "3 series: 1 slower, 1 same, 1 faster")
        self.assertEqual([(row["variant"], row["verdict"]) for row in rows_of(verdicts)],
                         [("b", "slower"), ("a", "same"), ("c", "faster")])
        self.assertAlmostEqual(float(rows_of(verdicts)[0]["ratio"]), 1.02)
        parsed = json.loads(document.read_text())
        self.assertEqual((parsed["exit_code"], parsed["counts"]["slower"]), (1, 1))
        self.assertEqual(parsed["series"][0]["variant"], "b")

    def test_no_change_is_code_0_and_a_raised_floor_makes_none_of_one(self) -> None:
        self.write(self.old, self.rows({"a": 1}))
        self.write(self.new, self.rows({"a": 1.02}))
        self.assertEqual(call(PROGRAM, "compare", str(self.old), str(self.old)).returncode, 0)
        self.assertEqual(call(PROGRAM, "compare", str(self.old), str(self.new), "--floor", "3%").returncode, 0)
        self.assertEqual(call(PROGRAM, "compare", str(self.old), str(self.new), "--floor", "1%").returncode, 1)

    def test_no_verdict_on_any_series_is_code_2_and_says_why(self) -> None:
        self.write(self.old, self.rows({"a": 1}))
        for words, rows in {"driver": self.rows({"a": 1}, driver="another"), "8 a side": self.rows({"a": 2}, 7),
                            "not there": self.rows({"b": 1})}.items():
            self.write(self.new, rows)
            result = call(PROGRAM, "compare", str(self.old), str(self.new))
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(words, result.stdout)
            self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_a_newly_wrong_result_is_code_1_even_with_another_driver(self) -> None:
        self.write(self.old, self.rows({"a": 1, "b": 1}))
        wrong = self.rows({"b": 1}, driver="another", outcome="wrong", reason='one, "two"', median_ns="")
        self.write(self.new, self.rows({"a": 1}) + wrong)
        result = call(PROGRAM, "compare", str(self.old), str(self.new))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout.splitlines()[2], r'^newly wrong .* wrong: one, "two"; in 10 of 10 replicas$')

    def control(self, ratio: float, **changes: str) -> list[dict[str, str]]:
        return self.rows({"copy": ratio}, operator="control", **changes)

    def test_a_control_that_drifts_or_fails_has_words_of_its_own_and_no_regression_is_printed(self) -> None:
        verdicts, document = self.folder / "verdicts.csv", self.folder / "verdicts.json"
        outputs = ["--csv", str(verdicts), "--json", str(document)]
        regression = re.compile("^(slower|newly wrong)", re.MULTILINE)
        failed = {"outcome": "wrong", "reason": "one", "median_ns": ""}
        for state, told, changed in (("drifted slower", "became 3.00% slower", self.control(1.03)),
                                     ("drifted faster", "became 3.09% faster", self.control(0.97)),
                                     ("failed", "did not pass: .* wrong: one", self.control(1, **failed))):
            self.write(self.old, self.rows({"a": 1}) + self.control(1))
            self.write(self.new, self.rows({"a": 1}) + changed)
            result = call(PROGRAM, "compare", str(self.old), str(self.new), *outputs)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, f"(?m)^{state} +copy ")
            self.assertRegex(result.stdout, f"the control copy .* {told}")
            for text in (result.stdout, verdicts.read_text()):
                self.assertIsNone(regression.search(text), text)
            self.assertEqual([(row["verdict"], row["control"]) for row in rows_of(verdicts)],
                             [("same", "false"), (state, "true")])
            self.assertEqual(json.loads(document.read_text())["controls"][0]["verdict"], state)

    def test_a_control_without_a_counterpart_is_told(self) -> None:
        failed = self.control(1, outcome="wrong", reason="one", median_ns="")
        for old, new, why in ((failed, self.control(1), "it was wrong: one"), (self.control(1), [], "not there any more"),
                              ([], self.control(1), "new\n"), (self.control(1), self.control(1, driver="x"), "driver")):
            self.write(self.old, self.rows({"a": 1}) + old)
            self.write(self.new, self.rows({"a": 1}, driver=new[0]["driver"] if new else old[0]["driver"]) + new)
            result = call(PROGRAM, "compare", str(self.old), str(self.new))
            self.assertRegex(result.stdout, f"the control copy .* does not compare, .*: {why}")

    def test_what_is_gone_is_told_on_standard_error(self) -> None:
        self.write(self.old, self.rows({name: 1 for name in "abcde"}))
        self.write(self.new, self.rows({"c": 1}))
        result = call(PROGRAM, "compare", str(self.old), str(self.new))
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "^fusebench: 4 series are gone, the first residual_epilogue a .*: not there any more\n$")

    def test_too_many_series_for_the_replicas_is_code_2_though_most_are_the_same(self) -> None:
        names = {f"v{i}": 1.0 for i in range(330)}
        self.write(self.old, self.rows(names, 8))
        self.write(self.new, self.rows(names | {"v7": 2.0}, 8))
        result = call(PROGRAM, "compare", str(self.old), str(self.new))
        self.assertEqual(result.returncode, 2)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertRegex(result.stderr, "1 of 330 series .* v7 .*cannot single out one of 330 series; take 9 a side")

    def test_a_file_that_cannot_be_written_costs_neither_the_table_nor_what_was_there(self) -> None:
        self.write(self.old, self.rows({"a": 1}))
        self.write(self.new, self.rows({"a": 2}))
        kept = self.folder / "kept.csv"
        kept.write_text("precious")
        (self.folder / "kept.csv.part").mkdir()  # where the new text would go first
        for option, path in (("--csv", "/dev/full"), ("--json", "/dev/full"), ("--csv", str(kept))):
            result = call(PROGRAM, "compare", str(self.old), str(self.new), option, path)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stdout.splitlines()[2], "^slower .* a ")
            self.assertIn(path, result.stderr)
        self.assertEqual(kept.read_text(), "precious")

    def test_a_reason_of_several_lines_is_one_of_the_table(self) -> None:
        self.write(self.old, self.rows({"a": 1}))
        self.write(self.new, self.rows({"a": 1}, outcome="failed", reason="one\r\n\ttwo\x1b[31m", median_ns=""))
        result = call(PROGRAM, "compare", str(self.old), str(self.new))
        self.assertEqual(len(result.stdout.splitlines()), 4, result.stdout)
        self.assertRegex(result.stdout.splitlines()[2], r"^newly wrong .* failed: one +two \[31m; in")

    def test_what_cannot_be_read_is_one_line_with_its_place_and_no_output_is_touched(self) -> None:
        rows = self.rows({"a": 1})
        self.write(self.old, rows)
        kept = self.folder / "kept.csv"
        kept.write_text("precious")
        for name, bad in {"median_ns": rows[0] | {"median_ns": "nan"}, "schema_version": rows[0] | {"schema_version": "2"},
                          "twice": rows[0]}.items():
            self.write(self.new, [*rows, bad])
            for pair in ((self.old, self.new), (self.new, self.old)):
                result = call(PROGRAM, "compare", *map(str, pair), "--csv", str(kept))
                self.assert_one_clear_line(result, str(self.new), name)
        self.write(self.new, [*rows, rows[0] | {"replica": "10", "median_ns": ""}])
        result = call(PROGRAM, "compare", str(self.old), str(self.new), "--csv", str(kept))
        self.assert_one_clear_line(result, f"{self.new}:12", "median_ns")
        self.new.write_text(self.old.read_text()[:-5])
        self.assert_one_clear_line(call(PROGRAM, "compare", str(self.old), str(self.new), "--csv", str(kept)), ":11")
        self.assertEqual(kept.read_text(), "precious")

    def test_replicas_of_a_run_are_processes_of_their_own_with_controls_of_their_own(self) -> None:
        result = call(PROGRAM, "run", "--filter", "cpu_(stepwise|simd)$", "--replicas", "3", "--csv", str(self.csv), *SMALL)
        self.assertEqual(result.returncode, 0, result)
        rows = rows_of(self.csv)
        for name in ("copy", "memcpy", "fill", "fma", "cpu_stepwise", "cpu_simd"):
            self.assertEqual([row["replica"] for row in rows if row["variant"] == name], ["0", "1", "2"], name)
        self.assertEqual(len(re.findall(r"^cpu_stepwise ", result.stdout, re.MULTILINE)), 1)
        for row in rows:  # each against the controls of its own replica
            if row["operator"] == "control":
                self.assertEqual(row["ceiling_percent"], "")
                continue
            ceiling = max(float(r["throughput_gbps"]) for r in rows
                          if r["replica"] == row["replica"] and r["variant"] in ("copy", "memcpy"))
            self.assertAlmostEqual(float(row["ceiling_percent"]), 100 * float(row["throughput_gbps"]) / ceiling, 6)
        self.assertIn("the median one of 3 replicas", result.stdout)
        self.assertEqual(len({(s["variant"], s["replica"]) for s in rows_of(self.folder / "run.samples.csv")}), 18)
        result = call(PROGRAM, "compare", str(self.csv), str(self.csv))
        self.assertEqual(result.returncode, 2)
        self.assertIn("3 replicas before and 3 after", result.stdout)


FAKE = """#!{python}
import csv, os, sys
if sys.argv[1] == "--version":
    sys.exit(print("fusebench 0 (a stand-in)"))
arguments = dict(zip(sys.argv[2::1], sys.argv[3::1]))
log = {log!r}
count = sum(1 for _ in open(log)) if os.path.exists(log) else 0
print(os.path.basename(sys.argv[0]), arguments.get("--filter", ""), arguments.get("--configuration", ""),
      arguments["--seed"], file=open(log, "a"))
ratios = {ratios!r}
rows = list(csv.DictReader(open({template!r})))
with open(arguments["--csv"], "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\\n")
    writer.writeheader()
    for row in rows:
        for name, ratio in ratios.items():
            if " " + name not in arguments.get("--filter", " " + name):
                continue
            if isinstance(ratio, list):
                ratio = ratio[count >= {first}]
            for configuration, factor in (ratio.items() if isinstance(ratio, dict) else [(row["configuration"], ratio)]):
                median = 1000 * factor * (1 + 1e-4 * (count % 7))
                writer.writerow(row | {{"run_id": str(count), "variant": name, "configuration": configuration,
                                       "median_ns": str(median)}})
{end}
"""


class Ab(Case):
    """Two programs in turn: stand-ins whose times are made up, and the real one."""

    def setUp(self) -> None:
        super().setUp()
        self.log = self.folder / "log"
        template = self.folder / "template.csv"
        call(PROGRAM, "run", "--filter", "cpu_stepwise", "--csv", str(template), *SMALL)
        rows = [row for row in rows_of(template) if row["variant"] == "cpu_stepwise"]
        Compare.write(template, rows)
        self.template = template

    def program(self, name: str, ratios: dict[str, float | list[float]], end: str = "") -> str:
        path = self.folder / name
        path.write_text(FAKE.format(python=sys.executable, log=str(self.log), ratios=ratios, template=str(self.template),
                                    first=20, end=end))
        path.chmod(0o755)
        return str(path)

    def test_the_builds_take_turns_in_an_order_that_the_seed_draws(self) -> None:
        old, new = self.program("old", {"a": 1}), self.program("new", {"a": 1})
        orders = set()
        for seed in ("1", "2"):
            self.log.unlink(missing_ok=True)
            self.assertEqual(call(PROGRAM, "ab", old, new, "--seed", seed).returncode, 0)
            calls = [line.split() for line in self.log.read_text().splitlines()]
            self.assertEqual(len(calls), 20)
            self.assertEqual({c[-1] for c in calls}, {seed})
            self.assertEqual({c[-2] for c in calls}, {"default"}, "not what wisdom holds, which may change")
            for i in range(0, 20, 2):
                self.assertEqual({calls[i][0], calls[i + 1][0]}, {"old", "new"})
            orders.add("".join(c[0][0] for c in calls))
            self.assertGreater(len({calls[i][0] for i in range(0, 20, 2)}), 1)
        self.assertEqual(len(orders), 2)

    def test_a_slower_series_runs_again_in_fresh_processes_and_alone(self) -> None:
        old = self.program("old", {"a": 1, "b": 1})
        new = self.program("new", {"a": 1, "b": 1.02})
        kept = self.folder / "kept"
        result = call(PROGRAM, "ab", old, new, "--keep", str(kept))
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout.splitlines()[2], r"^slower .* b .*confirmed: a ratio of 1\.0(19|20)\d in 10 fresh")
        calls = self.log.read_text().splitlines()
        self.assertEqual(len(calls), 40)
        for line in calls[20:]:
            self.assertIn("^(residual_epilogue b)$ default ", line)
        for name in ("old", "new"):
            rows = rows_of(kept / f"{name}.csv")
            self.assertEqual(len([row for row in rows if row["variant"] == "a"]), 10)
            self.assertEqual(sorted({int(row["replica"]) for row in rows}), list(range(20)))
        again = call(PROGRAM, "compare", str(kept / "old.csv"), str(kept / "new.csv"))
        self.assertRegex(again.stdout.splitlines()[2], "^slower .* b ")

    def test_what_fresh_processes_do_not_show_is_not_reported_slower(self) -> None:
        # All of them together do: 1.1% in the first and 0.4% in the fresh ones is above the floor.
        old, new = self.program("old", {"a": 1}), self.program("new", {"a": [1.011, 1.004]})
        result = call(PROGRAM, "ab", old, new)
        self.assertRegex(result.stdout.splitlines()[2], r"^ambiguous .* not confirmed: a ratio of 1\.00[34]\d in 10 fresh")
        self.assertNotIn("slower", result.stdout)
        self.assertEqual(result.returncode, 2, result)

    def test_thousands_of_configurations_of_one_variant_are_named_once_to_confirm(self) -> None:
        name = "b" * 150  # 1000 times that is more than one argument may have
        configurations = [f"k={i}" for i in range(1000)]
        old = self.program("old", {name: dict.fromkeys(configurations, 1.0)})
        new = self.program("new", {name: dict.fromkeys(configurations, 1.02)})
        result = call(PROGRAM, "ab", old, new, "--configuration", "all")
        self.assertEqual(result.returncode, 1, result.stderr[-300:])
        self.assertEqual(len(re.findall("^slower ", result.stdout, re.MULTILINE)), 1000)
        calls = self.log.read_text().splitlines()
        self.assertEqual(len(calls), 40)
        for line in calls[20:]:
            self.assertIn(f"^(residual_epilogue {name})$ all", line)

    def test_one_configuration_is_confirmed_without_the_others(self) -> None:
        configurations = [f"k={i}" for i in range(5)]
        old = self.program("old", {"a": dict.fromkeys(configurations, 1.0)})
        new = self.program("new", {"a": dict.fromkeys(configurations, 1.0) | {"k=3": 1.02}})
        result = call(PROGRAM, "ab", old, new, "--configuration", "all")
        self.assertEqual(result.returncode, 1, result)
        for line in self.log.read_text().splitlines()[20:]:
            self.assertIn("^(residual_epilogue a)$ k=3 ", line)

    def test_the_seed_comes_first_and_is_in_the_document_with_a_word_on_too_few_replicas(self) -> None:
        old, document = self.program("old", {"a": 1}), self.folder / "ab.json"
        result = call(PROGRAM, "ab", old, old, "--seed", "18446744073709551615", "--replicas", "7", "--json", str(document))
        self.assertEqual(result.returncode, 2)
        lines = result.stderr.splitlines()
        self.assertEqual(lines[0], "seed 18446744073709551615")
        self.assertRegex(lines[1], "fewer than 8 replicas only wrong results")
        self.assertEqual(json.loads(document.read_text())["seed"], 2**64 - 1)

    def test_a_process_that_goes_wrong_costs_no_record_and_says_how_far_it_got(self) -> None:
        good = self.program("good", {"a": 1})
        bad = self.program("bad", {"a": 1}, "if count >= 5: sys.exit(2)")
        kept = self.folder / "kept"
        kept.mkdir()
        result = call(PROGRAM, "ab", good, bad, "--quiet", "--keep", str(kept))
        self.assert_one_clear_line(result, " of 20 processes were done", f"their records are in {kept}")
        done = int(re.search(r"(\d+) of 20", result.stderr)[1])
        self.assertEqual(sum(len(rows_of(kept / f"{name}.csv")) for name in ("old", "new")), done)
        before = {path: path.read_text() for path in kept.iterdir()}
        self.assert_one_clear_line(call(PROGRAM, "ab", good, good, "--keep", str(kept)), "old.csv is there already")
        self.assertEqual({path: path.read_text() for path in kept.iterdir()}, before)
        self.log.unlink()
        self.assert_one_clear_line(call(PROGRAM, "ab", good, bad, "--quiet"), "--keep would have kept")

    def test_a_program_that_is_built_anew_meanwhile_is_an_error(self) -> None:
        good = self.program("good", {"a": 1})
        bad = self.program("bad", {"a": 1}, "if count >= 5:\n"
                           "    text = open(arguments['--csv']).read().replace(rows[0]['git_commit'], 'another')\n"
                           "    open(arguments['--csv'], 'w').write(text)")
        self.assert_one_clear_line(call(PROGRAM, "ab", good, bad, "--quiet"), "bad was built anew", "'another")

    def test_a_program_that_cannot_run_is_an_error_and_no_verdict(self) -> None:
        good = self.program("good", {"a": 1})
        for end, words in {"print('fusebench: no such thing', file=sys.stderr); sys.exit(2)": ("no such thing", "code 2"),
                           "os.kill(os.getpid(), 11)": ("signal 11",),
                           "os.remove(arguments['--csv'])": ("No such file", "bad run"),
                           "open(arguments['--csv'], 'w').close()": ("empty",)}.items():
            bad = self.program("bad", {"a": 1}, end)
            for pair in ((good, bad), (bad, good)):
                self.assert_one_clear_line(call(PROGRAM, "ab", *pair, "--quiet"), *words)
        script = self.folder / "no_interpreter"
        script.write_text("#!/nonexistent/interpreter\n")
        script.chmod(0o755)
        self.assert_one_clear_line(call(PROGRAM, "ab", str(script), good, "--quiet"), str(script))

    def test_a_wrong_result_of_the_new_build_is_code_1(self) -> None:
        result = call(PROGRAM, "ab", str(PROGRAM), str(MUTANTS), "--quiet", "--replicas", "1", "--filter",
                      "cpu_(stepwise|mutant_zeros)$", *SMALL)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout.splitlines()[2], "^newly wrong .* cpu_mutant_zeros ")
        self.assertRegex(result.stdout, "ambiguous .* cpu_stepwise .* 1 replica before and 1 after")

    def test_what_a_program_leaves_behind_is_not_waited_for_and_ends_with_it(self) -> None:
        # It has the standard error that is listened to.
        leaves = self.program("leaves", {"a": 1}, "import subprocess\n"
                              f"print(subprocess.Popen(['sleep', '600']).pid, file=open({str(self.log)!r} + '.left', 'a'))")
        self.assertEqual(call(PROGRAM, "ab", leaves, leaves, timeout=100).returncode, 0)
        left = Path(f"{self.log}.left").read_text().split()
        self.assertEqual(len(left), 20)
        for process in left:
            self.assert_gone_soon(process)

    def test_a_second_ctrl_c_ends_what_heeds_no_first(self) -> None:
        waits = self.program("waits", {"a": 1}, "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                             f"open({str(self.log)!r} + '.deaf', 'w').close()\ntime.sleep(600)")
        process = subprocess.Popen([PROGRAM, "ab", waits, waits], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if Path(f"{self.log}.deaf").exists():
                break
            time.sleep(0.05)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (2, ""))
        self.assertIn("interrupted", err)

    def test_ctrl_c_stops_the_program_that_runs_and_leaves_nothing(self) -> None:
        marker = self.folder / "stopped"
        waits = self.program("waits", {"a": 1}, "import signal, time\n"
                             f"signal.signal(signal.SIGTERM, lambda *_: (open({str(marker)!r}, 'w').close(), sys.exit(2)))\n"
                             "time.sleep(60)")
        process = subprocess.Popen([PROGRAM, "ab", waits, waits], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=os.environ | {"TMPDIR": str(self.folder)})
        for _ in range(600):
            if list(self.folder.glob("fusebench-ab-*/run.csv")):
                break
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (2, ""))
        self.assertIn("interrupted", err)
        self.assertTrue(marker.exists())
        self.assertEqual(list(self.folder.glob("fusebench-ab-*")), [])


class Mutants(Case):
    """Each mutant gets its own outcome, no time, and costs no other variant anything."""

    def test_the_good_variants_pass_between_the_bad_and_no_bad_one_has_a_time(self) -> None:
        result = call(MUTANTS, "run", "--device", "cpu", "--filter",
                      "cpu_(mutant_(segfault|zeros|throws|writes_past_end|exits)|honest_(prints|slow_spells)|stepwise|unfused)",
                      "--csv", str(self.csv), *SMALL)
        self.assertEqual(result.returncode, 1, result)
        rows = {row["variant"]: row for row in rows_of(self.csv)}
        for name, row in rows.items():
            with self.subTest(variant=name):
                self.assertEqual(row["outcome"] == "passed", "mutant" not in name, row["reason"])
                for column in ("median_ns", "min_ns", "back_to_back_ns", "throughput_gbps"):
                    self.assertEqual(row[column] != "", "mutant" not in name, column)
                self.assertEqual((row["battery"], row["judge"]), ("quick", "parent") if row["outcome"] == "passed"
                                 else (row["battery"], row["judge"]))
        self.assertGreater(int(rows["cpu_stepwise"]["cases"]), 30)
        self.assertNotIn("a candidate prints", result.stdout)
        for line in result.stdout.splitlines():
            if line.startswith("cpu_mutant"):
                self.assertIsNone(re.search(r"\d (ns|us|ms|s)\b", line), line)

    def test_a_worker_that_judges_itself_is_marked_and_catches_what_needs_no_second_process(self) -> None:
        call(MUTANTS, "run", "--judge", "worker", "--device", "cpu", "--filter",
             "cpu_(mutant_(zeros|segfault|throws|writes_past_end)|stepwise)", "--csv", str(self.csv), *SMALL)
        rows = {row["variant"]: row for row in rows_of(self.csv)}
        self.assertEqual(rows["cpu_stepwise"]["outcome"], "passed")
        self.assertEqual(rows["cpu_stepwise"]["judge"], "worker")
        self.assertEqual(rows["cpu_mutant_segfault"]["outcome"], "crashed")
        self.assertIn("signal 11", rows["cpu_mutant_segfault"]["reason"])
        self.assertEqual(rows["cpu_mutant_throws"]["outcome"], "failed")
        for name in ("zeros", "writes_past_end"):
            self.assertEqual(rows[f"cpu_mutant_{name}"]["outcome"], "wrong")

    def test_a_death_is_told_with_its_case_and_the_tensor_that_was_touched(self) -> None:
        call(MUTANTS, "verify", "--filter", "cpu_mutant_reads_past_end", "--csv", str(self.csv), *VERIFY_SMALL)
        row = rows_of(self.csv)[0]
        self.assertEqual(row["outcome"], "crashed")
        self.assertRegex(row["reason"], r"signal 11 .*: it touched 1 bytes past the end of c in phase verify at "
                                        r"n=.*, ends at an unmapped page")

    def test_a_wrong_result_names_count_place_and_both_values(self) -> None:
        call(MUTANTS, "verify", "--filter", "mutant_one_element_wrong", "--csv", str(self.csv), *VERIFY_SMALL)
        reason = rows_of(self.csv)[0]["reason"]
        self.assertRegex(reason, r"1 of \d+ elements wrong; worst at \(n=\d+, c=\d+, d=\d+, h=\d+, w=\d+\) "
                                 r"got -?[\d.e-]+, expected -?[\d.e-]+")

    def test_gbench_shows_no_time_for_a_wrong_result(self) -> None:
        result = call(MUTANTS, "gbench", "--filter", "cpu_(mutant_zeros|stepwise|in_place)", *EPILOGUE, "--problem",
                      "1,4,3,5,7",
                      "--benchmark_format=json", "--benchmark_min_time=0.0001")
        if "no Google Benchmark" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 1)
        found = {b["name"]: b for b in json.loads(result.stdout)["benchmarks"]}
        wrong = next(b for name, b in found.items() if "mutant_zeros" in name)
        self.assertTrue(wrong["error_occurred"])
        self.assertIn("wrong", wrong["error_message"])
        for name in ("cpu_stepwise", "cpu_in_place"):  # the latter's input is restored before each iteration
            good = next((b for full, b in found.items() if f"/{name}/" in full), {"bytes_per_second": 1})
            self.assertNotIn("error_occurred", good)
            self.assertGreater(good["bytes_per_second"], 0)


    def test_without_a_battery_the_timed_problem_is_verified_all_the_same(self) -> None:
        call(MUTANTS, "run", "--battery", "timed", "--device", "cpu", "--filter", "cpu_(mutant_zeros|stepwise)",
             "--csv", str(self.csv), *SMALL)
        rows = {row["variant"]: row for row in rows_of(self.csv)}
        self.assertEqual((rows["cpu_stepwise"]["outcome"], rows["cpu_stepwise"]["cases"]), ("passed", "1"))
        self.assertEqual({row["battery"] for row in rows.values()}, {"timed"})
        self.assertEqual((rows["cpu_mutant_zeros"]["outcome"], rows["cpu_mutant_zeros"]["median_ns"]), ("wrong", ""))


class Interruption(Case):
    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen([MUTANTS, "run", "--device", "cpu", "--csv", str(self.csv), *SMALL, *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def wait_for_row(self, process: subprocess.Popen[str], variant: str) -> int:
        """How many rows there are once that variant has one, as the last."""
        for _ in range(2400):
            if self.csv.exists() and (rows := rows_of(self.csv)) and rows[-1]["variant"] == variant:
                return len(rows)
            self.assertIsNone(process.poll(), "ended early")
            time.sleep(0.05)
        self.fail("no rows appeared")

    def test_ctrl_c_keeps_what_is_done_and_says_so(self) -> None:
        process = self.start("--filter", "cpu_(mutant_endless|algebraic_fma)")
        done = self.wait_for_row(process, "cpu_algebraic_fma")  # behind the controls; the endless one is next
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2)
        self.assertIn(f"interrupted after {done} of {done + 1}", err)
        self.assertIn(str(self.csv), err)
        self.assertIn("cpu_algebraic_fma", out)
        self.assertEqual(len(rows_of(self.csv)), done)

    def test_sigkill_loses_nothing_that_was_finished_and_leaves_no_worker(self) -> None:
        process = self.start("--filter", "cpu_(mutant_endless|algebraic_fma)", "--json", str(self.folder / "run.json"))
        done = self.wait_for_row(process, "cpu_algebraic_fma")
        time.sleep(0.3)  # the endless variant is running in the worker
        workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        process.kill()
        process.communicate(timeout=30)
        rows = rows_of(self.csv)
        self.assertEqual([row["outcome"] for row in rows], ["passed"] * done)
        self.assertFalse(json.loads((self.folder / "run.json").read_text())["complete"])
        self.assertTrue(workers)
        for worker in workers:
            self.assert_gone_soon(worker)


class Gpu(Case):
    def setUp(self) -> None:
        super().setUp()
        entries = json.loads(call(PROGRAM, "list", "--json", "--device", "cuda").stdout)
        if not any(entry["available"] for entry in entries):
            self.skipTest(entries[0]["reason"])

    def test_a_bad_kernel_costs_only_itself(self) -> None:
        result = call(MUTANTS, "run", "--device", "cuda", "--filter",
                      "cuda_(mutant_(illegal_address|endless|does_not_compile)|float4|unfused)",
                      "--timeout", "10", "--csv", str(self.csv), *SMALL)
        self.assertEqual(result.returncode, 1, result)
        rows = {row["variant"]: row for row in rows_of(self.csv)}
        for name in ("cuda_float4", "cuda_unfused", "copy"):
            self.assertEqual(rows[name]["outcome"], "passed", rows[name]["reason"])
        self.assertNotEqual(rows["cuda_float4"]["graph_ns"], "")

    def test_a_worker_can_judge_itself(self) -> None:
        call(PROGRAM, "run", "--judge", "worker", "--device", "cuda", "--filter", "cuda_float4", "--csv",
             str(self.csv), *SMALL)
        row = next(row for row in rows_of(self.csv) if row["variant"] == "cuda_float4")
        self.assertEqual((row["outcome"], row["judge"]), ("passed", "worker"), row["reason"])


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    outcome = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, exit=False).result
    if outcome.skipped and len(outcome.skipped) == outcome.testsRun:
        print("SKIPPED:", outcome.skipped[0][1])  # CTest reads this
    sys.exit(not outcome.wasSuccessful())
