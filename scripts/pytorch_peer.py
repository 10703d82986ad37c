#!/usr/bin/env python3
"""Times PyTorch on the official problem of residual_epilogue, by fusebench's method, as CSV on stdout.

Each sample: 2 x L2 written, then one call between two CUDA events, behind a sleeping kernel so that
launch overhead is hidden. Needs a CUDA build of PyTorch; nothing of fusebench depends on this script.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from collections.abc import Callable

import torch


def eager(c: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The operator as a model would write it: a clone and four kernels."""
    original = c.clone()
    x = c + b
    x = x + original
    x = x * original
    return x + original


def formula(c: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ((c + b) + c) * c + c


def sample_ns(call: Callable[[], object], eraser: torch.Tensor, samples: int) -> list[float]:
    for _ in range(10):
        call()
    times = []
    for _ in range(samples):
        eraser.zero_()
        torch.cuda._sleep(1_000_000)
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop) * 1e6)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    samples = parser.parse_args().samples
    device = torch.device("cuda")
    properties = torch.cuda.get_device_properties(device)
    c = torch.rand(16, 64, 32, 64, 64, device=device)
    b = 4 * torch.rand(64, 1, 1, 1, device=device) - 2
    out = torch.empty_like(c)
    eraser = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device=device)
    compiled = torch.compile(formula)
    tuned = torch.compile(formula, mode="max-autotune-no-cudagraphs")
    calls: dict[str, Callable[[], object]] = {
        "pytorch_eager": lambda: eager(c, b),
        "pytorch_compile": lambda: compiled(c, b),
        "pytorch_compile_max_autotune": lambda: tuned(c, b),
        "pytorch_copy": lambda: out.copy_(c),
    }
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["peer", "torch", "device_name", "problem", "samples", "median_ns", "q1_ns", "q3_ns", "min_ns"])
    for name, call in calls.items():
        times = sample_ns(call, eraser, samples)
        q1, median, q3 = statistics.quantiles(times, n=4)
        writer.writerow([name, torch.__version__, properties.name, "n=16,c=64,d=32,h=64,w=64", samples,
                         round(median), round(q1), round(q3), round(min(times))])


if __name__ == "__main__":
    main()
