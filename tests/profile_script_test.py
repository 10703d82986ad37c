#!/usr/bin/env python3
"""scripts/profile with stand-ins for nsys, ncu and the program. Usage: profile_script_test.py ROOT. Catches a row that is no variant's, kernels of
one call that are not put together, a unit or a thousands separator misread, a failing tool that is not told in one line with what to
do, what it collected lost, and an earlier file replaced by half of one.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

from folder_case import FolderCase  # noqa: E402
from fusebench_tools import ncu, nsys, profiling  # noqa: E402

CONV = "conv_transpose3d_residual cuda_unfused plan=0,chunk=4 n=2,ci=4 cuda"
FLOAT4 = "residual_epilogue cuda_float4 block=128 n=1,c=64 cuda"
KEYS = {"conv": CONV, "float4": FLOAT4}

PROGRAM = """#!{python}
import json, os, sys
if sys.argv[1] == "list":
    if "--filter" in sys.argv and sys.argv[sys.argv.index("--filter") + 1] == "nothing":
        sys.exit(print("fusebench list: no variant matches --filter 'nothing'", file=sys.stderr) or 2)
    here = os.environ.get("NO_GPU") is None
    print(json.dumps([
        {{"operator": "conv_transpose3d_residual", "variant": "cuda_unfused", "problem": "n=2,ci=4", "useful_bytes": 1000, "flops": 64000,
          "available": here, "reason": "" if here else "no driver"}},
        {{"operator": "residual_epilogue", "variant": "cuda_float4", "problem": "n=1,c=64", "useful_bytes": 2000, "flops": 1000,
          "available": here, "reason": "" if here else "no driver"}}]))
else:
    print("a table of the program's own, \\"quoted\\"")
    sys.exit(int(os.environ.get("PROGRAM_CODE", "0")))
"""

# As nsys prints them; of the four reports by environment what MISSING names is skipped.
NSYS = """#!{python}
import json, os, pathlib, subprocess, sys, time
told = pathlib.Path(os.environ["TOLD"])
told.write_text((told.read_text() if told.exists() else "") + json.dumps(sys.argv[1:]) + "\\n")
fate = os.environ.get("FATE", "")
if sys.argv[1] == "profile":
    out = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
    command = sys.argv[sys.argv.index("-o") + 2:]
    if fate == "hangs":
        out.with_suffix(".qdstrm").write_bytes(b"half")
        print("collecting", flush=True)
        pathlib.Path(os.environ["TOLD"] + ".pid").write_text(str(os.getpid()))
        time.sleep(600)
    if fate == "refuses":
        sys.exit(print("unrecognised option '--capture-range-end=stop'") or 1)
    code = subprocess.run(command).returncode
    if fate == "no importer":
        out.with_suffix(".qdstrm").write_bytes(b"stream")
        print("Importer error status: The importer binary and its dependencies were not found.")
        sys.exit(1)
    if fate == "stream in the temporary folder":
        pathlib.Path(os.environ["TMPDIR"], "nsys-report-1234.qdstrm").write_bytes(b"stream")
        sys.exit(1)
    out.with_suffix(".nsys-rep").write_bytes(b"report")
    print("Generated:", out.with_suffix(".nsys-rep"))
    sys.exit(code)
report = sys.argv[sys.argv.index("--report") + 1]
if fate == report:
    sys.exit(print("ERROR: the .sqlite cannot be made", file=sys.stderr) or 1)
print("Generating SQLite file", flush=True)
if fate == "skips " + report:
    print("SKIPPED: profile.sqlite does not contain NV Tools Extension (NVTX) data.")
    sys.exit(0)
