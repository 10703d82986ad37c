"""Nsight Compute around `fusebench profile`: what explains a variant, a row each, beside what it must move."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fusebench_tools.profiling import DOMAIN, KEY, Failed, Job, is_harness_kernel, last_words, parse_key, tell
from fusebench_tools.records import Row, read_numbers

TIME = "gpu__time_duration.sum"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
REGISTERS = "launch__registers_per_thread"
PERCENTAGES = {
    "dram_throughput_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "tensor_pipe_percent": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "fma_pipe_percent": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
# Of the cycles between two instructions of a warp, those for a reason. The section knows which reasons an architecture has.
STALLS = "WarpStateStats"
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
TOP = 3
STALL_COLUMNS = [name for i in range(1, TOP + 1) for name in (f"stall_{i}", f"stall_{i}_percent")]
COLUMNS = [*KEY, "kernels", "duration_ns", "dram_read_bytes", "dram_write_bytes", "moved_bytes", "useful_bytes", "moved_over_useful",
           "flops", *PERCENTAGES, "registers", *STALL_COLUMNS]
NUMBERS = [name for name in COLUMNS if name not in KEY and (name.endswith("_percent") or not name.startswith("stall_"))]
UNITS = {"": 1.0, "%": 1.0, "byte": 1.0, "ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9,
         "second": 1e9, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}


def profile(job: Job, command: list[str]) -> int:
    raw, log = job.folder / "ncu.raw.csv", job.folder / "ncu.log"
    tell(f"ncu counts {job.iterations} call{'s' if job.iterations > 1 else ''} of each variant, which runs many times for it")
    # Clocks as they are: what is explained is the time that was measured, not one at a base clock. A wrong variant makes the
    # program's exit code 1, which is no error of ncu's.
    code = job.run(["--csv", "--page", "raw", "--print-units", "base", "--nvtx", "--nvtx-include", f"{DOMAIN}@measure/",
                    "--clock-control", "none", "--cache-control", "all", "--check-exit-code", "no", "--section", STALLS, "--metrics",
                    ",".join([TIME, READ, WRITTEN, REGISTERS, *PERCENTAGES.values()]), "--log-file", str(raw), *command], log)
    text = raw.read_text(encoding="utf-8", errors="replace") if raw.is_file() else ""
    problem = refusal(text + log.read_text(encoding="utf-8", errors="replace"))
    try:
        if problem:
            raise ValueError(problem)
        if code not in (0, 1):
            raise ValueError(f"it ended with exit code {code}: {last_words(log)}")
        rows = summed(kernels_of(text), job.iterations)
    except ValueError as error:
        kept = [str(job.keep(path)) for path in (raw, log) if path.is_file() and path.stat().st_size > 0]
        raise Failed(f"ncu gave no counters: {error}" + (f"; what it wrote is kept: {', '.join(kept)}" if kept else "")) from None
    for row in rows:
        add_work(row, job.work_of(tuple(str(row[name]) for name in KEY)))
    return job.finish(code, [job.table("ncu.csv", COLUMNS, rows), raw], log)


def refusal(text: str) -> str:
    """What stops ncu on many machines, with what to do; nothing where it is something else, or nothing."""
    if "ERR_NVGPUCTRPERM" in text:
        return ("the driver lets only root read them (ERR_NVGPUCTRPERM): run as root, in a container with CAP_SYS_ADMIN or CAP_PERFMON, "
                "or load the driver with NVreg_RestrictProfilingToAdminUsers=0")
    errors = [" ".join(line.split()) for line in text.splitlines() if line.startswith("==ERROR==")]
    if errors:
        return errors[0]
    return "no kernel ran in a range of phase measure" if "No kernels were profiled" in text else ""


@dataclass
class Kernel:
    """One launch. Absent figures are None: a counter that this GPU does not have."""

    key: tuple[str, ...]
    ns: float
    figures: dict[str, float | None] = field(default_factory=dict)
    stalls: dict[str, float] = field(default_factory=dict)  # cycles for each instruction


def number(text: str, unit: str) -> float | None:
    """Of "1,234.5", or "158 (0: 158)", where what stands in brackets is of the instances. Raises ValueError."""
    bare = text.partition(" (")[0].replace(",", "").strip()
    if bare.lower() in ("", "n/a", "nan"):
        return None
    return float(bare) * UNITS.get(unit.strip(), 1.0)


def key_in(ranges: str) -> tuple[str, ...] | None:
    """The innermost variant in a cell of `thread "domain:range:..." "domain:range:..."`, outermost first."""
    found = None
    for quoted in re.findall(r'"([^"]*)"', ranges):
        domain, _, rest = quoted.partition(":")
        if domain == DOMAIN:
            found = parse_key(rest.partition(":")[0]) or found
    return found


def kernels_of(text: str) -> list[Kernel]:
    """Of --csv --page raw: lines of ncu's own, a header, a row of units, a row for each launch. Raises ValueError with what is
    missing."""
    lines = [line for line in text.splitlines() if not line.startswith("==")]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError("there is no table in its output")
    header, *rows = [fields for fields in csv.reader(lines[start:]) if fields]
    ranges = next((name for name in header if "Push/Pop_Range" in name), None)
    for needed, there in ((TIME, TIME in header), ("the NVTX ranges", ranges is not None)):
        if not there:
            raise ValueError(f"its table lacks {needed}")
    # Beside what was asked for a table has what the tool knows of the device, in words too.
    wanted = [name for name in header if name in (TIME, READ, WRITTEN, REGISTERS, *PERCENTAGES.values()) or STALL.fullmatch(name)]
    units = dict.fromkeys(header, "")
    found = []
    for fields in rows:
        if len(fields) != len(header):
            raise ValueError(f"a row of its table has {len(fields)} fields, the header {len(header)}")
        row = dict(zip(header, fields))
        if not row["ID"]:
            units = row
            continue
        key = key_in(row[str(ranges)])
        values = {name: number(row[name], units[name]) for name in wanted}
        ns = values.get(TIME)
        if key is None or ns is None or is_harness_kernel(row.get("Kernel Name", "")):
            continue
        stalls = {match[1]: value for name, value in values.items() if value is not None and (match := STALL.fullmatch(name))
                  and not match[1].endswith("_not_issued")}
        found.append(Kernel(key, ns, values, stalls))
    if not found:
        raise ValueError("no kernel is in a variant's range")
    return found


def summed(kernels: list[Kernel], iterations: int) -> list[dict[str, object]]:
    """A row a variant, in the order of their first kernels: times and bytes of one call are summed, shares weighted by time."""
    by_key: dict[tuple[str, ...], list[Kernel]] = {}
    for kernel in kernels:
        by_key.setdefault(kernel.key, []).append(kernel)
    rows = []
    for key, own in by_key.items():
        read, written = (total(own, lambda k, name=name: k.figures.get(name)) for name in (READ, WRITTEN))
        row: dict[str, object] = dict(zip(KEY, key)) | {
            "kernels": per_call(len(own), iterations), "duration_ns": per_call(sum(k.ns for k in own), iterations),
            "dram_read_bytes": per_call(read, iterations), "dram_write_bytes": per_call(written, iterations),
            "moved_bytes": None if read is None or written is None else per_call(read + written, iterations),
            "registers": whole(max((v for k in own if (v := k.figures.get(REGISTERS)) is not None), default=None))}
        for column, metric in PERCENTAGES.items():
            row[column] = weighted(own, lambda k, metric=metric: k.figures.get(metric))
        rows.append(row | stalls_of(own))
    return rows


def total(kernels: list[Kernel], figure: Callable[[Kernel], float | None]) -> float | None:
    """None where any is missing: part of a sum is no sum."""
    values = [figure(kernel) for kernel in kernels]
    return None if None in values else sum(v for v in values if v is not None)


def weighted(kernels: list[Kernel], figure: Callable[[Kernel], float | None]) -> float | None:
    time = sum(kernel.ns for kernel in kernels)
    whole_of = total(kernels, lambda k: None if (value := figure(k)) is None else value * k.ns)
    return None if whole_of is None or time <= 0 else round(whole_of / time, 4)


def per_call(value: float | None, iterations: int) -> float | int | None:
    return None if value is None else whole(value / iterations)


def whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value


def stalls_of(kernels: list[Kernel]) -> dict[str, object]:
    """The reasons for which warps waited longest; `selected` is the cycle in which an instruction was issued, and no wait."""
    reasons = {reason for kernel in kernels for reason in kernel.stalls}

    def share(kernel: Kernel, reason: str) -> float | None:
        cycles = sum(kernel.stalls.values())
        return 100 * kernel.stalls.get(reason, 0.0) / cycles if cycles > 0 else None

    shares = [(weighted(kernels, lambda k, reason=reason: share(k, reason)), reason) for reason in reasons - {"selected"}]
    top = sorted(((value, reason) for value, reason in shares if value), key=lambda pair: (-pair[0], pair[1]))[:TOP]
    return {name: value for i, (percent, reason) in enumerate(top, 1)
            for name, value in ((f"stall_{i}", reason), (f"stall_{i}_percent", percent))}


def add_work(row: dict[str, object], work: tuple[int, int] | None) -> None:
    if work is None:
        return
    useful, row["flops"] = work
    row["useful_bytes"] = useful
    moved = row["moved_bytes"]
    row["moved_over_useful"] = round(float(str(moved)) / useful, 4) if moved is not None and useful else None


def is_counters(header: list[str]) -> bool:
    return header[: len(KEY) + 1] == COLUMNS[: len(KEY) + 1]


def read(path: Path) -> list[Row]:
    """The rows of an ncu.csv. Raises BadFile."""
    return read_numbers(path, COLUMNS, NUMBERS)


def moved_of(rows: list[Row]) -> dict[tuple[str, ...], float]:
    """Bytes moved, by key."""
    return {tuple(row[name] for name in KEY): float(row["moved_bytes"]) for row in rows if row["moved_bytes"]}
