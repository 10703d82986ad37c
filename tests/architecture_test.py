#!/usr/bin/env python3
"""The rooms' arrows, read from the includes. Usage: architecture_test.py ROOT.

Catches an include that goes upwards, a harness that knows an operator, a file that grew past one idea,
and a room that prints or exits.
"""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()

# Each room, and what it may include besides itself: only rooms below it.
MAY_USE = {
    "harness/core": set(),
    "harness/device": {"harness/core"},
    "harness/verify": {"harness/device", "harness/core"},
    "harness/trace": {"harness/device", "harness/core"},
    "harness/measure": {"harness/trace", "harness/device", "harness/core"},
    "harness/tune": {"harness/core"},
    "harness/session": {"harness/tune", "harness/verify", "harness/measure", "harness/trace", "harness/device",
                        "harness/core"},
    "harness/record": {"harness/core"},
    "harness/compare": {"harness/measure", "harness/core"},
    "harness/cli": {"harness/session", "harness/record", "harness/compare", "harness/tune", "harness/verify",
                    "harness/measure", "harness/trace", "harness/device", "harness/core"},
    "reference": {"harness/core"},
    "variants": {"reference", "harness/device", "harness/core"},
}
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.MULTILINE)
GENERATED = {"fusebench_git_version.hpp"}


def sources() -> list[Path]:
    return [p for top in ("harness", "reference", "variants") for p in sorted((ROOT / top).rglob("*"))
            if p.suffix in (".hpp", ".cpp", ".cu", ".cuh")]


def room_of(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "harness" else parts[0]


class Rooms(unittest.TestCase):
    def test_there_are_sources(self) -> None:
        self.assertGreater(len(sources()), 50)

    def test_every_file_is_of_a_kind_that_the_build_knows(self) -> None:
        known = {".hpp", ".cpp", ".cu", ".cuh", ".py"}
        for top in ("harness", "reference", "variants"):
            for path in (ROOT / top).rglob("*"):
                if path.is_file() and not {"golden", "__pycache__"} & set(path.parts):
                    self.assertIn(path.suffix, known, f"{path}: what an editor or a merge left behind?")

    def test_arrows_go_one_way(self) -> None:
        for path in sources():
            name = path.relative_to(ROOT).as_posix()
            room = room_of(name)
            self.assertIn(room, MAY_USE, f"{name}: a room that docs/architecture.md does not know")
            for included in INCLUDE.findall(path.read_text()):
                if included in GENERATED:
                    continue
                with self.subTest(file=name, includes=included):
                    self.assertTrue((ROOT / included).is_file(), "not a path from the root")
                    self.assertIn(room_of(included), MAY_USE[room] | {room})

    def test_the_harness_does_not_know_its_operators(self) -> None:
        operators = [p.name for p in (ROOT / "variants").iterdir() if p.is_dir()]
        self.assertTrue(operators)
        for path in (ROOT / "harness").rglob("*.?pp"):
            for operator in operators:
                self.assertNotIn(operator, path.read_text(), path)

    def test_only_the_command_line_prints_or_exits(self) -> None:
        forbidden = re.compile(r"\bstd::(cout|cerr)\b|\b(printf|puts|print|exit|abort)\(")
        for path in sources():
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("harness/cli/"):
                self.assertIsNone(forbidden.search(path.read_text()), name)

    def test_files_stay_short_and_open_with_what_they_are_for(self) -> None:
        for path in sources():
            text = path.read_text()
            self.assertLessEqual(text.count("\n"), 400, path)
            if path.suffix in (".hpp", ".cuh"):
                self.assertTrue(text.startswith("// "), path)
                self.assertIn("#pragma once", text, path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
