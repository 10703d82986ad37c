#!/usr/bin/env python3
"""The page of scripts/report. Usage: report_test.py ROOT [CLASS]. Catches a page that needs the network, lies about its
verdict, takes a name for markup, hides a plot's data, does not sort, logs an error, or runs off a phone's screen. Class Browser
looks at it in headless Chromium, and is skipped without that and Selenium (scripts/setup --browser installs both).
"""

from __future__ import annotations

import base64
import csv
import importlib.util
import io
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

from folder_case import FolderCase  # noqa: E402
from made_up_trace import TEMPLATE, MadeUpTrace, usual  # noqa: E402
from fusebench_tools import change_points, curves, history, ncu, page_comparison, page_roofline, records, svg  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HAS_SELENIUM = importlib.util.find_spec("selenium") is not None
SYSTEM_PYTHON = "/usr/bin/python3"  # for which apt-get installs Selenium
if not HAS_SELENIUM and "FUSEBENCH_REPORT_TEST" not in os.environ and Path(SYSTEM_PYTHON).exists():
    os.execve(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv], os.environ | {"FUSEBENCH_REPORT_TEST": "1"})
try:
    change_points.otava()
    HAS_OTAVA = True
except records.BadFile:
    HAS_OTAVA = False
NASTY = '<b>&"\'</b>'


def run_row(variant: str, median_ns: float | str, **more: object) -> dict[str, object]:
    return dict.fromkeys(records.columns(), "") | {
        "schema_version": 1, "run_id": "r", "timestamp_utc": "2026-01-01T00:00:00Z", "git_commit": "c", "operator": "op",
        "variant": variant, "configuration": "default", "problem": "n=1", "device": "cuda", "precision": "float32", "replica": 0,
        "outcome": "passed", "median_ns": median_ns, "q1_ns": median_ns, "q3_ns": median_ns, "useful_bytes": 4800000,
        "throughput_gbps": 1000, "within_1e4": "true", "device_name": "NVIDIA H200", "driver": "1", "toolkit": "2"} | more


def comparison_row(verdict: str, variant: str, ratio: float | str, **more: object) -> dict[str, object]:
    return dict.fromkeys(page_comparison.NEEDED, "") | {
        "verdict": verdict, "operator": "op", "variant": variant, "configuration": "default", "problem": "n=1", "device": "cuda",
        "old_replicas": 10, "new_replicas": 10, "old_median_ns": 1000, "new_median_ns": 1000 * (ratio or 1), "ratio": ratio,
        "ratio_low": ratio and ratio - 0.01, "ratio_high": ratio and ratio + 0.01, "p": ratio and 0.001} | more


