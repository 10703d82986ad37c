#!/usr/bin/env python3
"""The Python scripts. Usage: scripts_test.py ROOT. Catches columns that drift from the program's, a torn file
that is tabulated, a best that is not the fastest that passed, and a judge that lets a wrong peer pass.
What needs PyTorch or matplotlib is skipped without them.
"""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

from folder_case import FolderCase  # noqa: E402
from fusebench_tools import command, curves, problems, records, results, sampling  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def row(variant: str, median_ns: float | None, **more: str) -> dict[str, str]:
    blank = dict.fromkeys(records.columns(), "")
    text = "" if median_ns is None else str(median_ns)
    return blank | {"schema_version": "1", "run_id": "r", "timestamp_utc": "2026-01-01T00:00:00Z", "operator": "op",
                    "variant": variant, "problem": "n=1", "device": "cuda", "precision": "float32",
                    "outcome": "passed" if text else "wrong", "median_ns": text, "q1_ns": text, "q3_ns": text,
                    "throughput_gbps": "1", "useful_bytes": "4800", "within_1e4": "true", "max_abs_error": "1e-7",
                    "bit_equal_percent": "50", "device_name": "NVIDIA H200"} | more


class Case(FolderCase):
    def script(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run_script(ROOT / "scripts" / name, *arguments, timeout=120)


class Records(Case):
    def test_what_is_written_is_read_back_and_an_earlier_file_stays_until_there_is_a_row(self) -> None:
        path = self.folder / "x.csv"
        path.write_text("precious")
        writer = records.Writer(path)
        self.assertEqual(path.read_text(), "precious")
        full = {"schema_version": 1, "variant": 'a "b", c\nd', "median_ns": 0.1 + 0.2, "dirty": True, "samples": 30,
                "min_ns": 255200.0}
        writer.append(full)
        read = records.read(path)[0]
        self.assertEqual(list(read), [*records.ADDED_LATER, *(c for c in records.columns() if c not in records.ADDED_LATER)])
        expected = {"schema_version": "1", "variant": 'a "b", c\nd', "median_ns": "0.30000000000000004", "dirty": "true",
                    "samples": "30", "min_ns": "255200"}
        self.assertEqual({name: read[name] for name in full}, expected)
        self.assertEqual(read["q1_ns"], "")

    def test_torn_ragged_and_foreign_files_are_refused_with_their_place(self) -> None:
        good = self.write_rows("good.csv", [row("a", 1), row("b", 2)]).read_text()
        bad = {
            good[:-5]: "cut off", good.splitlines()[0] + "\n": "no row", "": "cut off",
            "peer,median_ns\na,1\n": ":1: column schema_version", good + "1,2\n": ":4",
            good.replace("\n1,", "\n2,"): "schema_version", good.replace(",passed,,,,2,", ",passed,,many,,2,"): ":3, column samples", good.replace(",2,2,2,", ",nan,2,2,"): ":3, column median_ns",
        }
        for text, word in bad.items():
            with self.subTest(word=word):
                path = self.folder / "bad.csv"
                path.write_text(text)
                with self.assertRaises(records.BadFile) as caught:
                    records.read(path)
                self.assertIn(str(path), str(caught.exception))
                self.assertIn(word, str(caught.exception))


class Outputs(Case):
    def test_a_link_stays_and_what_it_leads_to_is_written(self) -> None:
        (self.folder / "there").write_text("before")
        (self.folder / "link").symlink_to("there")
        command.write_whole(self.folder / "link", "after")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual((self.folder / "there").read_text(), "after")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["link", "there"])

    def test_what_is_the_systems_is_never_replaced(self) -> None:
        (self.folder / "out").symlink_to("/proc/self/fd/1")
        for path in (Path("/dev/stdout"), Path("/dev/null"), Path("/proc/self/fd/1"), self.folder / "out"):
            self.assertIsNone(command.replaceable(path), path)
        self.assertEqual(command.replaceable(self.folder / "new"), self.folder / "new")


class Statistics(unittest.TestCase):
    def test_the_interval_of_a_median_is_the_known_order_statistics(self) -> None:
        # By exact sums of binomial coefficients.
        for count, low, high in ((1, 1, 1), (6, 1, 6), (10, 2, 9), (30, 10, 21), (2000, 956, 1045)):
            ordered = [float(i) for i in range(1, count + 1)]
            self.assertEqual(sampling.median_interval(ordered), (low, high), count)

    def test_sampling_stops_when_the_median_is_known_or_a_limit_is_reached(self) -> None:
        self.assertEqual(sampling.take_samples(lambda: 5.0, sampling.Limits())[1], "confidence")
        noise = iter([1.0, 2.0] * 10_000)
        times, reason = sampling.take_samples(lambda: next(noise), sampling.Limits(max_samples=50, max_seconds=60))
        self.assertEqual((len(times), reason), (50, "max_samples"))


