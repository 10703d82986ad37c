"""A trace on a page: the last call of each variant as a row, the host's part above and the GPU's below. Calls differ too much in
length for one linear scale, so those of similar length share an axis."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fusebench_tools import page
from fusebench_tools.page import Cell, Column
from fusebench_tools.page_run import shortened
from fusebench_tools.svg import CHARACTER, Drawing, Scale, time_label
from fusebench_tools.trace import WORK, Call, Slice, Trace, lanes_of, short_name

ALIKE = 4  # calls that share an axis differ by no more than this factor
MOST_SHOWN = 40
NEAR = 0.1  # of a call's time: a host that is no further ahead is drawn where it was
HOST, FLOW, LANE, LANE_STEP = 7, 13, 17, 19  # pixels: the host's strip, the room of arrows, a lane
UNDER = 14  # pixels for names under a lane
MARGIN, LETTER = 6, 6.8  # pixels at either end of a bar with a name, and of a character of it, about
COLOURS = {"call": "var(--host)", "api": "var(--ink)", "kernel": "#0072B2", "memcpy": "#009E73", "memset": "#E69F00"}
WORDS = {"call": "call on the host", "api": "API call that launches", "kernel": "kernel", "memcpy": "copy", "memset": "memset"}
COLUMNS = [Column("variant", long=True), Column("time", True, hint="from the first work's start to the last one's end; on a CPU the call's"),
           Column("work", True, hint="kernels, copies and memsets"), Column("longest", hint="of these"),
           Column("idle", True, hint="when nothing of the call ran"), Column("ahead", True, hint="from the call's start to its first work's"),
           Column("call", True, hint="on the host"), Column("configuration", long=True)]
DATA = ["operator", "variant", "configuration", "problem", "device", "iteration", "kind", "name", "track", "start_ns", "duration_ns",
        "launched_by_start_ns"]


@dataclass
class Axis:
    """Calls of one operator, problem and device on one scale, in nanoseconds from each one's 0."""

    calls: list[Call]

    @property
    def high(self) -> int:
        return max(1, *(call.span_ns for call in self.calls), *(host_end(call) for call in self.calls))

    @property
    def low(self) -> int:
        return min(call.host.start_ns - call.start_ns + moved_by(call) for call in self.calls)


def moved_by(call: Call) -> int:
    """All that the host was ahead, or nothing. To show what lies between would make the kernels small, and shows nothing where the host was
    done before the first began; it is also moved where it began so early that the kernels could not be seen beside it."""
    apart = call.host.end_ns <= call.start_ns or call.ahead_ns > call.span_ns
    return call.ahead_ns if apart and call.ahead_ns > NEAR * call.span_ns else 0


def host_end(call: Call) -> int:
    """Where the host's part is drawn to end, by the row's own clock."""
    return call.host.end_ns - call.start_ns + moved_by(call)


def extent(call: Call) -> int:
    """What a call takes of its axis."""
    return max(1, call.span_ns, host_end(call)) + call.ahead_ns - moved_by(call)


def axes_of(calls: list[Call]) -> list[Axis]:
    """The shortest first; whoever takes more than `ALIKE` times as much as another of an axis begins the next. Those whose host needs much
    more room than their kernels come last, on axes of their own: they would make the others small."""
    axes: list[Axis] = []
    for of_host in (False, True):
        own: list[Axis] = []
        for call in sorted(calls, key=lambda c: c.span_ns):
            if (extent(call) > (1 + NEAR) * call.span_ns) is not of_host:
                continue
            taken = [extent(c) for c in [*own[-1].calls, call]] if own else []
            if not own or max(taken) > ALIKE * min(taken):
                own.append(Axis([]))
            own[-1].calls.append(call)
        axes += own
    return axes


def operators_of(calls: list[Call]) -> list[tuple[tuple[str, ...], list[Call]]]:
    """Calls by operator, problem and device, in the order of the trace."""
    found: dict[tuple[str, ...], list[Call]] = {}
    for call in calls:
        found.setdefault((call.key[0], call.key[3], call.key[4]), []).append(call)
    return list(found.items())


