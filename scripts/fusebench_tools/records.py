"""Results files in Python: the program's own columns, read strictly, and written a row at a time."""

from __future__ import annotations

import contextlib
import csv
import math
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDED_LATER = ("battery", "cases", "judge", "plan", "in_place", "flops")  # an older file may lack them

Row = dict[str, str]


class BadFile(Exception):
    """A file that cannot be used, in one line that says where and why."""


def columns() -> list[str]:
    """The columns in order, from the program's source, so that the two cannot drift apart."""
    text = (ROOT / "harness/core/record_fields.hpp").read_text(encoding="utf-8")
    return re.findall(r'visit\("(\w+)"', text)


def read(path: Path) -> list[Row]:
    """All rows. Raises BadFile for what `fusebench run --with` would refuse."""
    needed = [name for name in columns() if name not in ADDED_LATER]
    rows = []
    for where, row in read_table(path, needed):
        rows.append(dict.fromkeys(ADDED_LATER, "") | row)
        check(where, rows[-1])
    return rows


def read_table(path: Path, needed: list[str]) -> list[tuple[str, Row]]:
    """The rows of any of our CSVs with "file:line" of each. Raises BadFile for a file that is torn or ragged, has no
    rows, lacks a column of `needed` or has one twice."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not text.endswith("\n"):
        raise BadFile(f"{path}: the last line has no end, or there is none; the file was cut off")
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, [])
            missing = [name for name in needed if name not in header]
            if missing:
                raise BadFile(f"{path}:1: column {missing[0]} is missing; results/README.md lists those of a results file")
            if len(set(header)) != len(header):
                raise BadFile(f"{path}:1: a column is there twice")
            rows = []
            for fields in reader:
                if not fields:
                    continue
                where = f"{path}:{reader.line_num}"
                if len(fields) != len(header):
                    raise BadFile(f"{where}: the row has {len(fields)} fields, the header {len(header)}")
                rows.append((where, dict(zip(header, fields))))
        except csv.Error as error:
            raise BadFile(f"{path}:{reader.line_num}: {error}") from None
    if not rows:
        raise BadFile(f"{path}: there is a header and no row")
    return rows


def read_numbers(path: Path, needed: list[str], numbers: list[str]) -> list[Row]:
    """Rows whose columns `numbers` are finite or empty. Raises BadFile."""
    rows = []
    for where, row in read_table(path, needed):
        for name in numbers:
            try:
                good = not row[name] or math.isfinite(float(row[name]))
            except ValueError:
                good = False
            if not good:
                raise BadFile(f"{where}, column {name}: '{row[name]}' is no number")
        rows.append(row)
    return rows


def check(where: str, row: Row) -> None:
    if row["schema_version"] != "1":
        raise BadFile(f"{where}, column schema_version: '{row['schema_version']}' is another version than 1")
    if (count := row.get("samples")) and not count.isdecimal():  # a history has none
        raise BadFile(f"{where}, column samples: '{count}' is no count")
    for name, text in row.items():
        if not name.endswith("_ns") or not text:
            continue
        try:
            good = math.isfinite(float(text)) and float(text) >= 0
        except ValueError:
            good = False
        if not good:
            raise BadFile(f"{where}, column {name}: '{text}' is no time")


def text_of(value: object) -> str:
    """As the program writes it: empty for what does not exist, else the shortest text that reads back."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


class Writer:
    """Rows of a file, each on disk before the next. The file is replaced when there is a first row."""

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise BadFile(f"cannot write {path}: there is no folder {path.parent}; make it first")
        if path.is_dir():
            raise BadFile(f"cannot write {path}: it is a folder")
        self._path = path
        self._columns = columns()
        self._begun = False

    def append(self, row: dict[str, object]) -> None:
        unknown = set(row) - set(self._columns)
        if unknown:
            raise KeyError(f"no such columns: {', '.join(sorted(unknown))}")
        with self._path.open("a" if self._begun else "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not self._begun:
                writer.writerow(self._columns)
            writer.writerow([text_of(row.get(name)) for name in self._columns])
            file.flush()
            with contextlib.suppress(OSError):  # a pipe or a terminal has no disk
                os.fsync(file.fileno())
        self._begun = True
