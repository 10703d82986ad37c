"""What scripts/exhaust found, as a Markdown table: each variant's best configuration and its gain over the default."""

from __future__ import annotations

from pathlib import Path

from fusebench_tools.records import Row, read_numbers
from fusebench_tools.results import time_text

NEEDED = ["operator", "variant", "device_name", "problem", "configurations", "measured", "passed", "default_median_ns",
          "final_configuration", "final_median_ns", "default_over_best", "ties", "driver", "toolkit"]
NUMBERS = ["configurations", "measured", "default_median_ns", "final_median_ns", "default_over_best", "ties"]
COLUMNS = ("variant", "configurations", "default", "best", "over default", "best configuration")


def is_searches(header: list[str]) -> bool:
    return {"default_over_best", "final_configuration"} <= set(header)


def row_text(row: Row) -> list[str]:
    count = row["configurations"] if row["measured"] == row["configurations"] else f"{row['measured']} of {row['configurations']}"
    if not row["final_configuration"]:
        return [f"`{row['variant']}`", count, "", "", "", "no final yet"]
    gain = float(row["default_over_best"])
    stays = gain <= 1.0
    ties = int(row["ties"])
    alike = f", and {ties} that cannot be told from it" if ties else ""
    return [f"`{row['variant']}`", count, time_text(float(row["default_median_ns"])) if row["default_median_ns"] else "",
            time_text(float(row["final_median_ns"])), "" if stays else f"{gain:.3f}x",
            ("the default" if stays else f"`{row['final_configuration']}`") + alike]


def table(path: Path) -> str:
    """Raises BadFile."""
    rows = read_numbers(path, NEEDED, NUMBERS)
    first = rows[0]
    head = (f"{first['operator']}, {first['problem']}, on one {first['device_name']} (driver {first['driver']}, {first['toolkit']}), "
            "every configuration:")
    numbers = ("configurations", "default", "best", "over default")
    return "\n".join([head, "", "| " + " | ".join(COLUMNS) + " |",
                      "|" + "".join("---:|" if name in numbers else "---|" for name in COLUMNS),
                      *("| " + " | ".join(cells) + " |" for cells in map(row_text, rows))])
