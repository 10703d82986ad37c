"""What tests of scripts and of the command line share: a folder of their own, tables in it, refusals in one line."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class FolderCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write_rows(self, name: str, rows: list[dict[str, object]]) -> Path:
        path = self.folder / name
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return path

    def run_script(self, script: Path, *arguments: object, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-B", script, *map(str, arguments)], capture_output=True, text=True,
                              timeout=timeout)

    def assert_one_clear_line(self, result: subprocess.CompletedProcess[str], *words: str) -> None:
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(result.stdout, "")