def counted(call: Call) -> str:
    counts = Counter(slice_.kind for slice_ in call.work)
    words = {"kernel": ("kernel", "kernels"), "memcpy": ("copy", "copies"), "memset": ("memset", "memsets")}
    return ", ".join(f"{counts[kind]} {one if counts[kind] == 1 else many}" for kind, (one, many) in words.items() if counts[kind])


def notes_of(call: Call, configuration: bool) -> list[str]:
    """What ran, by how much the host was ahead, and where that alone tells two calls apart the configuration."""
    notes = [call.key[2]] if configuration else []
    if call.work:
        streams = len({slice_.track for slice_ in call.work})
        notes.append(counted(call) + (f" · {streams} streams" if streams > 1 else ""))
        notes.append(f"host {time_label(call.ahead_ns)} ahead" + (", moved to 0" if moved_by(call) else ""))
    elif call.key[4] != "cpu":
        notes.append("nothing of the GPU is in the trace")
    return notes


def letters(pixels: float) -> int:
    """So many fit there with a margin."""
    return int((pixels - 2 * MARGIN) / LETTER)


def name_of(run: list[Slice]) -> str:
    return short_name(run[0].name) if len(run) == 1 else f"{len(run)}× {short_name(run[0].name)}"


class Plot:
    """The drawing of one operator, problem and device, for a width."""

    def __init__(self, names: tuple[str, ...], calls: list[Call], width: int) -> None:
        self.width, self.wide = width, width >= 700
        self.left, self.right = (300.0 if self.wide else 4.0), width - 11 * CHARACTER
        self.repeated = {variant for variant, n in Counter(call.variant for call in calls).items() if n > 1}
        axes = axes_of(calls)
        head = 28 if self.wide else 40
        height = head + sum(34 + sum(self.height(call, self.scale(axis)) for call in axis.calls) for axis in axes)
        self.drawing = Drawing(width, height, f"{names[0]}: the last call of each variant, the host above, the GPU below")
        self.drawing.text(4, 18, names[0], "name")
        note = shortened(" · ".join(names[1:]), 90 if self.wide else 58)
        self.drawing.text(*((width - 4, 18) if self.wide else (4, 32)), note, "note", "end" if self.wide else "start")
        y = float(head)
        for axis in axes:
            y = self.draw_axis(axis, y)

    def scale(self, axis: Axis) -> Scale:
        return Scale(axis.low, axis.high, self.left, self.right)

    def height(self, call: Call, scale: Scale) -> float:
        strips = HOST + (FLOW + sum(self.lane_height(lane, scale) for lane in lanes_of(call.work)) if call.work else 0)
        names = 15 + 13 * len(self.notes(call))
        return (max(strips, names) if self.wide else names + 3 + strips) + 12

    def notes(self, call: Call) -> list[str]:
        """Lines; on a phone, where they stand above the strips, what ran and when are one."""
        notes = notes_of(call, call.variant in self.repeated)
        return notes if self.wide or len(notes) < 2 else [*notes[:-2], " · ".join(notes[-2:])]

    def draw_axis(self, axis: Axis, y: float) -> float:
        scale = self.scale(axis)
        bottom = y + sum(self.height(call, scale) for call in axis.calls)
        self.drawing.x_axis(scale, y, bottom, lambda ns: "0" if abs(ns) < 1e-9 else f"{'−' if ns < 0 else ''}{time_label(abs(ns))}")
        self.drawing.line(self.left, bottom, self.right, bottom, "axis")
        if axis.low < 0:
            self.drawing.line(scale(0), y, scale(0), bottom, "axis")
        for call in axis.calls:
            self.draw_call(call, scale, y)
            y += self.height(call, scale)
        return y + 34

    def draw_call(self, call: Call, scale: Scale, y: float) -> None:
        notes = self.notes(call)
        x, line, anchor, most = (292, y + 14, "end", 46) if self.wide else (4, y + 12, "start", 58)
        self.drawing.text(x, line, shortened(call.variant, 35 if self.wide else 45), "name", anchor)
        for i, note in enumerate(notes):
            self.drawing.text(x, line + 13 * (i + 1), shortened(note, most), "note", anchor)
        top = y + 4 + (0 if self.wide else 13 * len(notes) + 15)
        moved = moved_by(call)

        def host(ns: int) -> float:
            return scale(ns - call.start_ns + moved)

        self.bar(call.host, "call", host, top + 1, HOST - 2, call)
        for slice_ in call.api:
            self.bar(slice_, "api", host, top, HOST, call)
        lanes = lanes_of(call.work)
        tops, at = {}, top + HOST + FLOW
        for lane in lanes:
            tops |= dict.fromkeys(map(id, lane), at)
            at += self.lane_height(lane, scale)
        for source, target in call.arrows:
            self.drawing.line(host(source.start_ns), top + HOST, scale(target.start_ns - call.start_ns), tops[id(target)], "leader",
                              "--c:var(--muted)")
        for lane in lanes:
            for slice_ in lane:
                self.bar(slice_, slice_.kind, lambda ns: scale(ns - call.start_ns), tops[id(slice_)], LANE, call)
            self.label(lane, scale, call, tops[id(lane[0])])
        last = max(call.work, key=lambda s: s.end_ns, default=None)
        self.drawing.text(scale(call.span_ns) + 5, tops[id(last)] + 13 if last else top + 9, time_label(call.span_ns))

    def bar(self, slice_: Slice, kind: str, x, top: float, height: float, call: Call) -> None:  # noqa: ANN001
        since = slice_.start_ns - call.start_ns
        when = f"{time_label(abs(since))} {'before' if since < 0 else 'after'} the first work" if call.work else "the call's start"
        tip = f"{slice_.name}: {when}, takes {time_label(slice_.ns)} ({slice_.track})"
        # So that the shortest can be seen; an outline would hide it.
        width = max(x(slice_.end_ns) - x(slice_.start_ns), 1.5)
        self.drawing.rect(x(slice_.start_ns), top, width, height, "bar slice" if width > 3 and kind in WORK else "bar",
                          f"--c:{COLOURS[kind]}", tip)

    def runs(self, lane: list[Slice], scale: Scale) -> list[list[Slice]]:
        """Kernels whose names have room, several alike close by each other together."""
        runs: list[list[Slice]] = []
        for slice_ in (s for s in lane if s.kind == "kernel"):
            before = runs[-1][-1] if runs else None
            if before and before.name == slice_.name and scale(slice_.start_ns) - scale(before.end_ns) < 5:
                runs[-1].append(slice_)
            else:
                runs.append([slice_])
        return [run for run in runs if letters(scale(run[-1].end_ns) - scale(run[0].start_ns)) >= min(len(name_of(run)), 6)]

    def lane_height(self, lane: list[Slice], scale: Scale) -> float:
        return LANE_STEP + (UNDER if any(len(run) > 1 for run in self.runs(lane, scale)) else 0)

    def label(self, lane: list[Slice], scale: Scale, call: Call, top: float) -> None:
        """In a bar; of several bars under them, where the gaps between them do not strike it out."""
        runs = self.runs(lane, scale)
        for run, after in zip(runs, [*runs[1:], None]):
            first, last = (scale(ns - call.start_ns) for ns in (run[0].start_ns, run[-1].end_ns))
            if len(run) == 1:
                self.drawing.text((first + last) / 2, top + 12.5, shortened(name_of(run), letters(last - first)), "inside", "middle")
            else:
                end = scale(after[0].start_ns - call.start_ns) if after else self.width
                # Beside the line at 0, which the letters' halo would cut.
                self.drawing.text(first + 4, top + LANE + 11, shortened(name_of(run), letters(end - first)), "note")


