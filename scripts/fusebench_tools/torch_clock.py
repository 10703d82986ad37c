"""Times one call of PyTorch with cleared caches, as the program times a variant (docs/methodology.md)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch

Call = Callable[[], object]

MOST_CYCLES = 256_000_000


class CudaClock:
    """Twice the L2 written, a sleeping kernel, an event, the call, an event. One for each peer: how long the
    sleep must be depends on how long its launches take."""

    def __init__(self, device: torch.device) -> None:
        properties = torch.cuda.get_device_properties(device)
        self._eraser = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device=device)
        self._cycles = 1_000_000  # half a millisecond or so

    def _timed(self, call: Call, cycles: int, erase: bool) -> tuple[float, int]:
        """Nanoseconds, and the sleep that was long enough. Raises RuntimeError when none was: the call
        was never all queued before the device began it."""
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        while cycles <= MOST_CYCLES:
            if erase:
                self._eraser.zero_()
            torch.cuda._sleep(cycles)
            start.record()
            call()
            stop.record()
            hidden = not start.query()
            stop.synchronize()
            if hidden:
                return start.elapsed_time(stop) * 1e6, cycles
            cycles *= 2  # launching took longer than the sleep
        raise RuntimeError("the call waits for the device, or takes longer than 100 ms to launch")

    def cold(self, call: Call) -> float:
        nanoseconds, self._cycles = self._timed(call, self._cycles, erase=True)
        return nanoseconds

    def back_to_back(self, call: Call, count: int) -> float:
        def all_of_them() -> None:
            for _ in range(count):
                call()

        return self._timed(all_of_them, self._cycles, erase=False)[0] / count


class CpuClock:
    """Twice all last-level caches written, then the host's monotonic clock around the call."""

    def __init__(self) -> None:
        self._eraser = torch.empty(2 * last_level_cache_bytes(), dtype=torch.uint8)

    def cold(self, call: Call) -> float:
        self._eraser.zero_()
        return self.back_to_back(call, 1)

    def back_to_back(self, call: Call, count: int) -> float:
        start = time.perf_counter_ns()
        for _ in range(count):
            call()
        return (time.perf_counter_ns() - start) / count


def last_level_cache_bytes() -> int:
    """Of all cores together; 64 MiB where the system does not tell."""
    sizes: dict[tuple[int, str], int] = {}
    for index in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cache/index[0-9]*"):
        try:
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            unit = {"K": 2**10, "M": 2**20}[size[-1]]
            sizes[level, (index / "shared_cpu_list").read_text()] = int(size[:-1]) * unit
        except (OSError, ValueError, KeyError):
            continue
    last = max((level for level, _ in sizes), default=0)
    return sum(size for (level, _), size in sizes.items() if level == last) or 64 * 2**20
