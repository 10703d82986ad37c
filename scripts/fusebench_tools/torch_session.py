"""Runs peers one after the other and makes a record of each, whatever becomes of it."""

from __future__ import annotations

import contextlib
import datetime
import gc
import math
import platform
import re
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path

import torch

from fusebench_tools import records, sampling
from fusebench_tools.problems import Problem
from fusebench_tools.torch_clock import CpuClock, CudaClock
from fusebench_tools.torch_inputs import inputs_of
from fusebench_tools.torch_judge import judge
from fusebench_tools.torch_peers import NotHere, Peer, call_of, tf32

Record = dict[str, object]
COPY = "pytorch_copy"


def output_of(*command: str) -> str:
    """What a program prints; nothing when it is absent or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def one_line(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:300]


def toolkit(device: torch.device) -> str:
    text = f"PyTorch {torch.__version__.split('+')[0]}"
    if device.type != "cuda":
        return text
    cudnn = torch.backends.cudnn.version() or 0
    # 9.19.0 is 91900, and 8.9.7 is 8907.
    major, minor = (cudnn // 10000, cudnn // 100 % 100) if cudnn >= 90000 else (cudnn // 1000, cudnn // 100 % 10)
    return f"{text}, CUDA {torch.version.cuda}, cuDNN {major}.{minor}"


def device_columns(device: torch.device) -> Record:
    if device.type == "cuda":
        driver = output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").splitlines()
        cuda = re.search(r"CUDA Version: *([\d.]+)", output_of("nvidia-smi"))
        text = (driver[0] if driver else "unknown") + (f" (CUDA {cuda[1]})" if cuda else "")
        name = torch.cuda.get_device_name(device)
    else:
        text = f"{platform.system()} {platform.release()}"
        try:
            cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        except OSError:
            cpuinfo = ""
        model = re.search(r"^model name\s*: *(.*)$", cpuinfo, re.MULTILINE)
        name = model[1].strip() if model else platform.processor()
    return {"device": device.type, "device_name": name, "driver": text, "toolkit": toolkit(device),
            "clock_policy": "unknown"}


class Session:
    """Peers of one device; `report` gets each record when it is complete."""

    def __init__(self, device: torch.device, seed: int, limits: sampling.Limits,
                 report: Callable[[Record], None]) -> None:
        self._device = device
        self._seed = seed
        self._limits = limits
        self._report = report
        now = datetime.datetime.now(datetime.timezone.utc)
        commit = output_of("git", "-C", str(records.ROOT), "rev-parse", "HEAD")
        self._common: Record = {
            "schema_version": 1,
            "run_id": f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}",
            "git_commit": commit or "unknown",
            "dirty": bool(commit and output_of("git", "-C", str(records.ROOT), "status", "--porcelain")),
            "configuration": "default",
            "replica": 0,
            "seed": seed,
            "in_place": False,
            **device_columns(device),
        }

    def run(self, problem: Problem, peers: list[Peer], copies: bool) -> None:
        """The copy first: what it reaches is the others' ceiling."""
        ceiling = self._copy(problem) if copies else None
        tensors = inputs_of(problem, self._seed, self._device)
        for peer in peers:
            record = self._blank(problem, problem.operator, peer.name, peer.precision)
            record["plan"] = peer.plan
            try:
                with torch.no_grad(), tf32(peer.precision == "tf32"):
                    record |= self._judged_and_timed(peer, problem, tensors)
                if ceiling and "throughput_gbps" in record:
                    record["ceiling_percent"] = 100 * record["throughput_gbps"] / ceiling
            except NotHere as error:
                record |= {"outcome": "unavailable", "reason": str(error)}
            except Exception as error:  # whatever a compiler or a kernel comes up with costs this peer only
                record |= {"outcome": "failed", "reason": one_line(error)}
            self._finish(record)

    def _judged_and_timed(self, peer: Peer, problem: Problem, tensors: dict[str, torch.Tensor]) -> Record:
        call = call_of(peer, problem, tensors)
        first = self._verdict(problem, tensors, call(), peer.precision)
        if first["outcome"] != "passed":
            return first
        last = [None]

        def kept() -> None:
            last[0] = None  # its memory is used again, as in a model's loop
            last[0] = call()

        timing = self._timing(kept, problem.useful_bytes()) | {"flops": problem.flops()}
        after = self._verdict(problem, tensors, last[0], peer.precision)
        if after["outcome"] != "passed":
            after["reason"] = f"after timing: {after['reason']}"
            return after
        return first | timing

    def _verdict(self, problem: Problem, tensors: dict[str, torch.Tensor], y: torch.Tensor, precision: str) -> Record:
        with tf32(False):
            found = judge(problem, tensors, y, precision)
        outside = found.pop("outside")
        found.pop("beyond_1e4")
        elements = math.prod(problem.output)
        reason = f"{outside} of {elements} elements outside the bound of {precision}" if outside else ""
        return found | {"outcome": "wrong" if outside else "passed", "reason": reason, "cases": 1}

    def _timing(self, call: Callable[[], object], useful_bytes: int) -> Record:
        clock = CudaClock(self._device) if self._device.type == "cuda" else CpuClock()
        gc.disable()
        try:
            times, stop_reason = sampling.take_samples(lambda: clock.cold(call), self._limits)
            timing = sampling.summary(times, stop_reason)
            count = int(min(max(20e6 / max(timing["median_ns"], 1.0), 1), 50))
            timing["back_to_back_ns"] = clock.back_to_back(call, count)
        finally:
            gc.enable()
        if not timing["median_ns"] > 0:
            raise RuntimeError("the call took no time that the clock could see")
        timing["useful_bytes"] = useful_bytes
        timing["throughput_gbps"] = useful_bytes / timing["median_ns"]
        return timing

    def _copy(self, problem: Problem) -> float | None:
        """A control: as many bytes as the output has."""
        record = self._blank(problem, "control", COPY, "exact_order")
        record["plan"] = "Tensor.copy_"
        try:
            source = torch.ones(problem.output, device=self._device)
            target = torch.zeros_like(source)
            record |= self._timing(lambda: target.copy_(source), 2 * 4 * source.numel())
            record |= {"outcome": "passed", "cases": 1}
            if not torch.equal(source, target):
                raise RuntimeError("the copy differs")
        except Exception as error:
            record |= {"outcome": "failed", "reason": one_line(error)}
        self._finish(record)
        return record.get("throughput_gbps") if record["outcome"] == "passed" else None

    def _blank(self, problem: Problem, operator: str, variant: str, precision: str) -> Record:
        return self._common | {"operator": operator, "variant": variant, "problem": problem.text,
                               "precision": precision, "samples": 0, "useful_bytes": 0, "cases": 0, "flops": 0}

    def _finish(self, record: Record) -> None:
        record["timestamp_utc"] = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
        gc.collect()
        if self._device.type == "cuda":
            with contextlib.suppress(RuntimeError):  # a lost device: the next peer will say so
                torch.cuda.empty_cache()
        self._report(record)