def data_of(calls: list[Call]) -> str:
    """Every slice of every call, by the call's own clock; nothing is moved here."""
    rows = []
    for call in calls:
        launched_by = {id(target): source.start_ns - call.start_ns for source, target in call.arrows}
        rows += [[*call.key, call.iteration, kind, s.name, s.track, s.start_ns - call.start_ns, s.ns, launched_by.get(id(s))]
                 for kind, s in [("call", call.host), *((s.kind, s) for s in call.api + call.work)]]
    return page.csv_text(DATA, rows)


def table(names: tuple[str, ...], calls: list[Call]) -> str:
    def row(call: Call) -> list[Cell | str]:
        longest = max(call.work, key=lambda s: s.ns, default=None)
        time, host, idle, ahead = (Cell(time_label(ns), ns) for ns in (call.span_ns, call.host.ns, call.idle_ns, call.ahead_ns))
        of_work = [Cell(str(len(call.work)), len(call.work)), shortened(short_name(longest.name), 34), idle, ahead] if longest else [""] * 4
        return [call.variant, time, *of_work, host, "" if call.key[2] == "default" else call.key[2]]

    head = f"<h3>{page.escape(names[0])}</h3><p class=muted>{page.prose(' · '.join(names[1:]))}</p>"
    return head + page.table(*page.without_empty(("work", "longest", "idle", "ahead", "configuration"), COLUMNS, [row(c) for c in calls]))


