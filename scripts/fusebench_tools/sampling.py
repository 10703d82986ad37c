"""When a median is known, and the statistics of samples: the program's own rules (docs/methodology.md)."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 5
MOST_WARM_UPS = 100


@dataclass(frozen=True)
class Limits:
    min_samples: int = 30
    max_samples: int = 2000
    max_seconds: float = 2.0
    target_width: float = 0.002


def quantile(ordered: list[float], share: float) -> float:
    """By linear interpolation between order statistics, numpy's default."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def median_interval(ordered: list[float]) -> tuple[float, float]:
    """Order statistics l and n + 1 - l, the largest l for which P(Bin(n, 1/2) < l) <= 2.5%."""
    n, below, rank = len(ordered), 0.0, 0
    for k in range(n // 2):
        below += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
        if below > 0.025:
            break
        rank = k
    return ordered[rank], ordered[n - 1 - rank]


def median_is_known(times: list[float], target_width: float) -> bool:
    if len(times) < 6:
        return False
    ordered = sorted(times)
    low, high = median_interval(ordered)
    return high - low <= target_width * quantile(ordered, 0.5)


def is_stable(times: list[float]) -> bool:
    if len(times) < 2 * WINDOW:
        return False
    now, before = statistics.median(times[-WINDOW:]), statistics.median(times[-2 * WINDOW : -WINDOW])
    return abs(now - before) <= 0.02 * before


def take_samples(cold: Callable[[], float], limits: Limits) -> tuple[list[float], str]:
    """Nanoseconds of each cold call after the warm-up, and why it stopped."""
    start, times = time.monotonic(), []
    for _ in range(MOST_WARM_UPS):
        times.append(cold())
        if is_stable(times) or len(times) >= 2 and time.monotonic() - start > limits.max_seconds / 10:
            break

    times, next_look, start = [], min(limits.min_samples, limits.max_samples), time.monotonic()
    while True:
        times.append(cold())
        if len(times) >= next_look:
            if median_is_known(times, limits.target_width):
                return times, "confidence"
            next_look = len(times) + max(1, len(times) // 10)
        if len(times) >= limits.max_samples:
            return times, "max_samples"
        if time.monotonic() - start > limits.max_seconds:
            return times, "max_seconds"


def summary(times: list[float], stop_reason: str) -> dict[str, object]:
    """The record's time columns."""
    ordered = sorted(times)
    low, high = median_interval(ordered)
    mean = statistics.fmean(ordered)
    return {
        "samples": len(times),
        "stop_reason": stop_reason,
        "median_ns": quantile(ordered, 0.5),
        "q1_ns": quantile(ordered, 0.25),
        "q3_ns": quantile(ordered, 0.75),
        "min_ns": ordered[0],
        "cv": statistics.stdev(ordered) / mean if len(ordered) > 1 and mean > 0 else 0.0,
        "ci_low_ns": low,
        "ci_high_ns": high,
    }
