#!/usr/bin/env python3
"""Makes the golden data that tests compare with bit for bit, by PyTorch, or checks such a folder.

    python3 reference/make_golden.py --out DIR [--seed N] [--device cpu|cuda]   needs PyTorch
    python3 reference/make_golden.py --check DIR                                needs only NumPy

Exit codes: 0 made, or all equal; 1 something differs; 2 no verdict.

Inputs come from the program's own counter-based generator, so a seed gives the same ones with any
version of PyTorch. The convolution's last bits may differ, which is why c is stored beside y.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import numpy.typing as npt
except ImportError:
    print("make_golden.py: NumPy is missing: pip install numpy", file=sys.stderr)
    sys.exit(2)

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """One ConvTranspose3d, with the same parameters in all three dimensions."""

    x_shape: tuple[int, int, int, int, int]
    out_channels: int
    kernel: int = 3
    stride: int = 2
    padding: int = 1
    output_padding: int = 1
    dilation: int = 1
    groups: int = 1

    def params(self) -> dict[str, Any]:
        names = ("kernel", "stride", "padding", "output_padding", "dilation")
        return {name: [getattr(self, name)] * 3 for name in names} | {"groups": self.groups}


CASES = {
    "groups2": Case((2, 4, 3, 3, 3), 6, groups=2),
    "k2s2": Case((1, 8, 2, 3, 4), 4, kernel=2, padding=0, output_padding=0),
    "main_small": Case((2, 4, 3, 4, 5), 6),
    "odd_channels": Case((2, 5, 3, 3, 3), 7),
    "single_voxel": Case((1, 1, 1, 1, 1), 1),
    "stride1_nopad": Case((1, 3, 4, 4, 4), 5, stride=1, padding=0, output_padding=0),
}

SMALLEST = 2.0**-149
SMALLEST_NORMAL = 2.0**-126
LARGEST = (2 - 2.0**-23) * 2.0**127
SQUARES_TO_LARGEST = (2 - 2.0**-23) * 2.0**63
# 2^24 + 1 is no float32: it rounds to 2^24, which so stands there twice.
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, SMALLEST, -SMALLEST, SMALLEST_NORMAL - SMALLEST, SMALLEST_NORMAL,
    -SMALLEST_NORMAL, LARGEST, -LARGEST, SQUARES_TO_LARGEST, -SQUARES_TO_LARGEST, np.inf, -np.inf,
    np.nan, 1e-20, 2.0**24, 2.0**24 + 1, 0.1, 0.3, -2.0, 1 + 2.0**-23, -0.5,
]  # fmt: skip
CHAIN_ELEMENTS = 4096


def uniform(seed: int, stream: int, shape: tuple[int, ...], bound: float) -> F32:
    """Values in [-bound, bound), of the generator in harness/core/generator.hd.hpp."""
    with np.errstate(over="ignore"):
        z = np.arange(np.prod(shape, dtype=np.int64), dtype=np.uint64)
        z += np.uint64((10 * seed + stream) * 0xD1B54A32D192ED03 + 0x9E3779B97F4A7C15 & 2**64 - 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    unit = (z >> np.uint64(40)).astype(np.float64) * 2.0**-24
    return ((2 * unit - 1) * bound).astype(np.float32).reshape(shape)


def residual(c: Any, b: Any) -> Any:
    """y = ((c + b) + c) * c + c, each step rounded to the type of c; for arrays and for tensors."""
    return ((c + b) + c) * c + c


def make_case(case: Case, seed: int, device: str) -> dict[str, Any]:
    """x, weight, conv_bias, bias, and c and y in float32 and in float64 from the same inputs."""
    import torch

    c_in, k = case.x_shape[1], case.kernel
    weight_shape = (c_in, case.out_channels // case.groups, k, k, k)
    bound = float(np.prod(weight_shape[1:])) ** -0.5  # that of PyTorch's own initialisation
    inputs = {
        "x": uniform(seed, 1, case.x_shape, 1.0),
        "weight": uniform(seed, 2, weight_shape, bound),
        "conv_bias": uniform(seed, 3, (case.out_channels,), bound),
        "bias": uniform(seed, 4, (case.out_channels, 1, 1, 1), 2.0),
    }
    results = {}
    for suffix, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        x, weight, conv_bias, b = (torch.from_numpy(v).to(device, dtype) for v in inputs.values())
        c = torch.nn.functional.conv_transpose3d(
            x, weight, conv_bias, case.stride, case.padding, case.output_padding, case.groups,
            case.dilation,
        )  # fmt: skip
        results[f"conv_{suffix}"] = c.cpu().numpy()
        results[f"out_{suffix}"] = residual(c, b).cpu().numpy()
    return inputs | results


def save(folder: Path, arrays: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def make(out: Path, seed: int, device: str) -> None:
    """All folders. With a GPU, y of the chains is stored as each device gives it."""
    import torch

    torch.backends.cudnn.allow_tf32 = False
    for index, (name, case) in enumerate(CASES.items()):
        save(out / name, make_case(case, seed + index, device))
        (out / name / "params.json").write_text(json.dumps(case.params()))

    values = np.array(SPECIAL, dtype=np.float32)
    chains = {
        "special": (np.repeat(values, len(values)), np.tile(values, len(values))),
        "random_chain": (
            uniform(seed + len(CASES), 1, (CHAIN_ELEMENTS,), 4.0),
            uniform(seed + len(CASES), 4, (CHAIN_ELEMENTS,), 2.0),
        ),
    }
    for name, (c, b) in chains.items():
        arrays = {"c": c, "b": b}
        for where, suffix in {"cpu": "cpu", device: device.replace("cuda", "gpu")}.items():
            y = residual(torch.from_numpy(c).to(where), torch.from_numpy(b).to(where))
            arrays[f"out_{suffix}_f32"] = y.cpu().numpy()
        save(out / name, arrays)
    print(f"wrote {out} by PyTorch {torch.__version__} on {device}, seed {seed}")


def bit_equal(got: npt.NDArray[Any], expected: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Element by element; any NaN matches any NaN."""
    bits = np.uint32 if expected.dtype == np.float32 else np.uint64
    return (got.view(bits) == expected.view(bits)) | (np.isnan(got) & np.isnan(expected))


