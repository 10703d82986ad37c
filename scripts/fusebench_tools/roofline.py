"""The roofline (Williams, Waterman, Patterson 2009) of one device: rates of work over FLOPs for each byte, under measured roofs."""

from __future__ import annotations

from dataclasses import dataclass, field

from fusebench_tools.profiling import key_of
from fusebench_tools.results import Best, Group

Moved = dict[tuple[str, ...], float]


@dataclass(frozen=True)
class Roof:
    """What a control of the same run reached: bytes, or FLOPs, a second."""

    name: str
    rate: float


@dataclass(frozen=True)
class Point:
    """A variant: FLOPs a byte of those that it must move and, where a profiler counted, of those that it moved."""

    best: Best
    flops: float
    useful_bytes: float
    moved_bytes: float | None

    @property
    def intensity(self) -> float:
        return self.flops / self.useful_bytes

    @property
    def moved_intensity(self) -> float | None:
        return self.flops / self.moved_bytes if self.moved_bytes else None

    @property
    def rate(self) -> float:
        return self.flops / self.best.median_ns * 1e9


@dataclass
class Roofline:
    device: str
    device_name: str
    memory: Roof | None
    compute: Roof | None
    strips: list[list[Point]] = field(default_factory=list)  # a problem's points each, fastest first; by intensity

    @property
    def points(self) -> list[Point]:
        return [point for strip in self.strips for point in strip]

    @property
    def roofs(self) -> list[Roof]:
        return [roof for roof in (self.memory, self.compute) if roof]

    def bound(self, intensity: float) -> float | None:
        """FLOP/s that the roofs allow there."""
        allowed = ([self.memory.rate * intensity] if self.memory else []) + ([self.compute.rate] if self.compute else [])
        return min(allowed, default=None)


def rooflines_of(groups: list[Group], moved: Moved) -> list[Roofline]:
    """One for each device; without those whose records say no FLOPs."""
    found: dict[tuple[str, str], Roofline] = {}
    for group in groups:
        work = group.work()
        if work is None:
            continue
        place = (group.device, group.own["device_name"])
        line = found.setdefault(place, Roofline(*place, None, None))
        useful, flops = work
        line.memory = higher(line.memory, memory_roof(group))
        line.compute = higher(line.compute, compute_roof(group))
        line.strips.append([Point(best, flops, useful, None if best.peer else moved.get(key_of(best.row))) for best in group.best])
    for line in found.values():
        line.strips.sort(key=lambda strip: strip[0].intensity)
    return list(found.values())


def higher(one: Roof | None, other: Roof | None) -> Roof | None:
    return max((roof for roof in (one, other) if roof), key=lambda roof: roof.rate, default=None)


def memory_roof(group: Group) -> Roof | None:
    """The best of all controls that only move bytes: what no mix of reads and writes was seen to beat."""
    roofs = [Roof(b.row["variant"], 1e9 * rate) for b in group.controls
             if not b.peer and b.row["variant"] in ("copy", "memcpy", "fill") and (rate := b.number("throughput_gbps"))]
    return max(roofs, key=lambda roof: roof.rate, default=None)


def compute_roof(group: Group) -> Roof | None:
    roofs = [Roof("fma", 1e9 * flops / b.median_ns) for b in group.controls
             if not b.peer and b.row["variant"] == "fma" and (flops := b.number("flops"))]
    return max(roofs, key=lambda roof: roof.rate, default=None)
