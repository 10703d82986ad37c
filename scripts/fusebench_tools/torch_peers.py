"""The peers: how people run these operators in PyTorch today."""

from __future__ import annotations

import contextlib
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from fusebench_tools.problems import Problem

Tensors = dict[str, torch.Tensor]
Function = Callable[..., torch.Tensor]


class NotHere(Exception):
    """Why this machine cannot run a peer."""


@dataclass(frozen=True)
class Peer:
    name: str
    precision: str  # float32 or tf32: the contract that it is held to
    plan: str  # what is done how, for the record
    compile_mode: str | None = None  # of torch.compile; None: eager
    channels_last: bool = False


def epilogue(c: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """As a model writes it: a clone and four steps, each to a new tensor."""
    original = c.clone().detach()
    y = c + b
    y = y + original
    y = y * original
    return y + original


def function_of(problem: Problem) -> Function:
    """A new function each time, since torch.compile keeps what it made of an earlier one."""
    if problem.operator == "residual_epilogue":

        def whole(c: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return epilogue(c, b)

    else:
        s = problem.sizes

        def whole(x: torch.Tensor, w: torch.Tensor, conv_bias: torch.Tensor | None, b: torch.Tensor) -> torch.Tensor:
            c = torch.nn.functional.conv_transpose3d(
                x, w, conv_bias, s["stride"], s["padding"], s["output_padding"], s["groups"], s["dilation"]
            )
            return epilogue(c, b)

    return whole


def peers_of(problem: Problem, device: torch.device) -> list[Peer]:
    default, tuned = "default", "max-autotune-no-cudagraphs"
    eager = Peer("pytorch_eager", "float32", "eager, TF32 off")
    # TF32 plays no role in the epilogue, nor on a CPU, whose autotuning is for matrix products.
    if problem.operator == "residual_epilogue" or device.type == "cpu":
        peers = [eager, Peer("pytorch_compile", "float32", "torch.compile, TF32 off", default)]
        if device.type == "cuda":
            peers.append(Peer("pytorch_compile_max_autotune", "float32", f"torch.compile {tuned}, TF32 off", tuned))
        return peers
    layout = "eager, TF32 allowed; x, w and y in channels_last_3d, whose conversion is not timed"
    return [
        eager,
        Peer("pytorch_eager_tf32", "tf32", "eager, TF32 allowed"),
        Peer("pytorch_eager_channels_last_tf32", "tf32", layout, channels_last=True),
        Peer("pytorch_compile_tf32", "tf32", "torch.compile, TF32 allowed", default),
        Peer("pytorch_compile_max_autotune_tf32", "tf32", f"torch.compile {tuned}, TF32 allowed", tuned),
    ]


@contextlib.contextmanager
def tf32(allowed: bool) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions announce another name for these two
        before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = allowed
        try:
            yield
        finally:
            torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before


def call_of(peer: Peer, problem: Problem, tensors: Tensors) -> Callable[[], torch.Tensor]:
    """What is timed. Raises NotHere when a compiler is missing."""
    arguments = [tensors[recipe.name] for recipe in problem.inputs]
    if peer.channels_last:
        arguments = [
            a.to(memory_format=torch.channels_last_3d) if recipe.name in ("x", "w") else a
            for recipe, a in zip(problem.inputs, arguments)
        ]
    if problem.operator == "conv_transpose3d_residual" and not tensors["conv_bias"].numel():
        arguments[2] = None
    function = function_of(problem)
    if peer.compile_mode is not None:
        if not hasattr(torch, "compile"):
            raise NotHere(f"PyTorch {torch.__version__} has no torch.compile")
        if not any(shutil.which(name) for name in ("c++", "g++", "clang++", "gcc", "cc")):
            raise NotHere("torch.compile needs a C++ compiler, such as g++")
        torch._dynamo.reset()
        function = torch.compile(function, mode=peer.compile_mode, dynamic=False)
    return lambda: function(*arguments)
