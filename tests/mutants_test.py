#!/usr/bin/env python3
"""Every deliberately wrong variant is caught for the reason it states, no honest one is ever refused.

Usage: mutants_test.py FUSEBENCH_MUTANTS [--device cpu|cuda] [--seeds N] [--filter REGEX] [--csv FILE]

What must become of a variant stands in its idea: "[class 13] crashed: touched .* past the end" or
"[honest] ...". Each runs through the whole program, battery, timing and all, at a size that is timed
and at seeds drawn afresh, which are printed. --csv keeps the rows of the last seed.
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

# More elements than any case of the quick battery, so that mutants can tell the timed calls.
PROBLEM = "1,16,8,64,65"
STATES = re.compile(r"^\[class (\d+)\] (\w+): (.*)$")


def expectations(program: Path, device: str, wanted: str) -> dict[str, tuple[str, str]]:
    """Name to (outcome, regular expression of the reason), of what this machine can run."""
    listed = subprocess.run([program, "list", "--json", "--device", device], capture_output=True, text=True,
                            check=True)
    found: dict[str, tuple[str, str]] = {}
    unavailable: dict[str, str] = {}
    for entry in json.loads(listed.stdout):
        if not re.search(r"_(mutant|honest)_", entry["variant"]) or not re.search(wanted, entry["variant"]):
            continue
        if not entry["available"]:
            unavailable[entry["variant"]] = entry["reason"]
            continue
        states = STATES.match(entry["idea"])
        if states:
            found[entry["variant"]] = (states[2], states[3])
        else:
            assert entry["idea"].startswith("[honest] "), entry
            found[entry["variant"]] = ("passed", "^$")
    if unavailable and not found:
        print("SKIPPED:", next(iter(unavailable.values())))
        sys.exit(0)
    for name, reason in unavailable.items():
        print(f"not run: {name}: {reason}")
    return found


def run_all(program: Path, names: list[str], device: str, seed: int, file: Path) -> list[dict[str, str]]:
    command = [program, "run", "--quiet", "--device", device, "--filter", f" ({'|'.join(names)})$",
               "--problem", PROBLEM, "--max-time", "0.2", "--timeout", "10", "--seed", str(seed), "--csv", file]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1800)
    with file.open(newline="") as rows:
        return [row for row in csv.DictReader(rows, strict=True) if row["operator"] != "control"]


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
    faults: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = options.csv or Path(folder) / "mutants.csv"
        for _ in range(options.seeds):
            seed = random.SystemRandom().randrange(2**32)
            print(f"seed {seed}", flush=True)
            rows = {row["variant"]: row for row in
                    run_all(options.program, list(expected), options.device, seed, file)}
            for name, (outcome, reason) in expected.items():
                fault = faults_of(rows[name], outcome, reason) if name in rows else "has no row"
                if fault:
                    faults[name] += 1
                    print(f"FAULT {name}: {fault}", flush=True)
    caught = [name for name, (outcome, _) in expected.items() if outcome != "passed"]
    print(f"{options.device}: {len(caught)} mutants and {len(expected) - len(caught)} honest variants at "
          f"{options.seeds} seeds; {sum(faults.values())} not as they must be")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
