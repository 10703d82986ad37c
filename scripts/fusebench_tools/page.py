"""One HTML file that needs nothing else: verdicts, figures with their data, tables to sort."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fusebench_tools.records import text_of
from fusebench_tools.svg import Drawing

HERE = Path(__file__).resolve().parent
WIDE, NARROW = 920, 380  # pixels: a desk's window and paper; a phone held upright


@dataclass(frozen=True)
class Cell:
    """What a table shows, and what it sorts by where that is another."""

    text: str
    value: object = None
    css: str = ""


@dataclass(frozen=True)
class Column:
    name: str
    number: bool = False
    wordy: bool = False
    long: bool = False  # of names, which `breakable` breaks, and paper anywhere
    hint: str = ""


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([text_of(value) for value in row] for row in rows)
    return text.getvalue()


def prose(text: str) -> str:
    """HTML of a text whose lists of assignments, as `n=16,c=64`, may break behind their commas."""
    return re.sub(r",(?=\S)", ",<wbr>", escape(text))


def verdict(kind: str, headline: str, items: Iterable[str] = ()) -> str:
    """`kind`: good, bad, doubt or nothing."""
    listed = "".join(f"<li>{prose(item)}</li>" for item in items)
    return f'<div class="verdict {kind}"><strong>{escape(headline)}</strong>{f"<ul>{listed}</ul>" if listed else ""}</div>'


def download(name: str, data: str) -> str:
    packed = base64.b64encode(data.encode()).decode()
    return f'<a class="download" download="{escape(name)}" href="data:text/csv;base64,{packed}">{escape(name)}</a>'


def figure(draw: Callable[[int], Drawing | str], caption: str, name: str, data: str, legend: str = "") -> str:
    """The same plot for a wide page and for a phone, and what it shows as NAME.csv."""
    return (f'<figure id="{escape(name)}">{legend}<div class="wide">{draw(WIDE)}</div><div class="narrow">{draw(NARROW)}</div>'
            f"<figcaption>{escape(caption)} {download(name + '.csv', data)}</figcaption></figure>")


def legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """Of (class of the swatch, its colour, text)."""
    return '<ul class="legend">' + "".join(
        f'<li><span class="swatch {css}" style="--c:{colour}"></span>{escape(text)}</li>' for css, colour, text in entries) + "</ul>"


def attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"' if value else ""


def without_empty(names: tuple[str, ...], columns: list[Column], rows: list[list[Cell | str]]
                  ) -> tuple[list[Column], list[list[Cell | str]]]:
    """Without those of `names` that are empty in all rows: they would take room from the others."""
    kept = [i for i, column in enumerate(columns)
            if column.name not in names or any(row[i] not in ("", Cell(""), Cell("", "")) for row in rows)]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def breakable(text: str) -> str:
    """HTML of a list that may break behind each comma, and of a long name that may break once, near its middle. A <wbr> is no
    part of the text, which is searched and copied as it is."""
    name, space, note = text.partition(" ")
    underscores = [i for i, letter in enumerate(name[:-1]) if letter == "_"]
    if "," in name:
        pieces = re.split("(?<=,)", name)
    elif len(name) > 16 and underscores:
        middle = min(underscores, key=lambda i: abs(2 * i + 1 - len(name))) + 1
        pieces = [name[:middle], name[middle:]]
    else:
        pieces = [name]
    return "<wbr>".join(escape(piece) for piece in pieces) + escape(space + note)


def table(columns: list[Column], rows: Iterable[list[Cell | str]]) -> str:
    head = "".join(f'<th scope="col"{attribute("class", "number" if c.number else "")}{attribute("title", c.hint)}>'
                   f"<button>{escape(c.name)}</button></th>" for c in columns)
    body = []
    for row in rows:
        cells = []
        for column, cell in zip(columns, row):
            cell = cell if isinstance(cell, Cell) else Cell(cell)
            marks = {"number": column.number, "wordy": column.wordy, "long": column.long, cell.css: bool(cell.css)}
            css = " ".join(word for word, has in marks.items() if has)
            value = cell.value if cell.value is not None else "" if column.number else None
            sorts_by = "" if value is None else f' data-value="{escape(text_of(value))}"'
            text = breakable(cell.text) if column.long else escape(cell.text)
            cells.append(f'<td{attribute("class", css)}{sorts_by}>{text}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def number(value: float | None, form: str, suffix: str = "") -> Cell:
    return Cell("", "") if value is None else Cell(format(value, form) + suffix, value)


def page(title: str, verdicts: list[str], sections: list[str]) -> str:
    css, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    # Its own icon: a browser would ask a server for one.
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{"".join(verdicts)}
{"".join(sections)}
<script>
{script}</script>
</body>
</html>
"""
