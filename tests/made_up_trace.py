"""Traces as `fusebench profile --trace` writes them, made up: times are in microseconds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

HOST, GPU = 10, 11  # processes; the host's only thread has its number
TEMPLATE = "void f<float, 3>(int&)"


class MadeUpTrace:
    """`groups` holds the events; those of one group, a slice and its end of an arrow, stay together."""

    def __init__(self) -> None:
        self.groups: list[list[dict[str, object]]] = []
        self._arrows = 0
        for pid, tid, name in ((HOST, HOST, "main thread"), (GPU, 7, "stream 7"), (GPU, 8, "stream 7 (2)"), (GPU, 9, "stream 9")):
            self.groups.append([{"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}])

    def slice(self, category: str, name: str, pid: int, tid: int, start: float, duration: float, **arguments: object) -> None:
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration}
        self.groups.append([event | ({"args": arguments} if arguments else {})])

    def host(self, name: str, start: float, duration: float, category: str = "harness", **arguments: object) -> None:
        self.slice(category, name, HOST, HOST, start, duration, **arguments)

    def work(self, name: str, start: float, duration: float, stream: int = 7, category: str = "kernel", **arguments: object) -> None:
        self.slice(category, name, GPU, stream, start, duration, **arguments)

    def launch(self, at: float, name: str, start: float, duration: float, **more: object) -> None:
        """An API call of 2 us, what it launched, and the arrow."""
        self._arrows += 1
        self.host("cuLaunchKernel", at, 2, "api")
        self.arrow("s")
        self.work(name, start, duration, **more)
        self.arrow("f")

    def arrow(self, end: str) -> None:
        slice_ = self.groups[-1][0]
        self.groups[-1].append({"ph": end, "cat": "launch", "name": "launch", "id": self._arrows} | {k: slice_[k] for k in ("pid", "tid", "ts")})

    def variant(self, name: str, start: float, duration: float, operator: str = "op", problem: str = "n=1", configuration: str = "default",
                phase: str = "measure") -> None:
        """A phase and the variant's range in it."""
        self.host(phase, start, duration)
        self.host(f"{operator} {name} {configuration} {problem} cuda", start, duration)

    def call(self, start: float, duration: float, iteration: int = 0) -> None:
        self.host("call", start, duration, iteration=iteration, event_ns=1000)

    def document(self) -> dict[str, object]:
        return {"displayTimeUnit": "ns", "otherData": {"dropped_records": 0, "timeless_records": 0, "base_ns": "0"},
                "traceEvents": [event for group in self.groups for event in group]}

    def write(self, path: Path) -> Path:
        data = json.dumps(self.document()).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path


def usual(nasty: str = "<b>") -> MadeUpTrace:
    """Of `op` a variant `queued`, whose last call waits behind the one before it and has two kernels that overlap, and `busy`, whose host
    launches while the GPU works; of `other` one that takes much longer."""
    trace = MadeUpTrace()
    trace.variant("queued", 0, 50)
    for iteration, start in ((0, 100), (1, 300)):
        at = 20 * iteration
        trace.call(at + 1, 10, iteration)
        trace.launch(at + 2, "pack", start, 10, iteration=iteration, variant="queued")
        trace.launch(at + 5, TEMPLATE, start + 5, 95, stream=8, iteration=iteration, variant="queued")
    trace.variant("busy", 1000, 200)
    trace.call(1000, 150)
    trace.launch(1010, "memset", 1050, 10, category="memset", bytes=4)
    trace.launch(1070, nasty, 1080, 40)
    trace.launch(1140, nasty, 1150, 50)
    trace.variant("slow", 2000, 20, operator="other", problem="n=2,c=64")
    trace.call(2000, 10)
    trace.launch(2001, "direct", 2020, 20000)
    return trace
