"""The program's counter-based generator (harness/core/generator.hd.hpp) on torch tensors."""

from __future__ import annotations

import math

import torch

from fusebench_tools.problems import Input, Problem

SLICE = 2**24  # elements at a time: 64-bit temporaries must fit beside large tensors


def signed(value: int) -> int:
    """A 64-bit word as torch's int64 holds it; products and sums wrap the same way."""
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def shifted(z: torch.Tensor, bits: int) -> torch.Tensor:
    """A logical right shift, which int64 has not."""
    return (z >> bits) & (2 ** (64 - bits) - 1)


def uniform(stream: int, first: int, count: int, device: torch.device) -> torch.Tensor:
    """Values `first` and on of a stream, float32 in [0, 1)."""
    z = torch.arange(first, first + count, dtype=torch.int64, device=device)
    z += signed(stream * 0xD1B54A32D192ED03 + 0x9E3779B97F4A7C15)
    z = (z ^ shifted(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * signed(0x94D049BB133111EB)
    z ^= shifted(z, 31)
    return shifted(z, 40).to(torch.float32) * 2.0**-24


def tensor_of(recipe: Input, seed: int, device: torch.device) -> torch.Tensor:
    count = math.prod(recipe.shape)
    values = torch.empty(count, dtype=torch.float32, device=device)
    stream = 10 * seed + recipe.stream
    scale, offset, factor = (
        torch.tensor(v, dtype=torch.float32, device=device) for v in (recipe.scale, recipe.offset, recipe.factor)
    )
    for first in range(0, count, SLICE):
        piece = values[first : first + SLICE]
        piece.copy_((scale * uniform(stream, first, piece.numel(), device) + offset) * factor)
    return values.reshape(recipe.shape)


def inputs_of(problem: Problem, seed: int, device: torch.device) -> dict[str, torch.Tensor]:
    return {recipe.name: tensor_of(recipe, seed, device) for recipe in problem.inputs}
