"""One night: what is compared with what, and the verdict on it, in a folder that appears whole."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fusebench_tools import history
from fusebench_tools.records import ROOT, BadFile

REGRESSION, NO_VERDICT = 1, 2
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def end_with_parent() -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def call(command: list[object], cwd: Path | None = None, capture: bool = False) -> tuple[int, str]:
    """Exit code and standard output. When this process is told to stop, the command is asked to, then killed;
    when it is killed, the command does not go on alone."""
    with subprocess.Popen(list(map(str, command)), cwd=cwd, text=True, stdout=subprocess.PIPE if capture else sys.stderr,
                          preexec_fn=end_with_parent) as process:
        try:
            out, _ = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    return process.returncode, out or ""


@dataclass
class Side:
    """The current build, or what it is held against: a program, or the CSV of one."""

    name: str  # a revision, or a file's name
    program: Path | None = None
    csv: Path | None = None


@dataclass
class Verdict:
    exit_code: int
    text: str
    night: str
    new: str
    against: str
    options: dict[str, object] = field(default_factory=dict)
    slower: list[str] = field(default_factory=list)
    newly_wrong: list[str] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        (folder / "verdict.json").write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        (folder / "verdict.txt").write_text(self.text + "\n", encoding="utf-8")

    @staticmethod
    def read(folder: Path) -> Verdict | None:
        try:
            return Verdict(**json.loads((folder / "verdict.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def series_of(document: Path, verdict: str) -> list[str]:
    found = json.loads(document.read_text(encoding="utf-8"))["series"]
    keys = ("operator", "variant", "configuration", "problem", "device")
    return [" ".join(s[key] for key in keys) + (f": {s['ratio'] - 1:+.1%}" if s["ratio"] else "") for s in found
            if s["verdict"] == verdict]


class Night:
    """Verifies and measures into `folder`. `selection` goes to verify, run and ab, `limits` to run and ab."""

    def __init__(self, folder: Path, selection: list[str], limits: list[str], floor: str, replicas: int) -> None:
        # What wisdom holds may change from night to night, and a series with it.
        chosen = [] if "--configuration" in selection else ["--configuration", "default"]
        self.folder, self.selection, self.limits = folder, [*chosen, *selection], limits
        self.floor, self.replicas = floor, replicas

    def verify(self, new: Side, old: Side | None) -> list[str]:
        """What is wrong in the full battery and was not in the old build. Raises BadFile when nothing could be verified."""
        files = {"new": self.folder / "verify.csv", "old": self.folder / "verify_old.csv"}
        seed = ["--seed", str(int.from_bytes(os.urandom(4), "big"))]

        def code_of(side: Side, which: str) -> int:
            return call([side.program, "verify", "--quiet", "--csv", files[which], *seed, *self.selection])[0]

        code = code_of(new, "new")
        if code == 0:
            return []
        if code != REGRESSION:
            raise BadFile(f"verify ended with exit code {code}; see above")
        if old is None or old.program is None:
            return [f"{r['operator']} {r['variant']}: {r['outcome']}, {r['reason']}" for r in history.read(files["new"])
                    if r["outcome"] not in ("passed", "unavailable")]
        if code_of(old, "old") not in (0, REGRESSION):
            raise BadFile("verify of the old build gave no verdict; see above")
        document = self.folder / "verify.json"
        call([new.program, "compare", files["old"], files["new"], "--json", document])
        return series_of(document, "newly wrong")

    def measure(self, new: Side, old: Side | None) -> int:
        """Writes new.csv, with comparison.csv, .json and .txt where there is an old side; the comparison's exit code."""
        outputs = ["--csv", self.folder / "comparison.csv", "--json", self.folder / "comparison.json", "--floor", self.floor]
        if old is not None and old.program is not None:
            code, table = call([new.program, "ab", old.program, new.program, "--replicas", self.replicas, "--keep", self.folder,
                                *outputs, *self.selection, *self.limits], capture=True)
        else:
            code, table = call([new.program, "run", "--quiet", "--replicas", self.replicas, "--csv", self.folder / "new.csv",
                                *self.selection, *self.limits], capture=True)
            if old is not None and code in (0, REGRESSION):
                shutil.copyfile(old.csv, self.folder / "old.csv")
                code, table = call([new.program, "compare", old.csv, self.folder / "new.csv", *outputs], capture=True)
        print(table, end="")
        (self.folder / "comparison.txt").write_text(table, encoding="utf-8")
        return code

    def verdict(self, night: str, new: Side, old: Side | None) -> Verdict:
        against = old.name if old else "nothing"
        verdict = Verdict(NO_VERDICT, "", night, new.name, against)
        verdict.newly_wrong = self.verify(new, old)
        code = self.measure(new, old)
        if not (self.folder / "new.csv").is_file():
            raise BadFile(f"measuring ended with exit code {code} and no results; see above")
        document = self.folder / "comparison.json"
        if document.is_file():
            verdict.slower = series_of(document, "slower")
            verdict.newly_wrong += [name for name in series_of(document, "newly wrong") if name not in verdict.newly_wrong]
        verdict.exit_code = REGRESSION if verdict.newly_wrong or code == REGRESSION else code if old else NO_VERDICT
        what = f"{new.name[:10]} against {against[:10] if old and old.program else against}"
        parts = [f"{len(names)} {word}" for names, word in ((verdict.newly_wrong, "newly wrong"), (verdict.slower, "slower")) if names]
        if verdict.exit_code == REGRESSION:
            verdict.text = f"{what}: {', '.join(parts) or 'a result is wrong'}"
        elif verdict.exit_code == 0:
            verdict.text = f"{what}: nothing slower, nothing newly wrong"
        elif old is None:
            verdict.text = f"{what}: measured, and no verdict yet; the next night compares with it"
        else:
            verdict.text = f"{what}: no verdict; see {'comparison.txt' if document.is_file() else 'above'}"
        verdict.text += "".join(f"\n  newly wrong: {name}" for name in verdict.newly_wrong)
        verdict.text += "".join(f"\n  slower: {name}" for name in verdict.slower)
        return verdict


def write_report(folder: Path, histories: Path, machine: str) -> None:
    """The night's page. That it cannot be drawn costs the page, not the verdict."""
    inputs = [folder / name for name in ("comparison.csv", "new.csv") if (folder / name).is_file()]
    inputs += [path for path in [histories / f"{machine}.csv"] if path.is_file()]
    command = [sys.executable, "-B", ROOT / "scripts/report", *inputs, "--html", folder / "report.html"]
    try:
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, check=False)
        problem = "" if result.returncode == 0 else (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        print(f"nightly: there is no report.html: {problem}", file=sys.stderr)
