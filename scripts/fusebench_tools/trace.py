"""A trace of `fusebench profile --trace`: the last call of each variant, with what the host and the GPU did for it."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fusebench_tools.profiling import parse_key
from fusebench_tools.records import BadFile

WORK = ("kernel", "memcpy", "memset")


@dataclass(eq=False)
class Slice:
    """`kind` is the event's category; `track` a thread's or a stream's name; times are since the trace's first moment."""

    kind: str
    name: str
    track: str
    start_ns: int
    end_ns: int
    arguments: dict[str, object] = field(default_factory=dict)

    @property
    def ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(eq=False)
class Call:
    """One call of a variant, in order of time. An arrow joins an API call with what it launched."""

    key: tuple[str, ...]
    host: Slice
    api: list[Slice] = field(default_factory=list)  # those that have an arrow
    work: list[Slice] = field(default_factory=list)
    arrows: list[tuple[Slice, Slice]] = field(default_factory=list)

    @property
    def variant(self) -> str:
        return self.key[1]

    @property
    def iteration(self) -> object:
        return self.host.arguments.get("iteration")

    @property
    def start_ns(self) -> int:
        """Of the first work; of a call that has none, as on a CPU, the call's own."""
        return min((slice_.start_ns for slice_ in self.work), default=self.host.start_ns)

    @property
    def span_ns(self) -> int:
        """From the first work's start to the last one's end."""
        return max((slice_.end_ns for slice_ in self.work), default=self.host.end_ns) - self.start_ns

    @property
    def ahead_ns(self) -> int:
        """By how much the call began before its first work."""
        return self.start_ns - self.host.start_ns

    @property
    def idle_ns(self) -> int:
        """Of the span, when nothing of the call ran."""
        idle, end = 0, self.start_ns
        for slice_ in self.work:
            idle += max(0, slice_.start_ns - end)
            end = max(end, slice_.end_ns)
        return idle


@dataclass
class Trace:
    calls: list[Call]  # in the order in which the trace has the variants
    dropped: int = 0  # records of the GPU that the profiler lost


def is_trace(path: Path) -> bool:
    """Whether a file is JSON, packed or not, by its name or its first bytes."""
    if path.name.endswith((".json", ".json.gz")):
        return True
    try:
        with path.open("rb") as file:
            first = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    return first[:1] in (b"{", b"[") or first[:2] == b"\x1f\x8b"


def read(path: Path) -> Trace:
    """Raises BadFile for a file that is no JSON, is torn, or has no call of a variant."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
        document = json.loads(text)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadFile(f"{path}: cannot be unpacked, perhaps it was cut off: {error}") from None
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from None
    except RecursionError:
        raise BadFile(f"{path}: it is nested too deeply to be a trace") from None
    except ValueError as error:  # of JSON and of UTF-8
        raise BadFile(f"{path}: no JSON, or it was cut off: {error}") from None
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        raise BadFile(f"{path}: no trace, it has no traceEvents; `fusebench profile --trace` writes one")
    try:
        calls = last_calls(calls_of(events))
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None
    if not calls:
        raise BadFile(f"{path}: no call of a variant is in it; `fusebench profile --trace` writes one that has some")
    other = document.get("otherData") if isinstance(document, dict) else None
    counts = [other.get(name) for name in ("dropped_records", "timeless_records")] if isinstance(other, dict) else []
    return Trace(calls, sum(count for count in counts if isinstance(count, int)))


def calls_of(events: list[object]) -> list[Call]:
    """Every call that has a variant's range around it, in order of time. Raises BadFile with the number of an event that is none."""
    slices, arrows = slices_of(events)
    calls: dict[int, Call] = {}  # by what is in a call on its thread
    for track in {id_: None for id_, _ in slices}:
        place_in_calls([slice_ for id_, slice_ in slices if id_ == track], calls)
    found = list({id(call): call for call in calls.values()}.values())
    of_work: dict[int, Call] = {}
    for source, target in arrows:
        call = calls.get(id(source))
        if call:
            call.arrows.append((source, target))
            call.work.append(target)
            of_work[id(target)] = call
            if source not in call.api:
                call.api.append(source)
    launched = {id(target) for _, target in arrows}
    # The further work of a graph's one launch has no arrow: it is that of the call whose work began before it.
    last: dict[tuple[object, object], Call] = {}
    for slice_ in sorted((s for _, s in slices if s.kind in WORK), key=lambda s: s.start_ns):
        name = (slice_.arguments.get("variant"), slice_.arguments.get("iteration"))
        if id(slice_) in of_work:
            last[name] = of_work[id(slice_)]
        elif id(slice_) not in launched and name[0] is not None and name in last:
            last[name].work.append(slice_)
    for call in found:
        call.work.sort(key=lambda s: (s.start_ns, s.end_ns))
        call.api.sort(key=lambda s: s.start_ns)
        call.arrows.sort(key=lambda pair: (pair[1].start_ns, pair[1].end_ns))
    return sorted(found, key=lambda call: call.host.start_ns)