conv, float4 = {conv!r}, {float4!r}
heads = {{
    "nvtx_gpu_proj_sum": "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Total GPU Ops",
    "nvtx_kern_sum:base": "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Kernel Name",
    "cuda_gpu_kern_sum:nvtx-name": "Time (%),Total Time (ns),Instances,Avg (ns),Range/Name",
    "nvtx_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Style,Range",
}}
tables = {{
    "nvtx_gpu_proj_sum": [["fusebench:" + conv, "PushPop", 5000, 900, 1, 10], ["fusebench:measure", "PushPop", 9000, 990, 2, 15],
                          [":somebody's range", "PushPop", 1, 1, 1, 1], [":" + float4, "PushPop", 4000, 90, 1, 5]],
    "nvtx_kern_sum:base": [["fusebench:" + conv, "PushPop", 7, 7, 1, 5, 4000, "conv"], ["fusebench:" + conv, "PushPop", 7, 7, 1, 5, 900,
                           "add<int, float>"], ["fusebench:verify", "PushPop", 7, 7, 1, 5, 900, "fill"],
                           ["fusebench:" + conv, "PushPop", 7, 7, 1, 5, 900, "generate"]],
    "cuda_gpu_kern_sum:nvtx-name": [["80.0", 4000, 5, 800, conv + "/conv"], ["20.0", 900, 5, 180, "fusebench:" + float4 +
                                    "/ns::f<a/b>(int)"], ["0.1", 9, 5, 2, "poison"], ["0.1", 9, 5, 2, conv + "/poison"]],
    "nvtx_sum": [["60.0", 1234567, 5, 246913, "PushPop", "fusebench:" + conv], ["39.0", 5, 1, 5, "PushPop", "fusebench:measure"]],
}}
import csv
print("Processing [profile.sqlite] with [" + report + ".py]...")
print()
print(heads[report])
csv.writer(sys.stdout, lineterminator="\\n").writerows(tables[report])
print()
"""

NCU = """#!{python}
import json, os, pathlib, subprocess, sys
told = pathlib.Path(os.environ["TOLD"])
told.write_text(json.dumps(sys.argv[1:]) + "\\n")
log = pathlib.Path(sys.argv[sys.argv.index("--log-file") + 1])
command = sys.argv[sys.argv.index("--log-file") + 2:]
fate = os.environ.get("FATE", "")
if fate == "no permission":
    log.write_text("==PROF== Connected to process 1 (fusebench)\\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
                   "NVIDIA GPU Performance Counters on the target device 0.\\n==PROF== Disconnected from process 1\\n")
    sys.exit(1)
if fate == "no kernels":
    log.write_text("==PROF== Connected to process 1 (fusebench)\\n==WARNING== No kernels were profiled.\\n")
    sys.exit(0)
if fate == "no metric":
    log.write_text("==ERROR== Failed to find metric sm__nothing\\n")
    sys.exit(1)