class Problems(unittest.TestCase):
    def test_texts_are_the_programs_own(self) -> None:
        parse = problems.conv_transpose3d_residual
        official = parse("official")
        self.assertEqual(official.text, "n=16,ci=32,co=64,d=16,h=32,w=32,k=3,s=2,p=1,op=1")
        self.assertEqual(official.output, (16, 64, 32, 64, 64))
        self.assertEqual(parse("quick").text, "n=1,ci=32,co=64,d=8,h=16,w=16,k=3,s=2,p=1,op=1")
        mixed = "n=1,ci=4,co=6,d=3,h=3,w=5,kd=2,kh=3,kw=4,sd=1,sh=2,sw=3,pd=0,ph=1,pw=2,opd=0,oph=1,opw=2"
        self.assertEqual(parse(mixed).text, mixed)
        self.assertEqual(problems.residual_epilogue("1,2,3,4,5").text, "n=1,c=2,d=3,h=4,w=5")

    def test_flops_are_the_programs_own(self) -> None:  # tests/conv_transpose3d_test.cpp has the same number
        self.assertEqual(problems.conv_transpose3d_residual("official").flops(), 28_335_603_712)
        # Of kernel 2 at positions 0 and 1, cropped by one on both sides: one product at each end is lost.
        self.assertEqual(problems.conv_transpose3d_residual("n=3,ci=4,co=6,d=2,h=1,w=1,kd=2,kh=1,kw=1,pd=1,g=2").flops(),
                         2 * 3 * 4 * (6 // 2) * 2 + 4 * 3 * 6 * 1)
        self.assertEqual(problems.residual_epilogue("1,2,3,4,5").flops(), 4 * 120)

    def test_bad_sizes_are_refused(self) -> None:
        for text, word in (("n=1", "'ci'"), ("n=x", "'x'"), ("1,2", "'1'"), ("n=1,n=2", "twice"),
                           ("n=1,ci=1,co=1,d=1,h=1,w=1,k=1,zz=1", "'zz'"), ("n=1,ci=1,co=1,d=1,h=1,w=1,k=3,op=1", "opd=1"),
                           ("n=1,ci=3,co=1,d=1,h=1,w=1,k=3,g=2", "g=2")):
            with self.subTest(text=text), self.assertRaisesRegex(problems.BadProblem, word):
                problems.conv_transpose3d_residual(text)


class Tables(Case):
    def test_each_variant_shows_its_fastest_configuration_that_passed_with_peers_between(self) -> None:
        run = self.write_rows("run.csv", [row("a", 300, configuration="k=1"), row("a", 100, configuration="k=2"),
                                     row("a", None, configuration="k=3"), row("b", 200, within_1e4="false"),
                                     row("c", 400, in_place="true")])
        peers = self.write_rows("peers.csv", [row("torch", 150, run_id="p"), row("a", 50, run_id="p"),
                                         row("elsewhere", 1, problem="n=2")])
        text = self.script("table", str(run), "--with", str(peers)).stdout
        names = [line.split(" |")[0] for line in text.splitlines() if line.startswith("| `")]
        self.assertEqual(names, ["| `a` (peer)", "| `a` (best of 3, 2 passed)", "| `torch` (peer)", "| `b`",
                                 "| `c` (in place)"])
        self.assertIn("| **no** |", next(line for line in text.splitlines() if "`b`" in line))

    def test_of_a_control_that_computes_no_bandwidth_is_shown(self) -> None:
        run = self.write_rows("run.csv", [row("copy", 100, operator="control", throughput_gbps="4321"), row("a", 300),
                                     row("fma", 200, operator="control", throughput_gbps="1234", flops="5")])
        lines = {line.split("`")[1]: line for line in self.script("table", str(run)).stdout.splitlines() if line.startswith("| `")}
        self.assertIn("| 4321 |", lines["copy"])
        self.assertNotIn("1234", lines["fma"])

    def test_of_fewer_than_5_samples_no_spread_is_shown(self) -> None:
        run = self.write_rows("run.csv", [row(f"v{n}", 200 + n, q1_ns="100", q3_ns=str(300 + n), samples=str(n)) for n in (1, 4, 5)])
        lines = [line for line in self.script("table", str(run)).stdout.splitlines() if line.startswith("| `")]
        self.assertEqual([line.split(" | ")[6] for line in lines], ["-", "-", "100.0%"])

    def test_of_replicas_the_one_with_the_median_of_their_medians_is_shown(self) -> None:
        run = self.write_rows("run.csv", [row("a", ns, replica=str(i)) for i, ns in enumerate((400, 100, 300, 200))]
                         + [row("b", 150, replica="0"), row("b", None, replica="1")] + [row("c", 500)])
        text = self.script("table", str(run)).stdout
        self.assertEqual([line.split(" |")[0] for line in text.splitlines() if line.startswith("| `")], ["| `a`", "| `c`"])
        self.assertIn("| 200 ns |", text)

    def test_of_searches_the_best_and_its_gain_are_shown(self) -> None:
        found = {"operator": "op", "variant": "a", "device_name": "GPU", "problem": "n=1", "configurations": "6", "measured": "6",
                 "passed": "6", "default_median_ns": "2000", "final_configuration": "k=2", "final_median_ns": "1000",
                 "default_over_best": "1.98", "ties": "0", "driver": "d", "toolkit": "t"}
        searches = self.write_rows("exhaustive.csv", [
            found, found | {"variant": "b", "default_over_best": "1.0", "ties": "3"},
            found | {"variant": "c", "measured": "4", "final_configuration": "", "final_median_ns": "", "default_over_best": ""}])
        lines = [line for line in self.script("table", str(searches)).stdout.splitlines() if line.startswith("| `")]
        self.assertEqual(lines, ["| `a` | 6 | 2 us | 1 us | 1.980x | `k=2` |",
                                 "| `b` | 6 | 2 us | 1 us |  | the default, and 3 that cannot be told from it |",
                                 "| `c` | 4 of 6 |  |  |  | no final yet |"])
        run = self.write_rows("run.csv", [row("a", 300)])
        self.assert_one_clear_line(self.script("table", str(searches), "--with", str(run)), "no peers")
        torn = self.write_rows("torn.csv", [found | {"default_over_best": "fast"}])
        self.assert_one_clear_line(self.script("table", str(torn)), str(torn), "fast")

    def test_our_files_that_are_no_run_are_named_with_what_takes_them(self) -> None:
        run = self.write_rows("run.csv", [row("a", 300)])
        h200 = ROOT / "results/baselines/h200"
        for name, words in (("trace_sums.csv", "holds sums of profile --trace-csv, which table does not print"),
                            ("ncu.csv", "holds counters of scripts/profile ncu; scripts/report draws it beside a run"),
                            ("ab_same.csv", "is a comparison; scripts/report draws it"), ("trace.json", "is JSON; scripts/table takes CSVs"),
                            ("residual_epilogue.samples.csv", "holds samples; give the CSV of their run"),
                            ("replayed.csv", "is the table of tune --replay")):
            with self.subTest(name=name):
                self.assert_one_clear_line(self.script("table", str(h200 / name)), f"{h200 / name} {words}")
                self.assert_one_clear_line(self.script("table", str(run), "--with", str(h200 / name)), "; --with takes the CSV of a run")

    def test_bad_input_is_one_line_and_code_2(self) -> None:
        run = self.write_rows("run.csv", [row("a", 300)])
        other = self.write_rows("other.csv", [row("a", 300, problem="n=2")])
        nothing = self.write_rows("nothing.csv", [row("a", None)])
        document = self.folder / "x.md"
        document.write_text("no mark")
        for arguments, words in (([str(run), "--with", str(other)], [str(other)]), ([str(nothing)], ["no timed rows"]),
                                 ([], ["name a CSV"]), (["--check", str(document)], [str(document)]),
                                 ([str(self.folder / "absent.csv")], ["absent.csv", "No such file"])):
            with self.subTest(arguments=arguments):
                self.assert_one_clear_line(self.script("table", *arguments), *words)


class Report(Case):
    def test_a_plot_comes_as_png_svg_and_its_data(self) -> None:
        run = self.write_rows("run.csv", [row("a", 300), row("b", 4000, within_1e4="false")])
        peers = self.write_rows("peers.csv", [row("torch", 150, run_id="p")])
        result = self.script("report", str(run), "--with", str(peers), "--out", str(self.folder / "plots"))
        if not HAS_MATPLOTLIB:
            self.assert_one_clear_line(result, "matplotlib is missing", "apt-get install")
            self.skipTest("no matplotlib")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = sorted(path.name for path in (self.folder / "plots").iterdir())
        self.assertEqual(names, ["op.cuda.csv", "op.cuda.png", "op.cuda.svg"])
        with (self.folder / "plots/op.cuda.csv").open() as file:
            data = list(csv.DictReader(file))
        self.assertEqual([(r["variant"], r["peer"], r["floor_ns"]) for r in data],
                         [("torch", "true", "1.0"), ("a", "false", "1.0"), ("b", "false", "1.0")])
        words = "log scale, further left is better"  # matplotlib draws letters, and has each text beside them as a comment
        self.assertIn(words, (self.folder / "plots/op.cuda.svg").read_text())
        near = self.write_rows("near.csv", [row("a", 300), row("b", 400)])
        result = self.script("report", str(near), "--out", str(self.folder / "near"))
        self.assertEqual(result.returncode, 0, result.stderr)
        text = (self.folder / "near/op.cuda.svg").read_text()
        self.assertNotIn(words, text)
        self.assertIn("<!-- 0 -->", text)

    def test_search_curves_are_drawn_one_figure_a_space(self) -> None:
        path = self.write_rows("s.curves.csv", [
            dict(zip(curves.COLUMNS, (space, strategy, draws, found, 400 // draws, 300, 90, 0.5)))
            for space in ("one", "two") for strategy, found in (("model", 100), ("random", 200)) for draws in (1, 2, 4)])
        result = self.script("report", str(path), "--out", str(self.folder / "plots"))
        if not HAS_MATPLOTLIB:
            self.assert_one_clear_line(result, "matplotlib is missing", "apt-get install")
            self.skipTest("no matplotlib")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = sorted(path.name for path in (self.folder / "plots").iterdir())
        self.assertEqual(names, ["tune.one.png", "tune.one.svg", "tune.two.png", "tune.two.svg"])
        twice = self.folder / "twice.curves.csv"
        twice.write_text(path.read_text())
        self.assert_one_clear_line(self.script("report", str(path), str(twice), "--out", str(self.folder)), "one is in more than one")
        path.write_text(path.read_text().replace(",100,", ",x,", 1))
        self.assert_one_clear_line(self.script("report", str(path), "--out", str(self.folder)), "s.curves.csv:2", "'x'")
        path.write_text(path.read_text()[:-5])
        self.assert_one_clear_line(self.script("report", str(path), "--out", str(self.folder)), "cut off")

    def test_the_data_sheets_bandwidth_is_the_programs(self) -> None:
        self.assertEqual(results.peak_gbps("NVIDIA H200"), 4800)
        self.assertIsNone(results.peak_gbps("a CPU"))


class Peers(Case):
    def test_without_pytorch_it_is_one_line_and_code_2(self) -> None:
        if HAS_TORCH:
            self.skipTest("PyTorch is here")
        self.assert_one_clear_line(self.script("peers"), "PyTorch is missing")

    @unittest.skipUnless(HAS_TORCH, "no PyTorch")
    def test_eager_passes_on_both_operators_and_writes_readable_rows(self) -> None:
        for operator, problem in (("residual_epilogue", "1,2,3,4,5"),
                                  ("conv_transpose3d_residual", "n=1,ci=2,co=3,d=2,h=2,w=3,k=3,s=2,p=1,op=1")):
            path = self.folder / f"{operator}.csv"
            result = self.script("peers", "--device", "cpu", "--operator", operator, "--problem", problem, "--filter",
                                 "eager|copy", "--max-time", "0.05", "--seed", "7", "--csv", str(path))
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual([(r["operator"], r["variant"], r["outcome"]) for r in records.read(path)],
                             [("control", "pytorch_copy", "passed"), (operator, "pytorch_eager", "passed")])

    @unittest.skipUnless(HAS_TORCH, "no PyTorch")
    def test_the_judge_tells_wrong_values_from_right_ones(self) -> None:
        import torch
        from fusebench_tools.torch_inputs import inputs_of
        from fusebench_tools.torch_judge import judge
        from fusebench_tools.torch_peers import function_of

        problem = problems.conv_transpose3d_residual("n=2,ci=2,co=3,d=2,h=2,w=3,k=3,s=2,p=1,op=1")
        tensors = inputs_of(problem, 7, torch.device("cpu"))
        y = function_of(problem)(*(tensors[i.name] for i in problem.inputs))
        self.assertEqual(judge(problem, tensors, y, "float32")["outside"], 0)
        for wrong in (float("nan"), float("inf"), y.flatten()[-1].item() + 1e-3):
            changed = y.clone()
            changed.view(-1)[-1] = wrong
            found = judge(problem, tensors, changed, "float32")
            self.assertEqual((found["outside"], found["beyond_1e4"], found["within_1e4"]), (1, 1, False), wrong)
            self.assertGreater(found["max_abs_error"], 9e-4)
        with contextlib.suppress(ValueError):
            judge(problem, tensors, y[:1], "float32")
            self.fail("an output of another shape was judged")


if __name__ == "__main__":
    outcome = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False).result
    sys.exit(not outcome.wasSuccessful())
