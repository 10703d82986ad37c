#!/usr/bin/env python3
"""What `cmake --install` puts in a folder runs from wherever the folder is moved to, its tests too.

Usage: install_test.py CMAKE BUILD_FOLDER
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from folder_case import FolderCase

CMAKE, BUILD = sys.argv[1:3]
SOURCES = Path(__file__).resolve().parent


def imports_of(script: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(script.read_text())))
    return {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names} | {
        str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


class Installed(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        first = self.folder / "first"
        for component in ("fusebench", "tests"):
            subprocess.run([CMAKE, "--install", BUILD, "--prefix", first, "--component", component], check=True,
                           stdout=subprocess.DEVNULL)
        self.tree = first.rename(self.folder / "moved")

    def test_the_programs_find_their_libraries_and_what_they_read(self) -> None:
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "FUSEBENCH_"))}
        listed = subprocess.run([self.tree / "bin" / "fusebench", "list", "--json"], capture_output=True, text=True,
                                check=False, cwd="/", env=alone)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertTrue(any(variant["available"] for variant in json.loads(listed.stdout)))
        programs = {path.name for path in (self.tree / "bin").iterdir()}
        self.assertEqual(programs, {"fusebench", "fusebench_tests", "fusebench_gpu_tests", "fusebench_mutants"})
        for name in programs - {"fusebench"}:
            found = subprocess.run(["ldd", self.tree / "bin" / name], capture_output=True, text=True, check=True, env=alone)
            self.assertNotIn("not found", found.stdout, name)

    def test_each_script_comes_with_the_scripts_it_imports(self) -> None:
        folder = self.tree / "share" / "fusebench" / "tests"
        scripts = {path.stem for path in folder.glob("*.py")}
        self.assertIn("cli_test", scripts)
        ours = {path.stem for path in SOURCES.glob("*.py")}
        for script in sorted(scripts):
            self.assertLessEqual(imports_of(folder / f"{script}.py") & ours, scripts, script)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
