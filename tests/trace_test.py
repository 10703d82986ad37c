#!/usr/bin/env python3
"""Reading and drawing of a trace by scripts/report. Usage: trace_test.py ROOT. Catches a kernel that is given to another call than
the one that launched it, overlapping kernels on one lane, a length that is not to its axis's scale, and a torn file that is drawn.
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

from folder_case import FolderCase  # noqa: E402
from fusebench_tools import page_trace, profiling, records, trace  # noqa: E402
from made_up_trace import TEMPLATE, MadeUpTrace, usual  # noqa: E402


def slice_of(start: int, end: int, track: str = "stream 7") -> trace.Slice:
    return trace.Slice("kernel", "k", track, start, end)


class Reader(FolderCase):
    def read(self, made_up: MadeUpTrace, name: str = "trace.json") -> list[trace.Call]:
        return trace.read(made_up.write(self.folder / name)).calls

    def test_a_call_has_its_own_work_and_its_times(self) -> None:
        queued, busy, slow = self.read(usual())
        self.assertEqual([call.key for call in (queued, busy, slow)],
                         [("op", "queued", "default", "n=1", "cuda"), ("op", "busy", "default", "n=1", "cuda"),
                          ("other", "slow", "default", "n=2,c=64", "cuda")])
        self.assertEqual(queued.iteration, 1)
        self.assertEqual([(s.name, s.track, s.start_ns, s.ns) for s in queued.work],
                         [("pack", "stream 7", 300000, 10000), (TEMPLATE, "stream 7", 305000, 95000)])
        self.assertEqual((queued.span_ns, queued.ahead_ns, queued.idle_ns), (100000, 279000, 0))
        self.assertEqual((busy.span_ns, busy.ahead_ns, busy.idle_ns), (150000, 50000, 50000))
        self.assertEqual([len(call.arrows) for call in (queued, busy, slow)], [2, 3, 1])
        self.assertEqual([(source.start_ns, target.start_ns) for source, target in queued.arrows], [(22000, 300000), (25000, 305000)])

    def test_work_of_the_warm_up_that_runs_late_is_not_the_measured_calls(self) -> None:
        made_up = MadeUpTrace()
        for phase, at, start in (("warmup", 0, 100), ("measure", 50, 300)):  # both are iteration 0
            made_up.variant("v", at, 40, phase=phase)
            made_up.call(at + 1, 10)
            made_up.launch(at + 2, phase, start, 150, variant="v", iteration=0)
        call, = self.read(made_up)
        self.assertEqual([s.name for s in call.work], ["measure"])

    def test_all_work_of_a_graphs_launch_is_its_calls(self) -> None:
        made_up = MadeUpTrace()
        for at, start in ((0, 100), (50, 300)):
            made_up.variant("v", at, 40)
            made_up.call(at + 1, 10)
            made_up.launch(at + 2, f"first {start}", start, 10, variant="v", iteration=0)
            made_up.work(f"second {start}", start + 10, 10, variant="v", iteration=0)  # an arrow leads to the first alone
        call, = self.read(made_up)
        self.assertEqual([s.name for s in call.work], ["first 300", "second 300"])
        self.assertEqual(len(call.arrows), 1)

    def test_an_arrow_is_enough_and_what_has_neither_arrow_nor_arguments_is_nobodys(self) -> None:
        made_up = MadeUpTrace()
        made_up.variant("v", 0, 100)
        made_up.host("cuMemcpyHtoD", 1, 1, "api")  # before the call
        made_up.call(10, 20)
        made_up.host("cuCtxGetCurrent", 11, 1, "api")  # launches nothing
        made_up.launch(12, "mine", 50, 10)
        made_up.work("whose", 60, 10)
        made_up.launch(90, "after the call", 95, 10, variant="v", iteration=0)
        made_up.host("call", 200, 10)  # of a control: no variant's range is around it
        call, = self.read(made_up)
        self.assertEqual([s.name for s in call.work], ["mine"])
        self.assertEqual([s.name for s in call.api], ["cuLaunchKernel"])
        self.assertEqual(call.iteration, 0)

    def test_a_call_without_work_lasts_as_long_as_on_the_host(self) -> None:
        made_up = MadeUpTrace()
        made_up.variant("v", 0, 100)
        made_up.call(10, 20.125)
        call, = self.read(made_up)
        self.assertEqual((call.work, call.span_ns, call.ahead_ns), ([], 20125, 0))

    def test_each_configuration_and_problem_is_a_variant_of_its_own(self) -> None:
        made_up = MadeUpTrace()
        for i, (configuration, problem) in enumerate((("k=1", "n=1"), ("k=2", "n=1"), ("k=1", "n=2"))):
            made_up.variant("v", 100 * i, 50, configuration=configuration, problem=problem)
            made_up.call(100 * i + 1, 10)
            made_up.launch(100 * i + 2, f"{configuration} {problem}", 100 * i + 20, 10, variant="v", iteration=0)
        self.assertEqual([[s.name for s in call.work] for call in self.read(made_up)], [["k=1 n=1"], ["k=2 n=1"], ["k=1 n=2"]])

    def test_the_order_of_events_does_not_matter_nor_whether_the_file_is_packed(self) -> None:
        def told(calls: list[trace.Call]) -> list[tuple[object, ...]]:
            return sorted((call.key, call.span_ns, call.ahead_ns, [s.name for s in call.work], len(call.arrows)) for call in calls)

        expected = told(self.read(usual()))
        self.assertEqual(told(self.read(usual(), "trace.json.gz")), expected)
        seed = random.SystemRandom().randrange(2**32)
        print("seed", seed)
        shuffled = usual()
        random.Random(seed).shuffle(shuffled.groups)
        self.assertEqual(told(self.read(shuffled)), expected, seed)

    def test_nothing_overlaps_on_a_lane_and_streams_share_none(self) -> None:
        a, b, c, d = slice_of(0, 10), slice_of(5, 20), slice_of(10, 15), slice_of(15, 15)
        other = slice_of(1, 2, "stream 9")
        self.assertEqual(trace.lanes_of([d, other, c, b, a]), [[a, c, d], [b], [other]])
        self.assertEqual(trace.lanes_of([]), [])

    def test_a_functions_name_is_what_is_left_of_its_declaration(self) -> None:
        for name, short in ((TEMPLATE, "f"), ("void a::b<c::d<int>, (e::g)2>::run<float>(h*) const", "run"), ("pack", "pack"),
                            ("void (anonymous namespace)::k<1>(int)", "k"), ("memcpy host to device", "memcpy host to device"),
                            ("a<b", "a<b"), ("a>b", "a>b"), ("<b>", "<b>"), ("", ""), ("()", "()"), ("S::operator()(int)", "operator")):
            self.assertEqual(trace.short_name(name), short, name)

    def test_the_committed_trace_has_as_many_kernels_a_call_as_its_sums(self) -> None:
        folder = ROOT / "results/baselines/h200"
        kernels = {call.key: sum(s.kind == "kernel" for s in call.work) for call in trace.read(folder / "trace.json").calls}
        with (folder / "trace_sums.csv").open(newline="") as file:
            sums = {tuple(row[name] for name in profiling.KEY): int(row["launches"]) / int(row["iterations"]) for row in csv.DictReader(file)
                    if row["operator"] != "control"}
        self.assertGreater(len(sums), 1)
        self.assertEqual(kernels, sums)


class Refusals(FolderCase):
    def test_what_is_no_trace_is_refused_in_one_line_and_replaces_nothing(self) -> None:
        html = self.folder / "page.html"
        html.write_text("precious")
        whole = usual().write(self.folder / "whole.json").read_text()
        packed = usual().write(self.folder / "whole.json.gz").read_bytes()
        empty = MadeUpTrace()
        empty.work("alone", 1, 2)
        slice_ = {"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 0, "dur": 1}
        bad = {"text.json": whole[:-9], "half.json": whole[: len(whole) // 2], "nothing.json": "", "words.json": "hello", "number.json": "7",
               "run.json": '{"schema_version": 1, "records": []}', "latin.json": b'{"\xff": 1}', "deep.json": "[" * 100000,
               "calls.json": json.dumps(empty.document()), "no_calls.json": '{"traceEvents": []}', "list.json": "[]",
               "event.json": '{"traceEvents": [7]}', "no_events": '{"a": 1}', "cut.json.gz": packed[:-20], "header.json.gz": packed[:5],
               "other.gz": b"\x1f\x8b" + b"x" * 40}
        for name, value in (("nan", float("nan")), ("word", "soon"), ("truth", True), ("none", None), ("far", 1e300)):
            bad[f"{name}.json"] = json.dumps({"traceEvents": [slice_ | {"ts": value}]})
        for name, content in bad.items():
            with self.subTest(name=name):
                path = self.folder / name
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
                self.assert_one_clear_line(self.run_script(ROOT / "scripts/report", path, "--html", html), str(path))
        for arguments, word in ((["absent.json", "--html", html], "absent.json"), ([self.folder / "whole.json", "--out", self.folder], "--html"),
                                ([self.folder / "whole.json", "--html", self.folder / "whole.json"], "replace")):
            self.assert_one_clear_line(self.run_script(ROOT / "scripts/report", *arguments), word)
        self.assertEqual((html.read_text(), (self.folder / "whole.json").read_text()), ("precious", whole))

    def test_a_csv_is_no_trace(self) -> None:
        path = self.write_rows("x.csv", [{"a": 1}])
        self.assertFalse(trace.is_trace(path))
        self.assertTrue(trace.is_trace(usual().write(self.folder / "x.txt")))
        with self.assertRaises(records.BadFile):
            trace.read(path)


class Drawing(FolderCase):
    def rects(self, calls: list[trace.Call], width: int = 920) -> dict[str, tuple[float, float]]:
        """Left and right of each bar by its tip's first word."""
        text = str(page_trace.Plot(("op", "n=1", "cuda"), calls, width).drawing)
        found = re.findall(r'<rect class="bar[^"]*" style="[^"]*" x="([^"]+)" y="[^"]+" width="([^"]+)" height="[^"]+"><title>(\w+)', text)
        return {name: (float(x), float(x) + float(w)) for x, w, name in found}

    def calls(self, *lengths: float, host: float = 3, ahead: float = 0) -> list[trace.Call]:
        """Of one kernel each, whose host begins `ahead` us before."""
        made_up = MadeUpTrace()
        for i, length in enumerate(lengths):
            at = 1e6 * (i + 1)
            made_up.variant(f"v{i}", at - 1 - ahead, 1e5)
            made_up.call(at - ahead, host)
            made_up.launch(at - ahead, f"k{i}", at, length)
        return trace.read(made_up.write(self.folder / "t.json")).calls

    def test_calls_of_similar_length_share_an_axis_and_others_have_their_own(self) -> None:
        axes = page_trace.axes_of(self.calls(100, 400, 401, 50000, 150))
        self.assertEqual([[c.variant for c in axis.calls] for axis in axes], [["v0", "v4", "v1"], ["v2"], ["v3"]])

    def test_a_host_that_takes_longer_than_its_kernels_makes_no_others_small(self) -> None:
        calls = self.calls(10, 12, host=3) + self.calls(11, host=900, ahead=400)
        self.assertEqual([[c.span_ns for c in axis.calls] for axis in page_trace.axes_of(calls)], [[10000, 12000], [11000]])

    def test_bars_of_one_axis_are_to_scale(self) -> None:
        for width in (920, 380):
            rects = self.rects(self.calls(100, 300, 200), width)
            self.assertEqual(rects["k0"][0], rects["k1"][0])
            unit = rects["k0"][1] - rects["k0"][0]
            for name, times in (("k1", 3), ("k2", 2)):
                self.assertAlmostEqual((rects[name][1] - rects[name][0]) / unit, times, delta=0.02)

    def test_a_host_that_was_done_long_before_is_moved_and_said_to_be(self) -> None:
        call, = calls = self.calls(100, host=10, ahead=300)
        rects = self.rects(calls)
        self.assertEqual(rects["call"][0], rects["k0"][0])
        self.assertIn("host 300 µs ahead, moved to 0", page_trace.notes_of(call, False))
        self.assertEqual([line.split(",")[9] for line in page_trace.data_of(calls).splitlines()[1:]], ["-300000", "-300000", "0"])

    def test_a_host_that_works_while_the_gpu_does_is_where_it_was(self) -> None:
        call, = calls = self.calls(100, host=70, ahead=50)
        rects = self.rects(calls)
        unit = (rects["k0"][1] - rects["k0"][0]) / 100
        self.assertAlmostEqual((rects["k0"][0] - rects["call"][0]) / unit, 50, delta=0.5)
        self.assertAlmostEqual((rects["call"][1] - rects["k0"][0]) / unit, 20, delta=0.5)
        self.assertIn("host 50 µs ahead", page_trace.notes_of(call, False))

    def test_kernels_that_overlap_lie_on_lanes_of_their_own(self) -> None:
        queued = trace.read(usual().write(self.folder / "t.json")).calls[0]
        text = str(page_trace.Plot(("op", "n=1", "cuda"), [queued], 920).drawing)
        tops = re.findall(r'y="([^"]+)" width="[^"]+" height="17.0"', text)
        self.assertEqual(len(set(tops)), 2)
        self.assertIn(">f</text>", text)
        self.assertIn("<title>void f&lt;float, 3&gt;(int&amp;): 5 µs after the first work, takes 95 µs (stream 7)</title>", text)

    def test_a_name_has_a_margin_in_its_bar_and_one_of_several_bars_stands_under_them(self) -> None:
        made_up = MadeUpTrace()
        made_up.variant("v", 0, 2000)
        made_up.call(1, 30)
        for i in range(8):
            made_up.launch(2 + 2 * i, "alike", 100 + 50 * i, 49)
        made_up.launch(20, "a_name_" * 20, 500, 300)
        call, = trace.read(made_up.write(self.folder / "t.json")).calls
        for width in (920, 380):
            text = str(page_trace.Plot(("op", "n=1", "cuda"), [call], width).drawing)
            bars = [tuple(map(float, found)) for found in
                    re.findall(r'<rect class="bar slice"[^>]* x="([^"]+)" y="([^"]+)" width="([^"]+)" height="([^"]+)"', text)]
            self.assertEqual(len(bars), 9)
            x, y = map(float, re.search(r'<text class="note" x="([^"]+)" y="([^"]+)" text-anchor="start">8× alike<', text).groups())
            self.assertTrue(bars[0][0] <= x <= bars[0][0] + 6, (x, bars[0]))
            self.assertGreater(y - 9, bars[0][1] + bars[0][3])
            self.assertLess(y, float(re.search(r'viewBox="0 0 \d+ (\d+)"', text)[1]) - 34)  # above the axis's numbers
            inside, = re.findall(r'<text class="inside"[^>]*>([^<]+)<', text)
            self.assertTrue(inside.endswith("…"), inside)
            self.assertLessEqual(len(inside) * page_trace.LETTER, bars[-1][2] - 2 * page_trace.MARGIN)

    def test_of_many_calls_the_first_are_drawn_and_the_page_says_so(self) -> None:
        calls = self.calls(*range(100, 100 + page_trace.MOST_SHOWN + 5))
        text = page_trace.section(Path("t.json"), trace.Trace(calls), "trace")
        self.assertIn(f"The first {page_trace.MOST_SHOWN} of {len(calls)} are drawn", text)
        self.assertEqual(text.count("<tr><td"), len(calls))

    def test_lost_records_are_told(self) -> None:
        made_up = usual()
        document = made_up.document()
        document["otherData"]["dropped_records"] = 3
        path = self.folder / "t.json"
        path.write_text(json.dumps(document))
        text = page_trace.verdict(path, trace.read(path))
        self.assertIn('class="verdict doubt"', text)
        self.assertIn("3 records of the GPU are missing", text)


if __name__ == "__main__":
    sys.exit(not unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False).result.wasSuccessful())