def section(path: Path, trace: Trace, stem: str) -> str:
    ordered = [call for _, group in operators_of(trace.calls) for call in sorted(group, key=lambda c: c.span_ns)]
    shown = ordered[:MOST_SHOWN]
    kinds = {"call", *(s.kind for call in shown for s in call.api + call.work)}
    entries = [("", colour, WORDS[kind]) for kind, colour in COLOURS.items() if kind in kinds]
    if any(call.arrows for call in shown):
        entries.append(("line", "var(--muted)", "from a launch to what it launched"))
    caption = (f"The last call of each variant. Calls that differ by no more than {ALIKE} times share an axis: lengths compare on one axis, "
               "not from one to the next. ")
    if any(call.work for call in shown):
        caption += ("0 is when a call's first kernel, copy or memset begins; the time at the right is from there to the end of its last. What "
                    "overlaps has lanes of its own. The host is drawn to the same scale. Where it was far ahead, since the call was queued "
                    "behind others, its part is moved to begin at 0, and the row says by how much.")
    else:
        caption += "What is drawn is the call on the host; nothing of a GPU is in the trace."
    if len(ordered) > MOST_SHOWN:
        caption += f" The first {MOST_SHOWN} of {len(ordered)} are drawn; the table and the data have all."
    return (f"<h2>Trace</h2><p class=muted>{page.escape(path.name)}</p>"
            + page.figure(lambda width: "".join(str(Plot(names, group, width).drawing) for names, group in operators_of(shown)), caption, stem,
                          data_of(ordered), page.legend(entries))
            + "".join(table(names, group) for names, group in operators_of(ordered)))


def told(call: Call, configuration: bool) -> str:
    return f"{time_label(call.span_ns)} ({call.variant}{' ' + call.key[2] if configuration else ''})"


def verdict(path: Path, trace: Trace) -> str:
    items = []
    for (operator, problem, device), calls in operators_of(trace.calls):
        ends = [min(calls, key=lambda c: c.span_ns), max(calls, key=lambda c: c.span_ns)][: len(calls)]
        twice = len({call.variant for call in ends}) < len(ends)
        items.append(f"{operator} on {device} at {problem}: {' to '.join(told(call, twice) for call in ends)}")
    items.append("one call of each, with warm caches and a profiler at work: to look at, no result")
    if trace.dropped:
        items.append(f"{trace.dropped} records of the GPU are missing: what is drawn has holes")
    n = len(trace.calls)
    return page.verdict("doubt" if trace.dropped else "", f"Trace of {n} variant{'s' if n > 1 else ''} in {path.name}", items)
