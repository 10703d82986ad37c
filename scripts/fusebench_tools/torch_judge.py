"""Judges an output against the float64 oracle, on the device, in slices that fit beside large tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from fusebench_tools.problems import Problem

Tensors = dict[str, torch.Tensor]

SLICE = 2**23  # elements at a time, at least one batch item
# What rounding operands to the format costs, relative; docs/verification.md derives the bounds.
FORMAT = {"float32": 0.0, "tf32": 2.0**-9}
# In units of 2^-24, what float32 arithmetic may lose: sums in any order, or the epilogue's four steps.
ARITHMETIC = {"conv_transpose3d_residual": 32, "residual_epilogue": 8}


def convolution(problem: Problem, tensors: Tensors, first: int, count: int, sizes: bool) -> torch.Tensor:
    """The convolution of some batch items in float64; with `sizes` the sum of the products' sizes."""
    x, w, bias = (tensors[name].to(torch.float64) for name in ("x", "w", "conv_bias"))
    x = x[first : first + count]
    if sizes:
        x, w, bias = x.abs(), w.abs(), bias.abs()
    return torch.nn.functional.conv_transpose3d(x, w, bias if bias.numel() else None, **problem.sizes)


def growth(problem: Problem, tensors: Tensors) -> torch.Tensor:
    """By how much the sum of the products' sizes counts more, for each position of the output: 2 for each
    factor of 4 beyond 256 products."""
    ones = (torch.ones_like(tensors["x"][:1]), torch.ones_like(tensors["w"]))
    products = torch.nn.functional.conv_transpose3d(*ones, None, **problem.sizes)[:, :1]
    factor = torch.ones_like(products, dtype=torch.float64)
    most = 256
    while most < products.max().item():
        factor = torch.where(products > most, 2 * factor, factor)
        most *= 4
    return factor


def slices(problem: Problem, tensors: Tensors) -> Iterator[tuple[int, int, torch.Tensor, torch.Tensor]]:
    """First item, number of items, c in float64 and what its error scales with."""
    items = problem.output[0]
    step = max(1, SLICE // math.prod(problem.output[1:]))
    grown = growth(problem, tensors) if problem.operator != "residual_epilogue" else None
    for first in range(0, items, step):
        count = min(step, items - first)
        if problem.operator == "residual_epilogue":
            c = tensors["c"][first : first + count].to(torch.float64)
            yield first, count, c, torch.zeros((), dtype=torch.float64, device=c.device)
        else:
            yield (first, count, convolution(problem, tensors, first, count, False),
                   convolution(problem, tensors, first, count, True) * grown)


def residual(c: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """y = ((c + b) + c) * c + c, each step rounded to the type of c."""
    return ((c + b) + c) * c + c


def judge(problem: Problem, tensors: Tensors, y: torch.Tensor, precision: str) -> dict[str, object]:
    """The record's accuracy columns; `outside`, how many elements break the operator's bound for the
    precision, and `beyond_1e4`, how many differ by more than 1e-4 + 1e-4 |e| from e in exact order."""
    if tuple(y.shape) != problem.output or y.dtype != torch.float32:
        raise ValueError(f"the output is {y.dtype}{list(y.shape)}, not float32{list(problem.output)}")
    relative = FORMAT[precision] + ARITHMETIC[problem.operator] * 2.0**-24
    largest = largest_relative = 0.0
    outside = beyond_1e4 = equal = 0
    b32 = tensors["b"]
    b = b32.to(torch.float64)
    for first, count, c, size in slices(problem, tensors):
        got = y[first : first + count].contiguous()
        oracle = residual(c, b)
        exact = residual(c.to(torch.float32), b32)
        error = (got.to(torch.float64) - oracle).abs().nan_to_num(nan=math.inf, posinf=math.inf)
        largest = max(largest, error.max().item())
        share = torch.where(oracle != 0, error / oracle.abs(), torch.zeros_like(error))
        largest_relative = max(largest_relative, share.max().item())

        scale = (4 * c + b + 1).abs() * size + c.abs() * (2 * c.abs() + b.abs() + 1) + 2.0**-6 * size * size
        outside += int((~(error <= relative * scale + 2.0**-146)).sum())
        near = (got - exact).abs() <= 1e-4 + 1e-4 * exact.abs()
        beyond_1e4 += int((~near).sum())
        equal += int((got.view(torch.int32) == exact.view(torch.int32)).sum())
    elements = math.prod(problem.output)
    return {
        "max_abs_error": largest,
        "max_rel_error": largest_relative,
        "within_1e4": beyond_1e4 == 0 and outside == 0,
        "bit_equal_percent": 100 * equal / elements,
        "outside": outside,
        "beyond_1e4": beyond_1e4,
    }