def place_in_calls(track: list[Slice], calls: dict[int, Call]) -> None:
    """Of one thread's slices, which lie in each other: puts those within a call, and the call's own, into `calls`."""
    around: list[tuple[Slice, Call | None, tuple[str, ...] | None]] = []
    for slice_ in sorted(track, key=lambda s: (s.start_ns, -s.end_ns)):
        while around and around[-1][0].end_ns < max(slice_.end_ns, slice_.start_ns + 1):
            around.pop()
        _, call, key = around[-1] if around else (None, None, None)
        if slice_.kind == "harness":
            if of_variant := parse_key(slice_.name):
                key = of_variant
            elif slice_.name == "call" and key:
                call = Call(key, slice_)
        if call:
            calls[id(slice_)] = call
        around.append((slice_, call, key))


def last_calls(calls: Iterable[Call]) -> list[Call]:
    """The last of each variant, configuration, problem and device."""
    return list({call.key: call for call in calls}.values())


def slices_of(events: list[object]) -> tuple[list[tuple[object, Slice]], list[tuple[Slice, Slice]]]:
    """Slices, each with what identifies its track, and arrows from slice to slice."""
    tracks: dict[object, str] = {}
    for event in events:
        if isinstance(event, dict) and event.get("ph") == "M" and event.get("name") == "thread_name":
            arguments = event.get("args")
            if isinstance(arguments, dict):
                # Viewers need further lanes, "stream 7 (2)", for what overlaps; a stream is one all the same.
                tracks[track_of(event)] = re.sub(r" \(\d+\)$", "", str(arguments.get("name")))
    slices: list[tuple[object, Slice]] = []
    at: dict[object, Slice] = {}  # an arrow's end binds to the slice before it that begins then and there
    ends: dict[str, dict[object, Slice]] = {"s": {}, "f": {}}
    for number, event in enumerate(events):
        if not isinstance(event, dict):
            raise BadFile(f"event {number} is no object")
        kind = event.get("ph")
        if kind not in ("X", "s", "f"):
            continue
        track, start = track_of(event), nanoseconds(event, "ts", number)
        if kind == "X":
            arguments = event.get("args")
            slice_ = Slice(str(event.get("cat", "")), str(event.get("name", "")), tracks.get(track, f"track {event.get('tid')}"), start,
                           start + max(0, nanoseconds(event, "dur", number)), arguments if isinstance(arguments, dict) else {})
            slices.append((track, slice_))
            at[track, start] = slice_
        elif (track, start) in at:
            ends[kind][str(event.get("id"))] = at[track, start]
    arrows = [(source, ends["f"][id_]) for id_, source in ends["s"].items() if id_ in ends["f"]]
    return slices, [(source, target) for source, target in arrows if target.kind in WORK]


def track_of(event: dict[str, object]) -> tuple[str, str]:
    return str(event.get("pid")), str(event.get("tid"))


def nanoseconds(event: dict[str, object], name: str, number: int) -> int:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or abs(value) > 1e15:
        raise BadFile(f"event {number}, a {event.get('ph')} of name {event.get('name')!r}: {name} is no time")
    return round(value * 1000)


def lanes_of(work: Iterable[Slice]) -> list[list[Slice]]:
    """Lanes in none of which two overlap, of each stream by itself, in the order in which streams begin."""
    streams: dict[str, list[list[Slice]]] = {}
    for slice_ in sorted(work, key=lambda s: (s.start_ns, s.end_ns)):
        lanes = streams.setdefault(slice_.track, [])
        lane = next((lane for lane in lanes if lane[-1].end_ns <= slice_.start_ns), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(slice_)
    return [lane for lanes in streams.values() for lane in lanes]


def short_name(name: str) -> str:
    """A C++ function's name alone, as `f` of `void a::f<float, 3>(int&)`; what is none stays as it is."""
    bare, depth = "", 0
    if not set(name) & set("<("):
        return name
    for letter in name.replace("(anonymous namespace)::", "").replace("operator()", "operator"):
        if letter in "<(":
            if letter == "(" and depth == 0 and bare:
                break  # its parameters
            depth += 1
        elif letter in ">)":
            depth -= 1
        elif depth == 0:
            bare += letter
    if depth or not bare.strip():
        return name
    return bare.strip().split(" ")[-1].split("::")[-1] or name
