#!/usr/bin/env python3
"""Every deliberately wrong variant is caught for the reason it states, no honest one is ever refused.

Usage: mutants_test.py FUSEBENCH_MUTANTS [--device cpu|cuda] [--seeds N] [--filter REGEX] [--csv FILE]

What must become of a variant stands in its idea: "[class 13] crashed: touched .* past the end" or
"[honest] ...". Each runs through the whole program, battery, timing and all, at a size that is timed
and at seeds drawn afresh, which are printed. --csv keeps the rows of the last seed, of all operators.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

# What is timed. That of residual_epilogue has more elements than any case of the quick battery, so that mutants
# can tell the timed calls; a convolution's mutants do not look at it.
PROBLEMS = {
    "residual_epilogue": "1,16,8,64,65",
    "conv_transpose3d_residual": "n=1,ci=6,co=8,d=3,h=9,w=17,k=3,s=2,p=1,op=1",
}
STATES = re.compile(r"^\[class (\d+)\] (\w+): (.*)$")

Name = tuple[str, str]  # operator, variant


def expectations(program: Path, device: str, wanted: str) -> dict[Name, tuple[str, str]]:
    """Name to (outcome, regular expression of the reason), of what this machine can run."""
    listed = subprocess.run([program, "list", "--json", "--device", device], capture_output=True, text=True,
                            check=True)
    found: dict[Name, tuple[str, str]] = {}
    unavailable: dict[Name, str] = {}
    for entry in json.loads(listed.stdout):
        if not re.search(r"_(mutant|honest)_", entry["variant"]) or not re.search(wanted, entry["variant"]):
            continue
        name = (entry["operator"], entry["variant"])
        if not entry["available"]:
            unavailable[name] = entry["reason"]
            continue
        states = STATES.match(entry["idea"])
        if states:
            found[name] = (states[2], states[3])
        else:
            assert entry["idea"].startswith("[honest] "), entry
            found[name] = ("passed", "^$")
    if unavailable and not found:
        print("SKIPPED:", next(iter(unavailable.values())))
        sys.exit(0)
    for name, reason in unavailable.items():
        print(f"not run: {' '.join(name)}: {reason}")
    return found


def run_all(program: Path, names: list[Name], device: str, seed: int, folder: Path) -> list[Path]:
    """The CSV of each operator's variants among `names`."""
    files = []
    for operator in sorted({operator for operator, _ in names}):
        variants = "|".join(variant for of, variant in names if of == operator)
        files.append(folder / f"{operator}.csv")
        command = [program, "run", "--quiet", "--device", device, "--operator", operator, "--filter",
                   f" ({variants})$", "--problem", PROBLEMS[operator], "--max-time", "0.2", "--timeout", "10",
                   "--seed", str(seed), "--csv", files[-1]]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1800)
    return files


def rows_of(files: list[Path]) -> dict[Name, dict[str, str]]:
    rows: dict[Name, dict[str, str]] = {}
    for file in files:
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines, strict=True):
                if row["operator"] != "control":
                    rows[row["operator"], row["variant"]] = row
    return rows


def join(files: list[Path], out: Path) -> None:
    """All rows under the one header, which they share."""
    texts = [file.read_text() for file in files]
    out.write_text(texts[0] + "".join(text.split("\n", 1)[1] for text in texts[1:]))


def faults_of(row: dict[str, str], outcome: str, reason: str) -> str:
    if row["outcome"] != outcome or not re.search(reason, row["reason"]):
        return f"must be {outcome} ({reason}), was {row['outcome']} ({row['reason']})"
    if (row["median_ns"] != "") != (outcome == "passed"):
        return f"{outcome}, with a median of '{row['median_ns']}'"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()

    expected = expectations(options.program, options.device, options.filter)
    if not expected:
        sys.exit(f"mutants_test: no mutant on {options.device} matches '{options.filter}'")
    faults: Counter[Name] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.seeds):
            seed = random.SystemRandom().randrange(2**32)
            print(f"seed {seed}", flush=True)
            files = run_all(options.program, list(expected), options.device, seed, Path(folder))
            rows = rows_of(files)
            for name, (outcome, reason) in expected.items():
                fault = faults_of(rows[name], outcome, reason) if name in rows else "has no row"
                if fault:
                    faults[name] += 1
                    print(f"FAULT {' '.join(name)}: {fault}", flush=True)
        if options.csv:
            join(files, options.csv)
    caught = [name for name, (outcome, _) in expected.items() if outcome != "passed"]
    print(f"{options.device}: {len(caught)} mutants and {len(expected) - len(caught)} honest variants at "
          f"{options.seeds} seeds; {sum(faults.values())} not as they must be")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
