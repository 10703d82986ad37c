"""What wrappers of profilers share: a variant's name on a timeline, a folder in which a tool works, files put in place whole."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from fusebench_tools.records import Row, text_of

KEY = ("operator", "variant", "configuration", "problem", "device")
NAMED = ("operator", "variant", "problem", "useful_bytes", "flops")  # what `fusebench list --json` is asked for
DOMAIN = "fusebench"
SECONDS_TO_STOP = 20
# Kernels of the program's own that may run in a variant's range: they give a variant in place its input back.
HARNESS_KERNELS = {"generate", "poison", "fingerprint"}


class Failed(Exception):
    """What a tool did not do, in one line with what to do about it."""


def part_of(text: str) -> str:
    """As the program writes a part of a range's name: nothing in it that profilers give a meaning, no blanks."""
    return re.sub(r"[@/:\x00-\x20\x7F]", "_", text)


def key_of(row: Row) -> tuple[str, ...]:
    """What a row of results is called on a timeline."""
    return tuple(part_of(row[name]) for name in KEY)


def parse_key(name: str) -> tuple[str, ...] | None:
    """The inverse for a range's name, with or without a domain before it; None for a range that is no variant."""
    words = name.rpartition(":")[2].split(" ")
    return tuple(words) if len(words) == len(KEY) and words[-1] in ("cpu", "cuda") else None


def is_harness_kernel(name: str) -> bool:
    return re.split(r"[(<]", name, maxsplit=1)[0].strip() in HARNESS_KERNELS


class Job:
    """A tool at work in a folder of its own inside of `out`, which goes away with it; what is worth keeping is moved to `out`
    first, each file whole. `temporary` is another, of a short name, for a tool that puts sockets into $TMPDIR. Raises OSError where
    `out` cannot be made or written."""

    def __init__(self, tool: str, out: Path, entries: list[dict[str, object]], iterations: int) -> None:
        self.tool, self.out, self.iterations = tool, out, iterations
        self.name = Path(tool).name
        self._work = {(str(e["operator"]), str(e["problem"])): (int(str(e["useful_bytes"])), int(str(e["flops"]))) for e in entries}
        self._made: list[Path] = []

    def __enter__(self) -> Job:
        missing = self.out
        while not missing.exists():
            self._made.append(missing)
            missing = missing.parent
        self.out.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=".profile-", dir=self.out))
        self.temporary = Path(tempfile.mkdtemp(prefix="fusebench-"))
        return self

    def __exit__(self, *_: object) -> None:
        for folder in (self.folder, self.temporary):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in self._made:  # innermost first; those that hold something stay
            with contextlib.suppress(OSError):
                folder.rmdir()

    def work_of(self, key: tuple[str, ...]) -> tuple[int, int] | None:
        """Useful bytes and FLOPs of a call."""
        return self._work.get((key[0], key[3]))

    def run(self, arguments: list[str], output: Path, errors: Path | None = None, **environment: str) -> int:
        """The tool with `arguments`; its exit code. What it prints goes to `output`, on standard error to `errors`, by default there
        too. Interrupted, it and all that it started are given time to stop, then killed."""
        environment = os.environ | {"LC_ALL": "C"} | environment  # a point in numbers
        with output.open("wb") as to, (errors.open("wb") if errors else contextlib.nullcontext(subprocess.STDOUT)) as also:
            child = subprocess.Popen([self.tool, *arguments], stdin=subprocess.DEVNULL, stdout=to, stderr=also, env=environment,
                                     start_new_session=True)
            try:
                return child.wait()
            except BaseException:
                os.killpg(child.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(SECONDS_TO_STOP)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                raise

    def keep(self, file: Path, name: str = "") -> Path:
        """Moves a file of the job's to `out`, where it replaces an earlier one."""
        target = self.out / (name or file.name)
        if self.folder not in file.parents:
            file = Path(shutil.move(file, self.folder / f"{target.name}.moved"))  # perhaps from another file system
        os.replace(file, target)
        return target

    def keep_all(self, files: list[Path]) -> None:
        """And prints where."""
        for file in files:
            print(self.keep(file), flush=True)

    def finish(self, code: int, files: list[Path], log: Path) -> int:
        """All is well: the files are kept, and printed. The exit code, with a word on where to look if it is 1."""
        self.keep_all(files)
        if code == 1:
            tell(f"a variant was wrong or failed, and is not counted: {self.keep(log)} says which")
        return code

    def table(self, name: str, columns: list[str], rows: list[dict[str, object]]) -> Path:
        """A CSV, still in the job's folder."""
        path = self.folder / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([text_of(row.get(column)) for column in columns] for row in rows)
        return path


def last_words(log: Path) -> str:
    """The line of a tool's output that says most of why it failed: the first that names an error, else the last."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"==ERROR==|\berror\b|\bfatal\b|not found|SKIPPED", line, re.IGNORECASE)]
    found = (telling or lines[-1:] or ["it said nothing"])[0]
    return found if len(found) <= 300 else found[:299] + "…"


def tell(text: str) -> None:
    print(f"profile: {text}", file=sys.stderr, flush=True)