def check(folder: Path) -> int:
    """Recomputes each stored y from the stored c and b and prints how much is bit-equal."""
    outputs = sorted(folder.glob("*/out_*.npy"))
    if not outputs:
        print(f"{folder}: no */out_*.npy to check", file=sys.stderr)
        return 2
    verdict = 0
    for path in outputs:
        whole_operator = (path.parent / "params.json").exists()
        c_name = path.name.replace("out", "conv") if whole_operator else "c.npy"
        c = np.load(path.parent / c_name)
        b = np.load(path.parent / ("bias.npy" if whole_operator else "b.npy")).astype(c.dtype)
        expected = np.load(path)
        with np.errstate(all="ignore"):
            got = residual(c, b)
        if got.shape != expected.shape or got.dtype != expected.dtype:
            print(f"{path}: holds {expected.dtype}{expected.shape}, c is {c.dtype}{c.shape}")
            verdict = 1
            continue
        equal = int(bit_equal(got, expected).sum())
        print(f"{path.relative_to(folder)}: {equal} of {expected.size} bit-equal")
        verdict = max(verdict, int(equal != expected.size))
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--out", type=Path, metavar="DIR", help="make the data in this folder")
    action.add_argument("--check", type=Path, metavar="DIR", help="recompute this folder's outputs")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (default: 1)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="PyTorch's")
    options = parser.parse_args()
    try:
        if options.check:
            return check(options.check)
        make(options.out, options.seed, options.device)
        return 0
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"make_golden.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