class Case(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.html = self.folder / "page.html"

    def report(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return self.run_script(ROOT / "scripts/report", *arguments)

    def page(self, *arguments: object) -> str:
        result = self.report(*arguments, "--html", self.html)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return self.html.read_text(encoding="utf-8")

    def run_csv(self) -> Path:
        path = self.write_rows("run.csv", [run_row("copy", 1500, operator="control", throughput_gbps=3200),
                                      *(run_row("a", 3000 + 10 * r, replica=r) for r in (2, 0, 1)),
                                      run_row("b", 40000, precision="tf32", within_1e4="false"),
                                      run_row(NASTY, 9000, precision="bf16"), run_row("broken", "", outcome="wrong", reason="all zero")])
        key = ("run_id", "operator", "variant", "configuration", "problem", "device", "replica")
        samples = [dict(zip(key, ("r", "op", "b", "default", "n=1", "cuda", 0))) | {
            "sample": i, "ns": 40000 + 37 * (i * 7919 % 101), "sm_clock_mhz": "", "throttled": "false"} for i in range(200)]
        self.write_rows("run.samples.csv", samples)
        return path

    def comparison_csv(self) -> Path:
        return self.write_rows("comparison.csv", [comparison_row("newly wrong", "w", "", reason="wrong: x"), comparison_row("slower", "s", 1.1),
                                             comparison_row("same", "t", 1.001), comparison_row("faster", "f", 0.5)])

    def history_csv(self) -> Path:
        rows = [dict.fromkeys(history.COLUMNS, "") | {
            "schema_version": 1, "night": f"night {i}", "timestamp_utc": f"2026-{1 + i // 28:02}-{1 + i % 28:02}T00:00:00Z",
            "git_commit": f"c{i}", "operator": "op", "variant": name, "configuration": "default", "problem": "n=1", "device": "cuda",
            "precision": "float32", "outcome": "passed", "replicas": 10, "device_name": "NVIDIA H200", "driver": "1" if i < 30 else "2",
            "toolkit": "2", "clock_policy": "default",
            "median_ns": 1000 * (1 + 1e-3 * (i * 7919 % 11)) * (1.1 if i >= 60 and name == "creeps" else 1)}
            for i in range(80) for name in ("steady", "creeps")]
        path = self.folder / "machine.csv"
        history.append(path, rows)
        return path

    def curves_csv(self) -> Path:
        return self.write_rows("s.curves.csv", [
            dict(zip(curves.COLUMNS, ("space", strategy, draws, factor * (1000 + 400 / draws), 1000 + 900 / draws, 3000, 900, 0.5)))
            for strategy, factor in (("model", 0.9), ("local", 1.0), ("random", 1.1)) for draws in range(1, 60)])

    def work_csv(self, flops: bool = True, fma: bool = True) -> Path:
        """Two operators with 15 variants each, of 0.5 and 50 FLOP a byte, and what reached the roofs."""
        def row(variant: str, ns: float, work: tuple[int, int], **more: object) -> dict[str, object]:
            return run_row(variant, ns, useful_bytes=work[0], flops=work[1] if flops else "", problem="n=2", configuration="k=a/b", **more)

        rows = [row("copy", 1e6, (10**9, 0), operator="control", throughput_gbps=1000),
                row("fill", 1e6, (10**9, 0), operator="control", throughput_gbps=2000)]
        rows += [row("fma", 1e6, (10**9, 5 * 10**10), operator="control", throughput_gbps=1000)] if fma else []
        rows += [row(f"variant_{i}_of_{name}", (1 + i // 3) * 1e6, (10**9, work), operator=name)
                 for name, work in (("sparse", 5 * 10**8), ("dense", 5 * 10**10)) for i in range(15)]
        path = self.write_rows("work.csv", rows)
        if not flops:  # as older programs wrote it
            text = path.read_text().splitlines()
            self.assertTrue(text[0].endswith(",flops"))
            path.write_text("".join(line.removesuffix("flops").removesuffix(",") + "\n" for line in text))
        return path

    def counters_csv(self) -> Path:
        return self.write_rows("ncu.csv", [dict.fromkeys(ncu.COLUMNS, "") | {
            "operator": "dense", "variant": f"variant_{i}_of_dense", "configuration": "k=a_b", "problem": "n=2", "device": "cuda",
            "kernels": 1, "moved_bytes": moved, "stall_1": "long_scoreboard", "stall_1_percent": 45.4}
            for i, moved in ((0, 4 * 10**9), (1, ""))])

    def peers_csv(self) -> Path:
        return self.write_rows("peers.csv", [run_row("torch", 5000, run_id="p")])

    def trace_json(self) -> Path:
        return usual(NASTY).write(self.folder / "trace.json")

    def everything(self) -> str:
        return self.page(self.comparison_csv(), self.run_csv(), self.history_csv(), self.curves_csv(), self.work_csv(),
                         self.counters_csv(), self.trace_json(), "--with", self.peers_csv())


class Structure(HTMLParser):
    """Refuses what is closed in another order than it was opened; keeps links and the order of what matters."""

    VOID = {"meta", "link", "br", "wbr"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.figures: list[str] = []
        self.first: dict[str, int] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        for name in [tag, *(given.get("class") or "").split()]:
            self.first.setdefault(name, self.getpos()[0] * 10**7 + self.getpos()[1])
        self.links += [value or "" for name, value in attributes if name in ("href", "src", "xlink:href")]
        if tag == "figure":
            self.figures.append(given["id"] or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attributes if name in ("href", "src", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> at {self.getpos()} closes nothing that is open")


class Page(Case):
    def test_it_stands_alone_and_its_verdicts_come_first(self) -> None:
        structure = Structure()
        structure.feed(self.everything())
        self.assertEqual(structure.open, [])
        self.assertLess(structure.first["verdict"], structure.first["figure"])
        self.assertLess(structure.first["verdict"], structure.first["table"])
        for link in structure.links:
            self.assertTrue(link.startswith("data:"), link)
        self.assertEqual(structure.figures, ["comparison.0.ratios", "op.cuda.times", "op.cuda.samples", "sparse.cuda.times",
                                             "dense.cuda.times", "roofline.cuda", "machine.history.0", "machine.history.1", "tune.space",
                                             "trace"])

    def test_each_plots_data_is_in_the_page(self) -> None:
        text = self.everything()
        data = {name: list(csv.DictReader(io.StringIO(base64.b64decode(packed).decode()))) for name, packed in
                re.findall(r'download="([^"]+)" href="data:text/csv;base64,([^"]+)"', text)}
        self.assertEqual(len(data), text.count("<figure "))
        self.assertEqual([r["variant"] for r in data["comparison.0.ratios.csv"]], ["s", "t", "f"])
        # Of replicas the one with the median of their medians.
        self.assertEqual([(r["variant"], r["median_ns"], r["peer"], r["floor_ns"], r["copy_ns"]) for r in data["op.cuda.times.csv"]],
                         [("a", "3010", "false", "1000", "1500"), ("torch", "5000", "true", "1000", "1500"),
                          (NASTY, "9000", "false", "1000", "1500"), ("b", "40000", "false", "1000", "1500")])
        self.assertEqual([len([r for r in data["op.cuda.samples.csv"] if r["variant"] == name]) for name in "ab"], [3, 200])
        self.assertEqual(len(data["roofline.cuda.csv"]), 30)
        self.assertEqual(len(data["machine.history.0.csv"]), 80)
        self.assertEqual(len(data["tune.space.csv"]), 3 * 59)
        # Whatever is drawn where, the data has each slice when it was.
        rows = [(r["kind"], r["name"], r["start_ns"], r["duration_ns"], r["launched_by_start_ns"]) for r in data["trace.csv"]
                if r["variant"] == "queued"]
        self.assertEqual(rows, [("call", "call", "-279000", "10000", ""), ("api", "cuLaunchKernel", "-278000", "2000", ""),
                                ("api", "cuLaunchKernel", "-275000", "2000", ""), ("kernel", "pack", "0", "10000", "-278000"),
                                ("kernel", TEMPLATE, "5000", "95000", "-275000")])

    def test_of_two_runs_the_newest_is_shown_whole_and_the_page_says_so(self) -> None:
        paths = []
        for day, ns, commit in ((2, 3000, "bbb"), (1, 2000, "aaa")):
            run = {"run_id": f"r{day}", "timestamp_utc": f"2026-01-0{day}T00:00:00Z", "git_commit": commit}
            paths.append(self.write_rows(f"day{day}.csv", [
                run_row("twice", ns, **run), run_row(f"only_{day}", 9000, **run),
                *(run_row("tuned", 10 * ns * k, configuration=f"k={k}", **run) for k in range(1, 1 + day)),
                run_row("copy", ns, operator="control", **run)]))
            self.write_rows(f"day{day}.samples.csv", [
                dict(run_row("twice", "")) | run | {"sample": i, "ns": ns - 20 + i, "throttled": "false"} for i in range(41)])
        for given in (paths, paths[::-1]):
            text = self.page(*given)
            data = {name: list(csv.DictReader(io.StringIO(base64.b64decode(packed).decode()))) for name, packed in
                    re.findall(r'download="([^"]+)" href="data:text/csv;base64,([^"]+)"', text)}
            self.assertEqual({row["variant"]: row["median_ns"] for row in data["op.cuda.times.csv"]},
                             {"twice": "3000", "only_1": "9000", "only_2": "9000", "tuned": "30000"})
            self.assertEqual([row["ns"] for row in data["op.cuda.samples.csv"]], [str(2980 + i) for i in range(41)])
            for words in ("twice (newest of 2 runs)", "only_1<", "only_2<", "tuned (best of 2, newest of 2 runs)", "copy (newest of 2 runs)",
                          "41 around 3 µs", "all that is shown is of the newest", "2026-01-02, 2026-01-01"):
                self.assertIn(words, text)
            self.assertEqual(re.findall("commit ([^<]+)<", text), ["bbb, aaa"])
        self.assertNotIn("all that is shown is of the newest", self.page(paths[0]))

    def test_samples_of_replicas_lie_around_their_own_median(self) -> None:
        path = self.write_rows("run.csv", [run_row("a", ns, replica=r) for r, ns in enumerate((2000, 3000))])
        self.write_rows("run.samples.csv", [dict(run_row("a", "")) | {"replica": r, "sample": i, "ns": ns, "throttled": "false"}
                                            for r, ns in enumerate((2000, 3000)) for i in range(20)])
        self.assertIn(">40 around 2.5 µs<", self.page(path))

    def test_a_column_that_is_empty_in_all_rows_is_left_out(self) -> None:
        def heads(text: str) -> list[str]:
            return re.findall(r"<button>([^<]+)</button>", text)

        plain = self.page(self.write_rows("c.csv", [comparison_row("same", "a", 1.0), comparison_row("same", "b", 1.0)]))
        self.assertNotIn("reason", heads(plain))
        self.assertIn("problem", heads(plain))
        self.assertIn("reason", heads(self.page(self.comparison_csv())))
        floorless = self.page(self.write_rows("cpu.csv", [run_row("a", 3000, device_name="some CPU")]))
        self.assertNotIn("of floor", heads(floorless))
        self.assertIn("of floor", heads(self.page(self.run_csv())))

    def test_every_strategy_is_drawn_or_said_to_be_missing(self) -> None:
        def text_of(**factors: float) -> str:
            return self.page(self.write_rows("s.curves.csv", [
                dict(zip(curves.COLUMNS, ("space", strategy, draws, factor * (1000 + 400 / draws), 1000 + 900 / draws, 3000, 900, 0.5)))
                for strategy, factor in factors.items() for draws in range(1, 60)]))

        text = text_of(model=0.9, exhaustive=1.0, random=1.1)
        self.assertEqual(text.count('<path class="curve"'), 2 * 3)  # model, exhaustive and the expectation, for a desk and a phone
        for words in ("</span>model<", "</span>exhaustive<", "Random search is drawn as it is expected"):
            self.assertIn(words, text)
        text = text_of(model=0.9, exhaustive=9.0)
        self.assertEqual(text.count('<path class="curve"'), 2 * 2)
        self.assertIn("</span>exhaustive (slower than what is shown)<", text)
        self.assertNotIn("Random search is drawn", text)

    def test_of_a_small_space_the_best_is_drawn_and_a_tie_names_no_winner(self) -> None:
        def text_of(draws: int, **found: float) -> str:
            return self.page(self.write_rows("s.curves.csv", [
                dict(zip(curves.COLUMNS, ("space", strategy, draw, ns, 1000 + 10 / draw, 1000, 1000, 0)))
                for strategy, ns in found.items() for draw in range(1, draws + 1)]))

        text = text_of(3, model=2000, local=2000)
        self.assertEqual(text.count('<path class="curve"'), 2 * 3)  # both and the expectation, for a desk and a phone
        self.assertIn("space: all strategies are alike on average over the budget; they end 100.00% over the optimum<", text)
        self.assertNotIn("slower than what is shown", text)
        text = text_of(3, slow=9000, model=2000, local=2000)
        self.assertEqual(text.count('<path class="curve"'), 2 * 3)
        self.assertIn("space: model and local are alike on average over the budget, and lowest; they end 100.00%", text)
        self.assertIn("</span>slow (slower than what is shown)<", text)
        self.assertIn("space: local is lowest on average over the budget, and ends 50.00% over", text_of(3, model=2000, local=1500))
        text = text_of(1, model=2000)  # of one draw there is no line
        self.assertEqual(text.count('<circle class="dot"'), 2 * 2)
        self.assertNotIn("slower than what is shown", text)

    def test_a_title_names_each_kind_once(self) -> None:
        text = self.page(self.comparison_csv(), self.write_rows("again.csv", [comparison_row("same", "a", 1.0)]), self.run_csv())
        self.assertIn("<title>fusebench: comparison, op</title>", text)

    def test_a_problem_breaks_behind_its_commas(self) -> None:
        problems = ("n=1,c=2", "n=2,c=<b>")
        text = self.page(self.write_rows("two.csv", [run_row("a", 3000, problem=problem) for problem in problems]))
        self.assertIn("<li>op on cuda at n=1,<wbr>c=2: a, 3 µs, is", text)
        self.assertIn("n=2,<wbr>c=&lt;b&gt; · driver", text)

    def test_of_two_problems_the_verdict_says_which(self) -> None:
        text = self.page(self.write_rows("two.csv", [run_row("a", 3000), run_row("b", 2000, problem="n=2")]))
        self.assertIn("<li>op on cuda at n=1: a, 3 µs", text)
        self.assertIn("<li>op on cuda at n=2: b, 2 µs", text)

    def test_a_small_rate_is_not_rounded_to_nothing(self) -> None:
        text = self.page(self.write_rows("run.csv", [run_row(f"v{i}", 3000 + i, throughput_gbps=gbps)
                                                     for i, gbps in enumerate((0.0412, 0.4, 1.234, 9.97, 12.4, 4227.6))]))
        cells = re.findall(r'<td class="number" data-value="([^"]+)">([^<]+)<', text)
        self.assertEqual([shown for value, shown in cells if value in ("0.0412", "0.4", "1.234", "9.97", "12.4", "4227.6")],
                         ["0.041", "0.4", "1.2", "10", "12", "4228"])

    def test_of_fewer_than_5_samples_no_spread_is_shown(self) -> None:
        text = self.page(self.write_rows("run.csv", [run_row(f"v{n}", 2000 + n, q1_ns=1000, q3_ns=3000 + n, samples=n) for n in (1, 4, 5)]))
        column = re.findall(r"<button>([^<]+)</button>", text).index("spread")
        rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", text)]
        self.assertEqual([cells[column] for cells in rows], ["-", "-", "100.0%"])

    def test_a_bars_length_is_its_time_and_what_is_too_far_apart_for_bars_is_dots(self) -> None:
        near = self.page(self.write_rows("near.csv", [run_row("a", 3000), run_row("b", 12000), run_row("c", 29000)]))
        self.assertIn("bars begin at 0", near)
        bars = [float(x) for x in re.findall(r'<rect class="bar" style="[^"]*" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', near)]
        self.assertEqual(len(bars), 6)  # for a desk and for a phone
        for a, b, c in (bars[:3], bars[3:]):
            self.assertAlmostEqual(b / a, 4, delta=0.05)
            self.assertAlmostEqual(c / a, 29 / 3, delta=0.05)
        far = self.page(self.write_rows("far.csv", [run_row("a", 3000), run_row("b", 12000), run_row("c", 31000)]))
        self.assertIn("the axis is logarithmic", far)
        self.assertNotIn('class="bar"', far)
        dots = [float(x) for x in re.findall(r'<circle class="dot edged" style="[^"]*" cx="([\d.]+)"', far)]
        self.assertEqual(len(dots), 6)
        for a, b, c in (dots[:3], dots[3:]):
            self.assertAlmostEqual((b - a) / (c - a), math.log(4) / math.log(31 / 3), delta=0.01)

    def test_the_verdict_is_that_of_the_file(self) -> None:
        for rows, kind, words in (([("slower", 1.1)], "bad", "Regressed: 1 slower"), ([("newly wrong", "")], "bad", "Regressed: 1 newly"),
                                  ([("same", 1.0), ("ambiguous", 1.1)], "good", "Nothing slower"), ([("ambiguous", 1.1)], "doubt", "No verdict"),
                                  ([("gone", "")], "doubt", "No verdict")):
            text = self.page(self.write_rows("c.csv", [comparison_row(verdict, "v", ratio) for verdict, ratio in rows]))
            self.assertIn(f'<div class="verdict {kind}"><strong>{words}', text, rows)
        control = comparison_row("slower", "copy", 1.1, operator="control")
        text = self.page(self.write_rows("c.csv", [comparison_row("same", "v", 1.0), control]))
        self.assertIn('<div class="verdict good">', text)
        self.assertIn("the machine drifted: the control copy became slower", text)
        self.assertIn('<div class="verdict bad"><strong>1 did not pass', self.page(self.run_csv()))
        self.assertIn("<strong>Everything that ran is right", self.page(self.peers_csv()))
        self.assertIn("1 did not pass", self.page(self.write_rows("untimed.csv", [run_row("a", "", outcome="wrong")])))

    def test_a_trace_has_a_row_a_variant_and_of_two_each_has_its_plot(self) -> None:
        text = self.page(self.trace_json())
        for words in ("<strong>Trace of 3 variants in trace.json<", ">queued<", "host 279 µs ahead, moved to 0", ">busy<", "host 50 µs ahead<",
                      ">slow<", "op on cuda at n=1: 100 µs (queued) to 150 µs (busy)<", "<h3>other</h3>", '<figure id="trace">'):
            self.assertIn(words, text)
        # As its file has them, packed or not, beside CSVs.
        packed = usual().write(self.folder / "again.json.gz")
        self.assertEqual(re.findall('<figure id="(trace[^"]*)"', self.page(packed, self.run_csv(), self.trace_json())), ["trace.0", "trace.1"])

    def test_the_historys_verdict_is_that_of_its_change_points(self) -> None:
        text = self.page(self.history_csv())
        self.assertIn("History of machine: 1 series slower now" if HAS_OTAVA else "no change points were looked for", text)
        self.assertIn("now 2<", text)  # where the driver changed

    def test_names_are_no_markup(self) -> None:
        text = self.everything()
        self.assertNotIn(NASTY, text)
        self.assertIn("&lt;b&gt;&amp;&quot;&#x27;&lt;/b&gt;", text)

    def test_bad_input_is_one_line_and_code_2_and_an_earlier_page_stays(self) -> None:
        run, comparison = self.run_csv(), self.comparison_csv()
        self.html.write_text("precious")
        torn, wordy = self.folder / "torn.csv", self.folder / "wordy.csv"
        torn.write_text(comparison.read_text()[:-3])
        wordy.write_text(comparison.read_text().replace(",1.1,", ",nan,"))
        counters, muddled = self.counters_csv(), self.folder / "muddled.csv"
        muddled.write_text(counters.read_text().replace(",4000000000,", ",many,"))
        for arguments, words in (([run], ["--html"]),
                                 ([run, "--out", self.folder / "plots", "--png", self.folder], ["--png needs --html FILE beside it"]),
                                 ([self.trace_json(), "--png", self.folder], ["--png needs --html FILE beside it"]),
                                 ([self.trace_json(), "--out", self.folder / "plots"], ["trace.json", "--html FILE --png DIR makes pictures"]),
                                 ([torn, "--html", self.html], ["torn.csv", "cut off"]),
                                 ([wordy, "--html", self.html], ["wordy.csv:3", "'nan'"]),
                                 ([comparison, "--html", comparison], ["this would replace", "comparison.csv"]),
                                 ([run, "--html", self.folder / "no/page.html"], ["its folder is missing"]),
                                 ([comparison, "--html", self.html, "--with", run], ["--with"]),
                                 ([comparison, "--out", self.folder / "plots"], ["comparison.csv", "--html FILE --png DIR makes pictures"]),
                                 ([counters, "--html", self.html], ["ncu.csv", "that run's CSV"]),
                                 ([run, counters, "--out", self.folder / "plots"], ["ncu.csv", "--html"]),
                                 ([run, muddled, "--html", self.html], ["muddled.csv:2", "moved_bytes", "'many'"]),
                                 ([self.folder / "absent.csv", "--html", self.html], ["absent.csv"])):
            with self.subTest(arguments=arguments):
                result = self.report(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)
        self.assertEqual(self.html.read_text(), "precious")
        self.assertFalse((self.folder / "plots").exists())

    def test_our_files_that_are_not_drawn_are_named_with_what_takes_them(self) -> None:
        h200 = ROOT / "results/baselines/h200"
        for name, words in (("trace_sums.csv", "holds sums of profile --trace-csv, which report does not draw; give the trace"),
                            ("exhaustive.csv", "is of scripts/exhaust; scripts/table prints it"),
                            ("residual_epilogue.samples.csv", "holds samples, which are drawn with their run"),
                            ("replayed.csv", "is the table of tune --replay, which report does not draw; give its .curves.csv")):
            with self.subTest(name=name):
                self.assert_one_clear_line(self.report(h200 / name, "--html", self.html), f"{h200 / name} {words}")
        self.assert_one_clear_line(self.report(self.run_csv(), "--with", h200 / "ncu.csv", "--html", self.html),
                                   "ncu.csv holds counters of scripts/profile ncu; --with takes the CSV of a run")

    def roofline_of(self, *arguments: object) -> tuple[str, list[dict[str, str]]]:
        text = self.page(*arguments)
        packed = re.search(r'download="roofline.cuda.csv" href="data:text/csv;base64,([^"]+)"', text)
        return text, list(csv.DictReader(io.StringIO(base64.b64decode(packed[1]).decode()))) if packed else []

    def test_a_roofline_has_rates_over_flops_a_byte_under_the_runs_own_controls(self) -> None:
        text, rows = self.roofline_of(self.work_csv(), self.counters_csv())
        self.assertEqual(len(rows), 30)
        by_name = {row["variant"]: row for row in rows}
        sparse, dense = by_name["variant_3_of_sparse"], by_name["variant_0_of_dense"]
        self.assertEqual((sparse["flop_per_useful_byte"], sparse["flop_per_s"], sparse["percent_of_roof"]), ("0.5", "250000000000", "25"))
        self.assertEqual((dense["flop_per_useful_byte"], dense["flop_per_s"], dense["percent_of_roof"]), ("50", "50000000000000", "100"))
        self.assertEqual((dense["memory_roof"], dense["memory_roof_bytes_per_s"], dense["compute_roof_flop_per_s"]),
                         ("fill", "2000000000000", "50000000000000"))
        # Joined though a configuration is spelled otherwise in a range's name; what was not counted has no place.
        self.assertEqual((dense["moved_bytes"], dense["flop_per_moved_byte"]), ("4000000000", "12.5"))
        self.assertEqual((by_name["variant_1_of_dense"]["moved_bytes"], sparse["flop_per_moved_byte"]), ("", ""))
        self.assertIn("by the bytes that it moved", text)
        self.assertIn("long scoreboard 45%", text)
        self.assertNotIn("Without a ring", text)

    def test_what_was_counted_of_another_configuration_than_the_runs_is_named(self) -> None:
        counters = self.counters_csv()
        counters.write_text(counters.read_text().replace("variant_0_of_dense,k=a_b", "variant_0_of_dense,k=other"))
        text, rows = self.roofline_of(self.work_csv(), counters)
        self.assertEqual({row["moved_bytes"] for row in rows}, {""})
        self.assertIn("no time that it shows is of this configuration: variant_0_of_dense k=other.", text)

    def test_what_was_counted_of_operators_that_the_page_does_not_have_is_left_out(self) -> None:
        counters = self.counters_csv()
        lines = counters.read_text().splitlines(keepends=True)
        counters.write_text("".join([*lines, lines[1].replace("dense", "foreign")]))
        text, _ = self.roofline_of(self.work_csv(), counters)
        self.assertIn("<h2>What ncu counted</h2>", text)
        self.assertNotIn("foreign", text)
        self.assertNotIn("Without a ring", text)
        counters.write_text("".join([lines[0], lines[1].replace("dense", "foreign")]))
        self.assertIn("Nothing of the operators that are shown", self.roofline_of(self.work_csv(), counters)[0])

    def test_a_run_without_fma_has_memorys_roof_and_one_without_flops_no_roofline(self) -> None:
        text, rows = self.roofline_of(self.work_csv(fma=False))
        self.assertEqual({row["compute_roof"] + row["compute_roof_flop_per_s"] for row in rows}, {""})
        self.assertIn("no control fma", text)
        self.assertNotIn("by the bytes that it moved", text)
        text, rows = self.roofline_of(self.work_csv(flops=False))
        self.assertEqual(rows, [])
        self.assertNotIn("oofline", text.partition("</style>")[2])

    def test_names_stand_beside_strips_that_are_far_apart_and_below_those_that_are_not(self) -> None:
        text, _ = self.roofline_of(self.work_csv())
        self.assertEqual(text.count('class="leader"'), 30)  # on a page; on a phone none
        near = self.work_csv()
        near.write_text(near.read_text().replace(",500000000\n", ",49000000000\n"))
        text, rows = self.roofline_of(near)
        self.assertEqual({row["flop_per_useful_byte"] for row in rows}, {"49", "50"})
        self.assertNotIn('class="leader"', text)
        for row in rows:
            listed = rf'<text class="label" x="37.0" y="[\d.]+" text-anchor="start">{row["variant"]}</text>'
            self.assertEqual(len(re.findall(listed, text)), 2, row["variant"])  # on a page and on a phone

    def test_names_beside_a_strip_are_a_line_apart_in_order_and_within_the_plot(self) -> None:
        for wanted in ([5.0] * 15, [0.0, 100.0, 100.5, 101.0, 200.0], [199.0, 199.5, 200.0], [10.0, 50.0], []):
            places = page_roofline.spread_out(wanted, 10, 0, 200)
            self.assertEqual(len(places), len(wanted))
            self.assertTrue(all(b - a >= 10 - 1e-9 for a, b in zip(places, places[1:])), places)
            self.assertTrue(all(-1e-9 <= place <= 200 + 1e-9 for place in places), places)
        self.assertEqual(page_roofline.spread_out([10.0, 50.0], 10, 0, 200), [10, 50])
        self.assertEqual(page_roofline.spread_out([100.0, 100.0], 10, 0, 200), [95, 105])

    def test_names_beside_a_strip_are_clear_of_the_roofs(self) -> None:
        text, _ = self.roofline_of(self.work_csv())
        wide = re.search(r'<figure id="roofline.cuda">.*?</svg>', text, re.DOTALL)[0]
        roofs = [tuple(map(float, found)) for found in
                 re.findall(r'<line class="strong"[^>]* x1="([^"]+)" y1="([^"]+)" x2="([^"]+)" y2="([^"]+)"', wide)]
        names = [(float(x), float(y), name) for x, y, name in
                 re.findall(r'<text class="(?:label|note) bare" x="([^"]+)" y="([^"]+)"[^>]*>([^<]+)<', wide)]
        self.assertEqual((len(roofs), len(names)), (2, 32))  # with the operators'
        for x, y, name in names:
            for x1, y1, x2, y2 in roofs:
                for step in range(101):
                    at = (x1 + (x2 - x1) * step / 100, y1 + (y2 - y1) * step / 100)
                    inside = x <= at[0] <= x + len(name) * page_roofline.SMALL and y - 9 <= at[1] <= y + 3
                    self.assertFalse(inside, (name, at))

    def test_names_stand_on_the_side_of_a_bar_that_they_are_nearer_to_and_a_heading_is_not_parted(self) -> None:
        around = page_roofline.spread_around
        self.assertEqual(around([10, 30, 98, 103, 150], 10, 0, 200, 100, False), [10, 30, 92, 109, 150])
        self.assertEqual(around([95, 100, 150], 10, 0, 200, 100, False), [82, 92, 150])
        self.assertEqual(around([10, 30, 150], 10, 0, 200, 100, True), [109, 119, 150])
        self.assertEqual(around([10, 30], 10, 0, 200, None, False), [10, 30])
        self.assertIsNone(around([10.0] * 12, 10, 0, 200, 100, True))

    def test_ticks_are_round_in_range_and_not_too_many(self) -> None:
        for low, high in ((0, 1), (-3.7, 9.1), (99.5, 100.5), (1e-9, 2e-9), (-50, 150)):
            for most in (2, 5, 12):
                ticks = svg.linear_ticks(low, high, most)
                self.assertTrue(1 <= len(ticks) <= most, (low, high, most, ticks))
                self.assertTrue(all(low - 1e-9 <= t <= high + 1e-9 for t in ticks), (low, high, ticks))
        for low, high in ((1, 10), (120, 25000), (0.3, 3e6), (100, 103)):
            ticks = svg.log_ticks(low, high, 6)
            self.assertTrue(2 <= len(ticks) <= 6 and all(low <= t <= high for t in ticks), (low, high, ticks))


@unittest.skipUnless(CHROMIUM and DRIVER and HAS_SELENIUM, "no chromium, chromedriver or Selenium; scripts/setup --browser installs them")
class Browser(Case):
    def setUp(self) -> None:
        super().setUp()
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        # A container has no room for its sandbox, nor for much shared memory.
        for word in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", f"user-data-dir={self.folder / 'profile'}"):
            options.add_argument(f"--{word}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": str(self.folder / "downloads")})
        self.browser = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.addCleanup(self.browser.quit)

    def look(self, width: int, **features: str) -> None:
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 700})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": features.pop("media", ""),
            "features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})
        self.browser.get(self.html.as_uri())

    def ask(self, script: str) -> object:
        return self.browser.execute_script(f"return {script}")

    def test_it_logs_nothing_and_every_plot_has_ink_on_a_desk_a_phone_and_paper_by_day_and_night(self) -> None:
        figures = self.everything().count("<figure ")
        grounds = set()
        for width in (1200, 720, 375):  # 720: paper
            for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "light")):
                with self.subTest(width=width, media=media, scheme=scheme):
                    self.look(width, media=media, prefers_color_scheme=scheme)
                    grounds.add((scheme, self.ask("getComputedStyle(document.body).backgroundColor")))
                    boxes = self.ask("[...document.querySelectorAll('figure')].flatMap((f, i) => [...f.querySelectorAll('svg')].map(s => "
                                     "[i, s.getBoundingClientRect()])).filter(([i, b]) => b.width > 0).map(([i, b]) => [i, b.width, b.height])")
                    self.assertEqual({i for i, *_ in boxes}, set(range(figures)))
                    self.assertEqual(len(boxes), figures + 1)  # a trace has one for each operator
                    self.assertTrue(all(w > 0.8 * min(width, 700) and h > 40 for _, w, h in boxes), boxes)
                    self.assertTrue(self.ask("[...document.querySelectorAll('figure svg')].every(s => "
                                             "s.querySelectorAll('.bar,.peer,.dot,.hump,.curve').length > 0)"))
                    if media == "screen" or width >= 720:
                        self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)
        self.assertEqual(len(grounds), 2)
        self.assertEqual(self.browser.get_log("browser"), [])

    def long_trace(self, operator: str, variants: list[str], series: list[dict[str, str]]) -> Path:
        """Each variant at each of the series, with kernels of long names."""
        made_up = MadeUpTrace()
        for i, (name, more) in enumerate([(name, more) for name in variants for more in series]):
            at = 1000.0 * i
            made_up.variant(name, at, 100, operator, more["problem"], more["configuration"])
            made_up.call(at + 1, 40)
            for j in range(4):
                made_up.launch(at + 2 + 3 * j, f"void {variants[0]}::a_kernel_of_a_long_name_{j}<{variants[0]}>(float*)", at + 200 + 50 * j, 45 + j)
        return made_up.write(self.folder / "a_trace_of_a_long_name_of_two_operators_on_a_machine_far_away.json")

    def test_long_names_are_no_wider_than_a_phone(self) -> None:
        """Each kind of section, with names as long as ours are, and longer words than a line holds."""
        operator, variant = "residual_epilogue_of_everything", "cuda_wgmma_bf16x3_persistent_pingpong_unfused"
        problems = [f"n={n},ci=32,co=64,d=16,h=32,w=32,k=3,s=2,p=1,op=1" for n in (1, 16)]
        longs = [dict(operator=operator, problem=problem, configuration="tile=128,stages=4,store=streaming,order=swizzled")
                 for problem in problems]
        run = self.write_rows("a_run_of_a_night_with_a_long_name.csv", [
            run_row(name, 3000 + r, replica=r, flops=10**9, **more) for more in longs for name in (variant, variant + "_2") for r in (0, 1)]
            + [run_row("fill", 2000, operator="control", problem=problem, flops=0) for problem in problems]
            + [run_row("broken", "", outcome="wrong", reason="x" * 90, **longs[0])])
        comparison = self.write_rows("comparison_of_two_nights_with_a_long_name_indeed.csv", [
            comparison_row(verdict, variant, ratio, reason=reason, **more)
            for verdict, ratio, reason in (("slower", 1.2, ""), ("newly wrong", "", "y" * 90)) for more in longs])
        machine, space = self.history_csv(), self.curves_csv()
        long_machine = machine.with_name("a_machine_of_eight_h200_in_a_rack_far_away_behind_a_long_name.csv")
        long_machine.write_text(machine.read_text().replace(",creeps,", f",{variant},"))
        space.write_text(space.read_text().replace("\nspace,", "\ndedispersion_of_many_channels_on_A100_with_all_parameters,"))
        counters = self.write_rows("ncu.csv", [dict.fromkeys(ncu.COLUMNS, "") | longs[0] | {
            "variant": variant, "device": "cuda", "kernels": 1, "moved_bytes": 10**7}])
        trace = self.long_trace(operator, [variant, variant + "_2"], longs)
        everything = [run, comparison, long_machine, space, counters, trace]
        for files in ([run], [run, counters], [comparison], [long_machine], [space], [trace], everything):
            text = self.page(*files)
            self.assertIn("<figure ", text)
            for width in (390, 320):
                self.look(width)
                with self.subTest(files=[file.name for file in files], width=width):
                    self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)

    def test_tables_show_all_columns_at_1280_pixels(self) -> None:
        more = dict(operator="conv_transpose3d_residual", problem="n=16,ci=32,co=64,d=16,h=32,w=32,k=3,s=2,p=1,op=1")
        names = (("cuda_wgmma_bf16x3_persistent", "tile=128,stages=4,store=streaming,order=swizzled,keep_x=1"),
                 ("cudnn_transpose_epilogue_tf32", "plan=0"))
        comparison = [comparison_row("slower", name, 1.02, configuration=configuration, **more) for name, configuration in names]
        comparison += [comparison_row("same", "copy", 1.0, **more | {"operator": "control"})]
        run = self.write_rows("run.csv", [
            run_row(name, ns, configuration=configuration, max_abs_error=4.2e-3, bit_equal_percent=28.77, ceiling_percent=82.8, **more)
            for ns, (name, configuration) in zip((3000, 9000), names)] + [run_row("x_unfused", 10000, **more)])
        reason = "1 replica before and 1 after, 8 a side are needed"
        trace = self.long_trace(more["operator"], [names[0][0]], [{"problem": more["problem"], "configuration": names[0][1]}])
        for files in ([self.write_rows("plain.csv", comparison)], [self.write_rows("reasons.csv", [{**comparison[0], "reason": reason}])],
                      [run], [trace]):
            self.page(*files)
            self.look(1280)
            with self.subTest(file=files[0].name):
                sizes = self.ask("[...document.querySelectorAll('.scroll')].map(s => [s.scrollWidth, s.clientWidth])")
                self.assertEqual(len(sizes), 1)
                self.assertLessEqual(*sizes[0])
                self.assertIn(names[0][1], self.ask("document.querySelector('tbody').textContent"))  # whole, though it is broken
                self.look(390)
                heights = self.ask("[...document.querySelectorAll('td:not(.wordy)')].map(d => d.firstChild ? [...d.childNodes].flatMap(n => {"
                                   " const r = document.createRange(); r.selectNodeContents(n);"
                                   " return [...r.getClientRects()].map(b => Math.round(b.top)); }) : []).map(t => new Set(t).size)")
                self.assertEqual(max(heights), 1)  # lines of a cell, where the table is scrolled

    def test_no_text_of_a_plot_is_cut_off_or_smaller_than_9_pixels(self) -> None:
        self.everything()
        for width in (1200, 375):
            self.look(width)
            bad = self.ask("[...document.querySelectorAll('figure svg text')].filter(t => t.getBoundingClientRect().width).filter(t => {"
                           " const s = t.ownerSVGElement.getBoundingClientRect(), b = t.getBoundingClientRect();"
                           " const size = parseFloat(getComputedStyle(t).fontSize) * s.width / t.ownerSVGElement.viewBox.baseVal.width;"
                           " return b.left < s.left - 1 || b.right > s.right + 1 || size < 9; }).map(t => t.textContent)")
            self.assertEqual(bad, [], width)

    def test_a_click_sorts_a_table_by_numbers_or_words_and_a_second_one_the_other_way(self) -> None:
        self.page(self.run_csv(), "--with", self.peers_csv())
        self.look(1200)

        def shown(column: str) -> list[str]:
            self.browser.execute_script("[...document.querySelectorAll('th button')].find(b => b.textContent === arguments[0])"
                                        ".click()", column)
            return self.ask("[...document.querySelector('tbody').rows].map(r => r.cells[0].textContent)")

        a, peer, nasty, b, copy = "a", "torch (peer)", NASTY, "b", "copy"
        self.assertEqual(shown("median"), [copy, a, peer, nasty, b])
        self.assertEqual(shown("median"), [b, nasty, peer, a, copy])
        self.assertEqual(shown("of floor"), [a, peer, nasty, b, copy])  # a control has none, and stays last
        self.assertEqual(shown("of floor"), [b, nasty, peer, a, copy])
        self.assertEqual(self.ask("document.querySelectorAll('th[aria-sort]').length"), 1)
        self.assertEqual(shown("variant")[-4:], [a, b, copy, peer])

    def test_a_plots_data_is_downloaded(self) -> None:
        self.page(self.comparison_csv())
        self.look(1200)
        self.browser.find_element("css selector", "a.download").click()
        from selenium.webdriver.support.ui import WebDriverWait

        path = self.folder / "downloads/comparison.0.ratios.csv"
        WebDriverWait(self.browser, 30).until(lambda _: path.is_file())
        with path.open() as file:
            self.assertEqual([row["variant"] for row in csv.DictReader(file)], ["s", "t", "f"])

    def test_its_plots_come_as_pictures(self) -> None:
        text = self.page(self.comparison_csv(), self.run_csv(), self.trace_json(), "--png", self.folder / "png")
        names = sorted(path.name for path in (self.folder / "png").iterdir())
        self.assertEqual(names, ["comparison.0.ratios.png", "op.cuda.samples.png", "op.cuda.times.png", "trace.png"])
        self.assertEqual(len(names), text.count("<figure "))
        for name in names:
            data = (self.folder / "png" / name).read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            width, height = (int.from_bytes(data[i:i + 4], "big") for i in (16, 20))
            self.assertTrue(width > 1600 and height > 150, (name, width, height))

    def test_no_two_names_of_a_roofline_lie_on_each_other(self) -> None:
        self.page(self.work_csv(), self.counters_csv())
        for width in (1200, 375):
            self.look(width)
            boxes = self.ask("[...document.querySelectorAll('[id=\"roofline.cuda\"] svg')].filter(s => s.getBoundingClientRect().width)"
                             ".flatMap(s => [...s.querySelectorAll('text.label')]).map(t => [t.textContent, t.getBoundingClientRect()])"
                             ".map(([t, b]) => [t, b.left, b.top, b.right, b.bottom])")
            self.assertEqual(len([b for b in boxes if "variant_" in b[0]]), 30, width)
            # Of a line's height, two thirds are letters.
            covered = [(a[0], b[0]) for i, a in enumerate(boxes) for b in boxes[:i]
                       if min(a[3], b[3]) > max(a[1], b[1]) and min(a[4], b[4]) - max(a[2], b[2]) > 0.34 * (a[4] - a[2])]
            self.assertEqual(covered, [], width)

    def test_screenshots_for_a_person_to_look_at(self) -> None:
        out = os.environ.get("FUSEBENCH_SCREENSHOTS")
        if not out:
            self.skipTest("FUSEBENCH_SCREENSHOTS names no folder")
        self.everything()
        for width in (1200, 375):
            for scheme in ("light", "dark"):
                self.look(width, prefers_color_scheme=scheme)
                height = self.ask("document.documentElement.scrollHeight")
                shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
                    "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
                (Path(out) / f"report.{scheme}.{width}.png").write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    outcome = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False).result
    if outcome.testsRun == len(outcome.skipped) > 0:
        print("SKIPPED:", outcome.skipped[0][1])  # CTest reads this
    sys.exit(not outcome.wasSuccessful())
