"""The operators' problems, read and written as the program does, with their tensors and inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

DIMENSIONS = ("d", "h", "w")
LARGEST = 2**30


class BadProblem(Exception):
    """Sizes that are no problem, in one line."""


@dataclass(frozen=True)
class Input:
    """A tensor whose element i is fl(fl(fl(scale * u_i) + offset) * factor), u from 10 * seed + stream."""

    name: str
    shape: tuple[int, ...]
    stream: int
    scale: float = 1.0
    offset: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True)
class Problem:
    """An operator at given sizes: `text` is the program's own for it."""

    operator: str
    text: str
    inputs: tuple[Input, ...]
    output: tuple[int, ...]
    sizes: dict[str, object]
    products: int = 0  # of the convolution, those that reach the output

    def flops(self) -> int:
        """Two for each product, and ((c + b) + c) * c + c for each output."""
        return 2 * self.products + 4 * math.prod(self.output)

    def useful_bytes(self) -> int:
        """Each input read once, the output written once, float32."""
        return 4 * (sum(math.prod(i.shape) for i in self.inputs) + math.prod(self.output))


def pairs(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for piece in text.split(","):
        key, equals, value = piece.partition("=")
        if not equals or not key:
            raise BadProblem(f"--problem: '{piece}' is not of the form key=value")
        if key in found:
            raise BadProblem(f"--problem: '{key}' is given twice")
        try:
            found[key] = int(value)
        except ValueError:
            raise BadProblem(f"--problem: {key}: '{value}' is not a whole number") from None
    return found


class Sizes:
    """Takes what was given, and knows in the end what nobody asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._given = pairs(text)

    def take(self, name: str, usual: int | None = None, least: int = 1) -> int:
        if name not in self._given:
            if usual is None:
                raise BadProblem(f"--problem '{self._text}': size '{name}' is missing")
            return usual
        value = self._given.pop(name)
        if not least <= value <= LARGEST:
            raise BadProblem(f"--problem: {name} must be between {least} and {LARGEST}, not {value}")
        return value

    def take_all(self, name: str, usual: int | None = None, least: int = 1) -> tuple[int, int, int]:
        if name in self._given:
            usual = self.take(name, usual, least)
        d, h, w = (self.take(name + dimension, usual, least) for dimension in DIMENSIONS)
        return d, h, w

    def expect_nothing_left(self) -> None:
        for name in self._given:
            raise BadProblem(f"--problem: unknown size '{name}'")


def residual_epilogue(text: str) -> Problem:
    text = {"official": "16,64,32,64,64", "quick": "1,64,32,64,64"}.get(text, text)
    names = ("n", "c", "d", "h", "w")
    if "=" not in text:
        numbers = text.split(",")
        if len(numbers) != len(names):
            raise BadProblem(f"--problem '{text}': write quick, official, five numbers N,C,D,H,W, or n=,c=,d=,h=,w=")
        text = ",".join(f"{name}={number}" for name, number in zip(names, numbers))
    sizes = Sizes(text)
    shape = tuple(sizes.take(name) for name in names)
    sizes.expect_nothing_left()
    inputs = (Input("c", shape, 1), Input("b", (shape[1], 1, 1, 1), 4, 4.0, -2.0))
    canonical = ",".join(f"{name}={size}" for name, size in zip(names, shape))
    return Problem("residual_epilogue", canonical, inputs, shape, {})


def conv_transpose3d_residual(text: str) -> Problem:
    layer = "k=3,s=2,p=1,op=1"
    text = {"official": f"n=16,ci=32,co=64,d=16,h=32,w=32,{layer}",
            "quick": f"n=1,ci=32,co=64,d=8,h=16,w=16,{layer}"}.get(text, text)
    sizes = Sizes(text)
    n, ci, co = (sizes.take(name) for name in ("n", "ci", "co"))
    extents = tuple(sizes.take(name) for name in DIMENSIONS)
    k = sizes.take_all("k")
    s = sizes.take_all("s", 1)
    p = sizes.take_all("p", 0, 0)
    op = sizes.take_all("op", 0, 0)
    dil = sizes.take_all("dil", 1)
    groups = sizes.take("g", 1)
    bias = sizes.take("bias", 1, 0)
    sizes.expect_nothing_left()
    if ci % groups or co % groups:
        raise BadProblem(f"--problem: ci={ci} and co={co} must be divisible by g={groups}")
    if bias > 1:
        raise BadProblem(f"--problem: bias must be 0 or 1, not {bias}")
    out = tuple((extents[i] - 1) * s[i] - 2 * p[i] + dil[i] * (k[i] - 1) + op[i] + 1 for i in range(3))
    for i, dimension in enumerate(DIMENSIONS):
        if op[i] >= max(s[i], dil[i]):
            raise BadProblem(f"--problem: op{dimension}={op[i]} must be smaller than the stride or the dilation")
        if out[i] < 1:
            raise BadProblem(f"--problem: the output's extent {dimension} would be {out[i]}")

    def one_text(name: str, values: tuple[int, ...]) -> list[str]:
        if len(set(values)) == 1:
            return [f"{name}={values[0]}"]
        return [f"{name}{dimension}={value}" for dimension, value in zip(DIMENSIONS, values)]

    words = [f"n={n}", f"ci={ci}", f"co={co}", *(f"{d}={e}" for d, e in zip(DIMENSIONS, extents))]
    words += [word for name, values in (("k", k), ("s", s), ("p", p), ("op", op)) for word in one_text(name, values)]
    words += one_text("dil", dil) if dil != (1, 1, 1) else []
    words += [f"g={groups}"] if groups != 1 else []
    words += ["bias=0"] if not bias else []

    # PyTorch's default initialisation: uniform in +-1 / sqrt(fan-in), of the weight as it is stored.
    bound = 1.0 / math.sqrt(co // groups * math.prod(k))
    inputs = (
        Input("x", (n, ci, *extents), 1),
        Input("w", (ci, co // groups, *k), 2, 2.0, -1.0, bound),
        Input("conv_bias", (co if bias else 0,), 3, 2.0, -1.0, bound),
        Input("b", (co, 1, 1, 1), 4, 4.0, -2.0),
    )
    arguments = {"stride": s, "padding": p, "output_padding": op, "groups": groups, "dilation": dil}
    reached = (sum(0 <= at * s[i] - p[i] + tap * dil[i] < out[i] for at in range(extents[i]) for tap in range(k[i])) for i in range(3))
    products = n * ci * (co // groups) * math.prod(reached)
    return Problem("conv_transpose3d_residual", ",".join(words), inputs, (n, co, *out), arguments, products)


PARSERS = {"conv_transpose3d_residual": conv_transpose3d_residual, "residual_epilogue": residual_epilogue}