code = subprocess.run(command).returncode
log.write_text(pathlib.Path(os.environ["TABLE"]).read_text())
sys.exit(code)
"""

RANGES = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
REASONS = ("barrier", "gmma", "long_scoreboard", "selected", "wait", "math_pipe_throttle")


def ranges_of(*names: str, thread: int = 71) -> str:
    return f"{thread}  " + "  ".join(f'"{name}:int64:7:ARGB:0x{0xFF00FF00:X}:REGISTERED:none"' for name in names)


def ncu_row(number: int, ranges: str, duration: str, read: str, written: str, percent: str, registers: str,
            stalls: tuple[str, ...], kernel: str = 'k"<a,b>') -> list[str]:
    return [str(number), "1", "fusebench", "127.0.0.1", kernel, "1", "7", "(256, 1, 1)", "(10, 1, 1)", "0", "9.0", ranges, duration, read,
            written, *[percent] * 4, registers, *stalls, "77", "No-CC"]


def ncu_text(rows: list[list[str]], time_unit: str = "ns", byte_unit: str = "byte") -> str:
    """A table of --page raw as ncu writes it: its own lines, names, units, rows, everything quoted."""
    stalls = [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in REASONS]
    names = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC",
             RANGES, ncu.TIME, ncu.READ, ncu.WRITTEN, *ncu.PERCENTAGES.values(), ncu.REGISTERS, *stalls,
             "smsp__average_warps_issue_stalled_barrier_not_issued_per_issue_active.ratio", "device__attribute_confidential_computing_mode"]
    units = [""] * 12 + [time_unit, byte_unit, byte_unit, "%", "%", "%", "%", "register/thread"] + ["inst"] * 7 + [""]
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([names, units, *rows])
    return ('==PROF== Connected to process 71 (/build/fusebench)\n==PROF== Profiling "k": 0%....50%....100% - 12 passes\n' + text.getvalue()
            + "==PROF== Disconnected from process 71\n")


CONV_RANGES = ranges_of("fusebench:measure", f"fusebench:{CONV}")
TABLE = [ncu_row(0, CONV_RANGES, "3,000", "1,500", "500", "40", "32", ("0", "1", "6", "1", "2", "0")),
         ncu_row(1, CONV_RANGES, "1,000", "200", "300", "80", "168", ("7", "1", "0", "2", "0", "0")),
         ncu_row(2, ranges_of("fusebench:measure", f"fusebench:{FLOAT4}"), "255,232.5", "1,000", "1,000", "n/a", "40",
                 ("n/a", "n/a", "3", "1", "n/a", "n/a")),
         ncu_row(3, CONV_RANGES, "9", "9", "9", "9", "9", ("1",) * 6, "generate(float *, unsigned long)"),  # the program's own
         ncu_row(4, ranges_of("cudnn:conv"), "9", "9", "9", "9", "9", ("1",) * 6)]


class Case(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.bin, self.out = self.folder / "bin", self.folder / "made/out"
        self.bin.mkdir()
        self.told = self.folder / "told"
        self.table = self.folder / "table"
        self.table.write_text(ncu_text(TABLE))
        names = {"python": sys.executable, **KEYS}
        for name, text in (("fusebench", PROGRAM), ("nsys", NSYS), ("ncu", NCU)):
            path = self.bin / name
            path.write_text(text.format(**names) if name != "ncu" else text.replace("{python}", sys.executable))
            path.chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        return os.environ | {"PATH": f"{self.bin}:{os.environ['PATH']}", "TOLD": str(self.told), "TABLE": str(self.table)} | more

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-B", str(ROOT / "scripts/profile"), *arguments]

    def profile(self, tool: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(tool, "--program", str(self.bin / "fusebench"), "--out", str(self.out), *arguments),
                              capture_output=True, text=True, timeout=120, env=self.environment(**more))

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.out / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in self.told.read_text().splitlines()]

    def left(self) -> list[str]:
        """Hidden ones too."""
        return sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []

    def assert_failed(self, result: subprocess.CompletedProcess[str], *words: str) -> None:
        self.assertEqual((result.returncode, result.stdout), (2, ""), result)
        lines = [line for line in result.stderr.splitlines() if not line.startswith(("profile: nsys collects", "profile: ncu counts"))]
        self.assertEqual(len(lines), 1, result.stderr)
        for word in words:
            self.assertIn(word, lines[0])


class Nsys(Case):
    def test_four_tables_have_rows_that_are_variants_by_their_parts(self) -> None:
        result = self.profile("nsys", "--filter", "cuda", "--configuration", "all", "--iterations", "3")
        self.assertEqual(result.returncode, 0, result)
        names = ["cuda_gpu_kern_sum.csv", "nvtx_gpu_proj_sum.csv", "nvtx_kern_sum.csv", "nvtx_sum.csv", "profile.nsys-rep"]
        self.assertEqual(self.left(), names)
        self.assertEqual(sorted(result.stdout.split()), [str(self.out / name) for name in names])
        conv, float4 = (dict(zip(profiling.KEY, key.split(" "))) for key in (CONV, FLOAT4))
        self.assertEqual([{k: row[k] for k in profiling.KEY} for row in self.rows("nvtx_gpu_proj_sum.csv")], [conv, float4])
        self.assertEqual([row["Total Proj Time (ns)"] for row in self.rows("nvtx_gpu_proj_sum.csv")], ["5000", "4000"])
        self.assertEqual([(row["variant"], row["Kernel Name"]) for row in self.rows("nvtx_kern_sum.csv")],
                         [("cuda_unfused", "conv"), ("cuda_unfused", "add<int, float>")])
        self.assertEqual([(row["variant"], row["kernel"], row["Instances"]) for row in self.rows("cuda_gpu_kern_sum.csv")],
                         [("cuda_unfused", "conv", "5"), ("cuda_float4", "ns::f<a/b>(int)", "5")])
        self.assertEqual([row["Total Time (ns)"] for row in self.rows("nvtx_sum.csv")], ["1234567"])

    def test_the_tool_is_called_with_the_options_that_let_the_program_end_and_with_what_was_chosen(self) -> None:
        self.profile("nsys", "--filter", "cuda", "--configuration", "all", "--problem", "quick", "--iterations", "3")
        collect, *stats = self.calls()
        at = collect.index(str(self.bin / "fusebench"))
        self.assertEqual(collect[at + 1:], ["profile", "--device", "cuda", "--filter", "cuda", "--problem", "quick", "--iterations", "3",
                                            "--configuration", "all"])
        for option in ("--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--cuda-graph-trace=node"):
            self.assertIn(option, collect[:at])
        self.assertEqual([call[call.index("--report") + 1] for call in stats], list(nsys.REPORTS))

    def test_a_report_that_cannot_be_converted_is_told_with_what_to_do_and_what_was_collected_is_kept(self) -> None:
        for fate, why in (("no importer", "The importer binary and its dependencies were not found"),
                          ("stream in the temporary folder", "a table of the program")):
            self.assert_failed(self.profile("nsys", FATE=fate), "could not convert", why, str(self.out / "profile.qdstrm"),
                               "QdstrmImporter")
            self.assertEqual(self.left(), ["nsys.log", "profile.qdstrm"])
            self.assertEqual((self.out / "profile.qdstrm").read_bytes(), b"stream")

    def test_a_report_that_has_no_statistics_is_kept_and_earlier_tables_stay(self) -> None:
        self.out.mkdir(parents=True)
        (self.out / "nvtx_gpu_proj_sum.csv").write_text("precious")
        for fate, why in (("nvtx_sum", "the .sqlite cannot be made"), ("skips nvtx_kern_sum:base", "does not contain NV Tools Extension")):
            self.assert_failed(self.profile("nsys", FATE=fate), why, str(self.out / "profile.nsys-rep"), "--report")
            self.assertEqual(self.left(), ["nvtx_gpu_proj_sum.csv", "profile.nsys-rep"])
            self.assertEqual((self.out / "nvtx_gpu_proj_sum.csv").read_text(), "precious")

    def test_a_tool_that_refuses_its_options_or_a_program_that_fails_under_it_is_told_with_its_own_words(self) -> None:
        self.assert_failed(self.profile("nsys", FATE="refuses"), "collected nothing", "unrecognised option",
                           str(self.out / "nsys.log"))
        self.assert_failed(self.profile("nsys", PROGRAM_CODE="2"), "exit code 2", "is kept", str(self.out / "profile.nsys-rep"))

    def test_a_wrong_variant_gives_exit_code_1_and_all_files(self) -> None:
        for tool, files in (("nsys", 5), ("ncu", 2)):
            result = self.profile(tool, PROGRAM_CODE="1")
            self.assertEqual((result.returncode, len(result.stdout.splitlines())), (1, files), result)
            self.assertIn(str(self.out / f"{tool}.log"), result.stderr)
            self.assertIn("a table of the program's own", (self.out / f"{tool}.log").read_text())

    def test_an_interrupt_ends_the_tool_and_leaves_nothing(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen(self.command("nsys", "--program", str(self.bin / "fusebench"), "--out", str(self.out)),
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment(FATE="hangs"))
            pid = Path(f"{self.told}.pid")
            deadline = time.monotonic() + 60
            while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
                time.sleep(0.05)
            child.send_signal(number)
            out, err = child.communicate(timeout=60)
            self.assertEqual((child.returncode, out), (2, ""), err)
            self.assertIn("interrupted", err)
            self.assertNotIn("Traceback", err)
            with self.assertRaises(ProcessLookupError):
                os.kill(int(pid.read_text()), 0)
            self.assertFalse((self.folder / "made").exists())
            pid.unlink()


class Ncu(Case):
    def test_a_variant_is_a_row_bytes_and_times_of_a_call_summed_and_shares_weighted_by_time(self) -> None:
        result = self.profile("ncu", "--operator", "residual_epilogue")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(self.left(), ["ncu.csv", "ncu.raw.csv"])
        conv, float4 = self.rows("ncu.csv")
        self.assertEqual(list(conv), ncu.COLUMNS)
        self.assertEqual(" ".join(conv[name] for name in profiling.KEY), CONV)
        expected = {
            "kernels": "2", "duration_ns": "4000", "dram_read_bytes": "1700", "dram_write_bytes": "800", "moved_bytes": "2500",
            "useful_bytes": "1000", "moved_over_useful": "2.5", "flops": "64000", "dram_throughput_percent": "50", "registers": "168",
            # 60% and 0% of 10 cycles each, for 3000 and 1000 ns; barrier 0% and 70%; wait 20% and 0%.
            "stall_1": "long_scoreboard", "stall_1_percent": "45", "stall_2": "barrier", "stall_2_percent": "17.5",
            "stall_3": "wait", "stall_3_percent": "15"}
        self.assertEqual({name: conv[name] for name in expected}, expected)
        self.assertEqual((float4["duration_ns"], float4["moved_over_useful"], float4["kernels"]), ("255232.5", "1", "1"))
        # What this GPU does not count is empty, not zero.
        self.assertEqual((float4["tensor_pipe_percent"], float4["stall_1"], float4["stall_1_percent"], float4["stall_2"]),
                         ("", "long_scoreboard", "75", ""))

    def test_units_are_read_from_the_tables_own_row(self) -> None:
        self.table.write_text(ncu_text([ncu_row(0, CONV_RANGES, "1.5", "2", "0.5", "1", "9", ("1",) * 6)], "us", "Kbyte"))
        self.assertEqual(self.profile("ncu").returncode, 0)
        row = self.rows("ncu.csv")[0]
        self.assertEqual((row["duration_ns"], row["dram_read_bytes"], row["dram_write_bytes"]), ("1500", "2000", "500"))

    def test_several_calls_of_a_variant_count_as_one(self) -> None:
        self.table.write_text(ncu_text([TABLE[0], TABLE[1]] * 4))
        self.assertEqual(self.profile("ncu", "--iterations", "4").returncode, 0)
        row = self.rows("ncu.csv")[0]
        self.assertEqual((row["kernels"], row["duration_ns"], row["moved_bytes"]), ("2", "4000", "2500"))

    def test_clocks_are_left_as_they_are_and_only_the_phase_measure_counts(self) -> None:
        self.profile("ncu", "--flush")
        call = self.calls()[0]
        at = call.index(str(self.bin / "fusebench"))
        self.assertEqual(call[at + 1:], ["profile", "--device", "cuda", "--iterations", "1", "--flush"])
        for option, value in (("--clock-control", "none"), ("--nvtx-include", "fusebench@measure/"), ("--page", "raw")):
            self.assertEqual(call[call.index(option) + 1], value)

    def test_each_failure_is_one_line_that_says_what_to_do_and_what_was_written_is_kept(self) -> None:
        self.out.mkdir(parents=True)
        (self.out / "ncu.csv").write_text("precious")
        bad = {"no header": "==PROF== Connected\n", "ragged": ncu_text([TABLE[0][:-1]]), "nobody's": ncu_text([TABLE[4]]),
               "no ranges": ncu_text(TABLE).replace("Push/Pop_Range", "")}
        for name, words in (("no header", "no table"), ("ragged", "fields"), ("nobody's", "no kernel is in a variant's range"),
                            ("no ranges", "lacks the NVTX ranges")):
            with self.subTest(name=name):
                self.table.write_text(bad[name])
                self.assert_failed(self.profile("ncu"), words, str(self.out / "ncu.raw.csv"))
        for fate, words in (("no permission", ("ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0")),
                            ("no kernels", ("no kernel ran in a range of phase measure",)), ("no metric", ("Failed to find metric",))):
            with self.subTest(fate=fate):
                self.assert_failed(self.profile("ncu", FATE=fate), *words, str(self.out / "ncu.raw.csv"))
        self.assert_failed(self.profile("ncu", PROGRAM_CODE="2"), "exit code 2")
        self.assertEqual((self.out / "ncu.csv").read_text(), "precious")
        self.assertFalse([name for name in self.left() if name.startswith(".")])


class Refusals(Case):
    def test_what_cannot_begin_is_one_line_before_anything_is_made(self) -> None:
        self.assert_failed(self.profile("nsys", "--filter", "nothing"), "no variant matches")
        self.assert_failed(self.profile("ncu", NO_GPU="1"), "none of the 2 chosen variants can run here: no driver")
        self.assert_failed(self.profile("ncu", "--iterations", "0"), "--iterations", "'0'")
        self.assert_failed(self.profile("gdb"), "gdb")
        self.assert_failed(self.profile("nsys", "--device", "cpu"), "--device")
        self.assert_failed(self.profile("nsys", "--program", str(self.folder / "absent")), "absent", "--program")
        self.assertFalse((self.folder / "made").exists())
        self.assertFalse(self.told.exists())
        self.out.parent.mkdir()
        self.out.write_text("a file")
        self.assert_failed(self.profile("ncu"), str(self.out), "it is a file")

    def test_a_missing_tool_is_named_with_where_to_get_it(self) -> None:
        (self.bin / "nsys").unlink()
        (self.bin / "ncu").unlink()
        for tool, name in (("nsys", "Nsight Systems"), ("ncu", "Nsight Compute")):
            result = self.profile(tool, PATH=str(self.bin))
            self.assert_failed(result, f"{tool} is missing", name)


class Names(unittest.TestCase):
    def test_a_rows_key_is_its_ranges_name_and_back(self) -> None:
        row = {"operator": "op", "variant": "v", "configuration": "load=a/b:c @2", "problem": "n=1", "device": "cuda"}
        self.assertEqual(profiling.key_of(row), ("op", "v", "load=a_b_c__2", "n=1", "cuda"))
        self.assertEqual(profiling.parse_key(" ".join(profiling.key_of(row))), profiling.key_of(row))
        for name in (" ".join(profiling.key_of(row)) + " (warmup)", "measure", "fusebench:verify", "five words that are none", "a b c d gpu"):
            self.assertIsNone(profiling.parse_key(name), name)


if __name__ == "__main__":
    outcome = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False).result
    sys.exit(not outcome.wasSuccessful())
