"""Nsight Systems around `fusebench profile`: a report for its window, and four CSVs whose rows are variants."""

from __future__ import annotations

import csv
from pathlib import Path

from fusebench_tools.profiling import DOMAIN, KEY, Failed, Job, is_harness_kernel, last_words, parse_key, tell

# The end of a capture range would by default end the program too, before it has said anything.
COLLECT = ["profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "--cuda-graph-trace=node",
           "--capture-range=cudaProfilerApi", "--capture-range-end=stop", "-f", "true"]
REPORTS = ("nvtx_gpu_proj_sum", "nvtx_kern_sum:base", "cuda_gpu_kern_sum:nvtx-name", "nvtx_sum")
NAMES = ("Range", "NVTX Range", "Range/Name", "Name")  # the column that holds a range's name, by report and version


def profile(job: Job, command: list[str]) -> int:
    log = job.folder / "nsys.log"
    tell(f"nsys collects {job.iterations} calls of each variant")
    code = job.run([*COLLECT, "-o", str(job.folder / "profile"), *command], log, TMPDIR=str(job.temporary))
    report = job.folder / "profile.nsys-rep"
    if not filled(report):
        raise Failed(unconverted(job, log, code))
    if code not in (0, 1):
        why = last_words(log)
        raise Failed(f"fusebench profile ended with exit code {code} under nsys ({why}); what was collected is kept: "
                     f"{job.keep(report)}, and what was said: {job.keep(log)}")
    tables = []
    for spec in REPORTS:
        output, errors = job.folder / "stats.out", job.folder / "stats.err"
        stats = job.run(["stats", f"--force-export={'false' if tables else 'true'}", "--format", "csv", "--output", "-", "--report",
                         spec, str(report)], output, errors)
        name = spec.partition(":")[0]
        try:
            if stats != 0:
                raise ValueError(last_words(errors) if filled(errors) else last_words(output))
            tables.append(job.table(f"{name}.csv", *rows_of(output.read_text(encoding="utf-8", errors="replace"))))
        except ValueError as error:
            raise Failed(f"nsys stats made no {name} of its report ({error}); the report is kept: {job.keep(report)}: open it, or run nsys "
                         f"stats --report {spec} on it, where a whole or another nsys is installed") from None
    return job.finish(code, [*tables, report], log)


def filled(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def unconverted(job: Job, log: Path, code: int) -> str:
    """nsys without its importer leaves a stream of events, beside the report's place or in its temporary folder."""
    streams = [path for folder in (job.folder, job.temporary) for path in folder.rglob("*.qdstrm") if filled(path)]
    why = last_words(log)
    if not streams:
        return f"nsys collected nothing, exit code {code} ({why}); what was said is kept: {job.keep(log)}"
    kept = job.keep(max(streams, key=lambda path: path.stat().st_size), "profile.qdstrm")
    job.keep(log)
    return (f"nsys collected, but could not convert its report ({why}); what was collected is kept: {kept}: convert it where Nsight "
            f"Systems is whole, of this version or a newer one, by QdstrmImporter -i {kept.name}, then run nsys stats on the .nsys-rep")


def rows_of(text: str) -> tuple[list[str], list[dict[str, object]]]:
    """Columns and rows of what `nsys stats` printed, of variants only: the variant's names, then the report's own columns. Raises
    ValueError with why there are none."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        header = next(csv.reader([line]), [])
        name = next((name for name in NAMES if name in header), None)
        if name and len(header) > 2:
            break
    else:
        raise ValueError(next((line.strip() for line in lines if line.startswith("SKIPPED")), "there is no table in its output"))
    own = [column for column in header if column != name]
    rows: list[dict[str, object]] = []
    with_kernel = False
    for fields in csv.reader(lines[at + 1 :]):
        if len(fields) != len(header):  # the table has ended
            break
        row: dict[str, object] = dict(zip(header, fields))
        spelled = str(row.pop(name))
        range_name, slash, kernel = spelled.partition("/")  # no variant's name has one
        domain, colon, bare = range_name.partition(":")
        key = parse_key(bare if colon and domain in ("", DOMAIN) else range_name)
        if key is None or is_harness_kernel(kernel or str(row.get("Kernel Name", ""))):
            continue
        with_kernel = with_kernel or bool(slash)
        rows.append(dict(zip(KEY, key)) | ({"kernel": kernel} if slash else {}) | row)
    if not rows:
        raise ValueError("no row is a variant's")
    return [*KEY, *(["kernel"] if with_kernel else []), *own], rows
