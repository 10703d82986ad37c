"""What the scripts have in common as commands: one line for an error and exit code 2, outputs that replace no input and appear whole."""

from __future__ import annotations

import argparse
import csv
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO

from fusebench_tools.records import BadFile


class Parser(argparse.ArgumentParser):
    """Of scripts/`prog`; what it cannot parse is one line."""

    def __init__(self, prog: str, description: str | None) -> None:
        super().__init__(prog=prog, description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}; see scripts/{self.prog} --help", file=sys.stderr)
        sys.exit(2)


def run(prog: str, main: Callable[[], int], interrupted: str, errors: tuple[type[Exception], ...] = (BadFile,)) -> NoReturn:
    """Exits with what `main` returns, or with 2 and one line: `errors` say their own, Ctrl-C says `interrupted`."""
    try:
        sys.exit(main())
    except errors as error:
        said = str(error)
    except OSError as error:
        said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except KeyboardInterrupt:
        said = interrupted
    print(f"{prog}: {said}", file=sys.stderr)
    sys.exit(2)


def end_on_sigterm() -> None:
    """SIGTERM is Ctrl-C from here on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def refuse_to_replace(output: Path | None, inputs: Iterable[Path]) -> None:
    """Raises BadFile when the output is one of the inputs, cannot be a file, or has no folder."""
    if output is None:
        return
    if output.resolve() in {path.resolve() for path in inputs}:
        raise BadFile(f"this would replace {output}, which is read; write to another file")
    if output.is_dir():
        raise BadFile(f"cannot write {output}: it is a folder")
    if not output.parent.is_dir():
        raise BadFile(f"cannot write {output}: its folder is missing; make it first")


def replaceable(path: Path) -> Path | None:
    """As harness/record/whole_file.hpp has it."""
    if path.exists() and not path.is_file():
        return None
    for _ in range(40):
        if os.path.abspath(path).startswith(("/dev/", "/proc/")):
            return None
        if not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    return None  # links in a circle: opening it says so


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A file to write, which then replaces at once what is there, or what a link of that name leads to; where writing fails, not at
    all. What is no regular file, or lies under /dev or /proc, such as /dev/stdout whatever it leads to, is written itself."""
    target = replaceable(path)
    if target is None:
        with path.open("w", newline="", encoding="utf-8") as file:
            yield file
        return
    part = target.with_name(target.name + ".part")
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            yield file
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


def write_csv(path: Path, columns: list[str], rows: Iterable[Iterable[object]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
