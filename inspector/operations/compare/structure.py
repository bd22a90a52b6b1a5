"""What the differing runs mean: the fields they change, where they lie, and which side's digest fits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

from inspector.core.archive import Archive, member_at
from inspector.core.field import Field, at_path, locate, positions, runs
from inspector.core.field import Run as FieldRun
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.span import Span, united
from inspector.core.verdict import Checksum, Verdict
from inspector.operations.check.checking import state_from
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.compare_views import A, Alignment, B, Change, Difference, Level, Run, Side

MAX_RUNS_EXPLAINED = 10_000
"""Runs whose fields are looked at; those behind are listed with their places alone."""
MAX_FIELDS = 100_000
"""Differing fields listed."""
_MAX_FIELDS_PER_RUN = 1_000
_MAX_STRUCTURE_BYTES = 1 << 20
"""Bytes of one run whose fields are looked at."""
_MAX_SLIDE_BYTES = 4_096
"""How far a run is moved to begin where a structure does."""
_MAX_CHECKSUMS_PER_RUN = 64
_BLOCK_BYTES = 512
"""What is lost of a file by itself is mostly a multiple of this."""
_WITHOUT_VALUE = frozenset((Kind.DATA, Kind.GAP, Kind.GARBAGE, Kind.BYTES, Kind.PADDING))
"""Kinds of fields whose bytes are their only value: those are compared as bytes."""
_MAX_NAMES_SEARCHED = 100_000
"""Members whose names are looked at to tell whether a record has a counterpart."""
_Records = dict[tuple[Kind, str], tuple[tuple[Field, ...], str | None]]
"""Records by kind and name: the fields down to each, and which side is right where it differs."""


# ---- where runs begin ------------------------------------------------------------------------------------------------


def slide_to_structures(found: Alignment, a: Archive, b: Archive, progress: Progress) -> None:
    """Let bytes that only one side has begin where a structure of that side does.

    An inserted record that begins like the one behind it can be aligned in several ways; one of them takes it whole.
    Raises SourceError and Cancelled.
    """
    for at in range(min(len(found), MAX_RUNS_EXPLAINED)):
        progress.advance(0)
        run = found[at]
        ends = run.a.stop == a.source.size and run.b.stop == b.source.size
        # What is missing at the end was cut off there; it did not go missing anywhere before.
        if (run.a.size and run.b.size) or ends:
            continue
        side, span = (a, run.a) if run.a.size else (b, run.b)
        before, _ = found.end(at)
        behind = found[at + 1].a.start if at + 1 < len(found) else a.source.size
        before, behind = min(_MAX_SLIDE_BYTES, run.a.start - before), min(_MAX_SLIDE_BYTES, behind - run.a.stop)
        # So many bytes before it, or behind it, repeat at its other end.
        start, end = side.source.read(span.start - before, before), side.source.read(span.stop - before, before)
        back = _alike(start[::-1], end[::-1])
        ahead = _alike(side.source.read(span.start, behind), side.source.read(span.stop, behind))
        if back or ahead:
            way = _way_to_structure(side.fields, span, back, ahead)
            for place in range(4 * at, 4 * at + 4):
                found.places[place] += way


def _alike(some: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return next((i for i, (x, y) in enumerate(zip(some, other, strict=False)) if x != y), min(len(some), len(other)))


def _way_to_structure(fields: Sequence[Field], span: Span, back: int, ahead: int) -> int:
    """How far from its start the outermost structure begins that a run could begin with; 0 for none."""
    start, stop = span.start - back, span.start + ahead
    ranks: list[tuple[int, int, int]] = []
    for run in islice(runs(fields, start, stop + 1), _MAX_FIELDS_PER_RUN):
        if start <= run.start <= stop:
            chain = _chain(fields, run.path)
            depth = next((at for at, field in enumerate(chain) if field.start == run.start), len(chain) - 1)
            ranks.append((depth, abs(run.start - span.start), run.start - span.start))
    return min(ranks)[2] if ranks else 0


# ---- fields ----------------------------------------------------------------------------------------------------------


def changed_fields(found: Alignment, a: Archive, b: Archive, judge: Judge, progress: Progress) -> Iterator[Difference]:
    """The fields that the runs change, each once. Raises SourceError and Cancelled.

    Records of members (headers, index entries) are paired by kind and name wherever they stand, other fields by name
    where the bytes are aligned.
    """
    own: _Records = {}
    others: _Records = {}
    last: tuple[int, ...] = ()
    for run in islice(found, MAX_RUNS_EXPLAINED):
        progress.advance(0)
        right, _ = judge.right(run)
        _collect(a, run.a, right, own)
        _collect(b, run.b, right, others)
        if not run.a.size or not run.b.size:
            archive, span, name = (a, run.a, "A") if run.a.size else (b, run.b, "B")
            yield from (_only(chain, name, right) for chain in _whole_fields(archive.fields, span))
            continue
        for leaf in _leaves_in(a, run.a):
            if leaf.path != last:
                last = leaf.path
                aligned = [field for _, field in locate(b.fields, leaf.start - run.a.start + run.b.start)]
                yield from _pair(_chain(a.fields, leaf.path), aligned, right)
    for name, mine, theirs, other in (("A", own, others, b), ("B", others, own, a)):
        names = _names(other) if mine.keys() - theirs.keys() else None
        for key, (chain, right) in mine.items():
            if key not in theirs:
                if names is not None and key[1] not in names:
                    yield _only(chain, name, right)
            elif name == "A":
                yield from _record_differences(chain, theirs[key][0], right)


def _names(archive: Archive) -> frozenset[str] | None:
    """The names of all members; None where there are too many to tell."""
    members = archive.members
    if len(members) > _MAX_NAMES_SEARCHED:
        return None
    return frozenset(visible(members.path(at)) for at in range(len(members)))


def _collect(archive: Archive, span: Span, right: str | None, records: _Records) -> None:
    last: tuple[int, ...] = ()
    for leaf in _leaves_in(archive, span):
        chain = _chain(archive.fields, leaf.path)
        at = _record(chain)
        if at >= 0 and leaf.path[: at + 1] != last and len(records) < MAX_FIELDS:
            last = leaf.path[: at + 1]
            records.setdefault((chain[at].kind, visible(chain[at].shown)), (chain[: at + 1], right))


def _pair(own: Sequence[Field], others: Sequence[Field], right: str | None) -> Iterator[Difference]:
    """The difference between two aligned leaves, if their values tell one."""
    if not others or _record(own) >= 0 or _record(others) >= 0:
        return
    mine, theirs = own[-1], others[-1]
    if mine.kind in _WITHOUT_VALUE and theirs.kind in _WITHOUT_VALUE:
        return
    if (mine.kind, mine.name) != (theirs.kind, theirs.name):
        yield _changed(own, others, right, f"Where A has {_title(own)}, B has {_title(others)}.")
    elif mine.shown != theirs.shown:
        yield _changed(own, others, right)


def _record_differences(a: Sequence[Field], b: Sequence[Field], right: str | None) -> Iterator[Difference]:
    """The leaves in which two records of one member differ."""
    own, others = (dict(_named_leaves(each[-1].children, ())) for each in (a, b))
    for key, inner in own.items():
        other, chain = others.get(key), (*a, *inner)
        if other is None:
            yield _only(chain, "A", right)
        elif chain[-1].shown != other[-1].shown:
            yield _changed(chain, (*b, *other), right)
    for key, other in others.items():
        if key not in own:
            yield _only((*b, *other), "B", right)


def _named_leaves(
    fields: Sequence[Field], above: tuple[Field, ...]
) -> Iterator[tuple[tuple[object, ...], tuple[Field, ...]]]:
    """The leaves that have a value, each with what tells it from the others of its record."""
    counts: Counter[tuple[Kind, str]] = Counter()
    for field in islice(fields, _MAX_FIELDS_PER_RUN):
        own = field.kind, field.name
        counts[own] += 1
        if field.children:
            for key, chain in _named_leaves(field.children, (*above, field)):
                yield (own, counts[own], *key), chain
        elif field.kind not in _WITHOUT_VALUE:
            yield (own, counts[own]), (*above, field)


def _leaves_in(archive: Archive, span: Span) -> Iterator[FieldRun]:
    stop = min(span.stop, span.start + _MAX_STRUCTURE_BYTES)
    return islice(runs(archive.fields, span.start, stop), _MAX_FIELDS_PER_RUN)


def _chain(fields: Sequence[Field], path: Sequence[int]) -> tuple[Field, ...]:
    """The fields along a path, outermost first."""
    found = (at_path(fields, path[: at + 1]) for at in range(len(path)))
    return tuple(field for field in found if field is not None)


def _record(chain: Sequence[Field]) -> int:
    """The position in a chain of the record of one member, -1 without one."""
    for at in range(len(chain) - 1, -1, -1):
        if chain[at].kind.about_member and isinstance(chain[at].value, str) and len(chain[at].children) > 0:
            return at
    return -1


def _whole_fields(fields: Sequence[Field], span: Span) -> Iterator[tuple[Field, ...]]:
    """The outermost fields, other than records and their parts, that lie in a run that only one side has."""
    span = Span(span.start, min(span.stop, span.start + _MAX_STRUCTURE_BYTES))
    for chain in islice(_inside(fields, span, ()), _MAX_FIELDS_PER_RUN):
        if chain[-1].kind not in _WITHOUT_VALUE and _record(chain) < 0:
            yield chain


def _only(chain: Sequence[Field], side: str, right: str | None) -> Difference:
    """A field that only one side has."""
    own, words = _field_side(chain), f"{_title(chain)} is only in {side}."
    if side == "A":
        return Difference(Level.FIELD, Change.REMOVED, own, None, right, words)
    return Difference(Level.FIELD, Change.ADDED, None, own, right, words)


def _changed(own: Sequence[Field], others: Sequence[Field], right: str | None, words: str = "") -> Difference:
    words = words or f"{_title(own)} is {_value(own[-1])} in A and {_value(others[-1])} in B."
    return Difference(Level.FIELD, Change.CHANGED, _field_side(own), _field_side(others), right, words)


def _inside(fields: Sequence[Field], span: Span, above: tuple[Field, ...]) -> Iterator[tuple[Field, ...]]:
    for at in positions(fields, *span):
        field = fields[at]
        owned = [each for each in field.spans if each.start < span.stop and span.start < each.stop]
        if not owned:
            continue
        if all(span.start <= each.start and each.stop <= span.stop for each in field.spans):
            yield (*above, field)
        else:
            yield from _inside(field.children, span, (*above, field))


def _title(chain: Sequence[Field]) -> str:
    return " › ".join(_name(field) for field in chain)


def _name(field: Field) -> str:
    names = field.children and isinstance(field.value, str)
    return f"{field.name} {visible(field.shown)}" if names else field.name


def _value(field: Field) -> str:
    if isinstance(field.value, int) and not isinstance(field.value, bool) and not field.text:
        return grouped(field.value)
    return visible(field.shown) or "empty"


def _field_side(chain: Sequence[Field]) -> Side:
    return Side(_title(chain), chain[-1].spans, chain[-1].value)


# ---- digests ---------------------------------------------------------------------------------------------------------


class Digests:
    """The checksums of a checked archive by the bytes they are over or stand at."""

    def __init__(self, archive: Opened) -> None:
        self._checksums: Sequence[Checksum] = archive.checksums
        torn = archive.decoder.torn if archive.decoder is not None else frozenset()
        self.fine = archive.decoder is not None and state_from(torn, archive.findings).fine
        places: list[tuple[int, int, int]] = []
        for at, each in enumerate(self._checksums):
            places += [(start, stop, at) for start, stop in (*each.covers, *each.place) if start < stop]
        places.sort()
        self._places = places
        self._reach = list(accumulate((stop for _, stop, _ in places), max))

    def over(self, span: Span) -> dict[str, Checksum]:
        """The checksums by name that a run concerns; an empty run concerns those around it."""
        found: dict[str, Checksum] = {}
        first = bisect_right(self._reach, span.start - (not span.size))
        last = bisect_left(self._places, (span.stop + (not span.size), 0, 0))
        for start, stop, at in islice(self._places[first:last], _MAX_CHECKSUMS_PER_RUN):
            if stop > span.start or (not span.size and stop == span.start and start < stop):
                each = self._checksums[at]
                found[each.name] = each
        return found

    def proof(self, span: Span) -> str:
        """The name of a digest over a run if all digests over it fit and cover it whole; else empty."""
        over = list(self.over(span).values())
        if not over or any(each.verdict is not Verdict.VERIFIED for each in over):
            return ""
        known = united(Span(*each) for checksum in over for each in (*checksum.covers, *checksum.place))
        return over[0].name if any(each.start <= span.start and span.stop <= each.stop for each in known) else ""

    def fits(self, span: Span) -> bool:
        """Whether a digest over a run fits."""
        return any(each.verdict is Verdict.VERIFIED for each in self.over(span).values())


class Judge:
    """Tells which side of a run is right, by the digests that the archives record.

    ``related``: the archives have so much in common that a digest that is missing in one of them was lost there.
    """

    def __init__(self, a: Digests, b: Digests, *, related: bool) -> None:
        self._a = a
        self._b = b
        self._related = related

    def right(self, run: Run) -> tuple[str | None, str]:
        """The side whose digest fits, and the sentence that says why or that nothing tells."""
        side, digest = self.proof(run)
        if side is not None:
            own, other = side.upper(), "B" if side == A else "A"
            return side, f"{own} is right: {visible(digest)} fits {own}, not {other}."
        a, b = self._a.over(run.a), self._b.over(run.b)
        if not a and not b:
            return None, "No digest covers these bytes."
        if all(each.verdict is Verdict.VERIFIED for each in (*a.values(), *b.values())):
            return None, "The digests of both sides fit, so nothing tells which one is meant."
        return None, "The digests tell neither side to be right."

    def proof(self, run: Run) -> tuple[str | None, str]:
        """The side whose digest fits, and the name of the digest; None and an empty name where nothing tells."""
        a, b = self._a.over(run.a), self._b.over(run.b)
        a_fits = [each.name for each in a.values() if self._proves(each, b.get(each.name), self._b)]
        b_fits = [each.name for each in b.values() if self._proves(each, a.get(each.name), self._a)]
        if bool(a_fits) is bool(b_fits):
            return None, ""
        return (A, a_fits[0]) if a_fits else (B, b_fits[0])

    def _proves(self, own: Checksum, other: Checksum | None, side: Digests) -> bool:
        """Whether a digest fits its own side and shows the other one to be wrong."""
        if own.verdict is not Verdict.VERIFIED:
            return False
        if other is None:
            return self._related and not side.fine
        # Either the bytes of the other side are wrong, or what it records of them is; otherwise it is about others.
        same = own.stored in (other.stored, other.computed)
        return same and other.verdict in (Verdict.MISMATCH, Verdict.DOUBTFUL)


# ---- bytes -----------------------------------------------------------------------------------------------------------


def describe(run: Run, a: Archive, b: Archive, judge: Judge, *, explained: bool) -> Difference:
    """A run as a difference. ``explained``: look up where it lies. Raises SourceError."""
    change = Change.CHANGED if run.a.size and run.b.size else Change.REMOVED if run.a.size else Change.ADDED
    what = _what(run, a, b, change)
    place = where(a if run.a.size else b, run.a if run.a.size else run.b) if explained else ""
    right, why = judge.right(run) if explained else (None, "")
    words = " ".join(filter(None, (f"{what}{place}.", why)))
    return Difference(Level.BYTES, change, Side(None, (run.a,)), Side(None, (run.b,)), right, words)


def _what(run: Run, a: Archive, b: Archive, change: Change) -> str:
    if change is Change.CHANGED:
        place = grouped(run.a.start) + (f" ({grouped(run.b.start)} in B)" if run.a.start != run.b.start else "")
        if run.a.size > 1:
            return f"{in_bytes(run.a.size)} differ at byte {place}"
        old, new = a.source.read(run.a.start, 1), b.source.read(run.b.start, 1)
        size = "One bit" if old and new and (old[0] ^ new[0]).bit_count() == 1 else "One byte"
        return f"{size} differs at byte {place}: {old.hex().upper()} → {new.hex().upper()}"
    span, name, other = (run.a, "A", run.b) if change is Change.REMOVED else (run.b, "B", run.a)
    longer, shorter = (a, b) if change is Change.REMOVED else (b, a)
    if span.stop == longer.source.size and other.start == shorter.source.size:
        return f"{name} goes on for {in_bytes(span.size)} where the other side ends, at byte {grouped(span.start)}"
    block = span.size % _BLOCK_BYTES == 0 and other.start % _BLOCK_BYTES == 0
    hint = ", as many as whole blocks of a disk" if block else ""
    return f"{in_bytes(span.size)} at byte {grouped(span.start)} {verb(span.size, 'is', 'are')} only in {name}{hint}"


def where(archive: Archive, span: Span) -> str:
    """The member and the place in it, or the structure, as the end of a sentence; empty where neither is known."""
    if (member := member_at(archive, span.start)) is not None:
        seen, done = archive.members.seen(member), 0
        for start, stop in seen.spans:
            if start <= span.start < stop:
                return f", in {visible(seen.path)}, byte {grouped(done + span.start - start)} of {grouped(seen.stored)}"
            done += stop - start
    chain = [field for _, field in locate(archive.fields, span.start)]
    return f", in {_title(chain)}" if chain and chain[-1].kind is not Kind.BYTES else ""
