"""One good archive out of damaged copies: every difference from the copy whose digest proves it, or taken by hand.

Where no digest tells, a difference is chosen by majority or by how well-known files begin. What is chosen and not
proved is written only with consent.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice, product
from math import prod
from pathlib import Path
from string import ascii_uppercase

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.archive import member_at
from inspector.core.cause import is_cause
from inspector.core.edit import Edit, Patch
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.pieces import Piece, PieceSource, PieceTable
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.formats import damage_of
from inspector.formats._signatures import HEAD_BYTES, has_signature
from inspector.formats.datas3t.decode import INDEX, METADATA, TAR
from inspector.operations.check.checking import check_archive, check_location, state_of
from inspector.operations.compare.alignment import Run
from inspector.operations.compare.comparing import Comparison
from inspector.operations.compare.structure import Digests, where
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.compare_views import A, Alignment, CombinePlan, Difference, Ground, Step
from inspector.sources.local.atomic import NewFile, NewFiles
from inspector.sources.web.address import is_remote

NOTHING = "Nothing was written."
_BESIDE = ((METADATA, ""), (INDEX, TAR))
"""Files beside a range that belong to it: what their names end with, and what that stands for."""


class CombinedSource(PieceSource):
    """Pieces of several sources, each with its number, read as one; ``beside`` is the source whose siblings it has.

    A sibling that this source lacks is taken from the first that has one.
    """

    def __init__(self, sources: Sequence[Source], pieces: Sequence[tuple[int, Span]], beside: int) -> None:
        table = PieceTable(Piece(sources[number], span.start, span.size) for number, span in pieces)
        super().__init__(sources[beside], table)
        self._with_siblings = [sources[beside], *sources]

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        return next((each for source in self._with_siblings if (each := source.sibling(suffix, instead_of))), None)

    def companions(self) -> dict[tuple[str, str], Source]:
        """The files beside that belong to a range of a dataset."""
        found = {place: self.sibling(*place) for place in _BESIDE}
        return {place: source for place, source in found.items() if source is not None}

    def companions_digest(self) -> bytes:
        """What identifies the files beside by their contents. Raises SourceError."""
        digest = hashlib.blake2b()
        for (suffix, _), source in self.companions().items():
            digest.update(f"{suffix} {source.size} ".encode())
            for piece in blocks(source, 0, source.size):
                digest.update(piece)
        return digest.digest()


class Combination(Struct, frozen=True):
    """An archive that can be written, and what it is made of."""

    source: CombinedSource
    plan: CombinePlan


def write_combination(combination: Combination, target: str, progress: Progress, *, accept: bool = False) -> str:
    """Write it to a new file, whole or not at all, and return the sentence that says so.

    ``accept``: also where not everything is proved, or where the result is not whole. Raises OperationError without
    that consent and for a target on S3, SourceError if the file exists or cannot be written, and Cancelled.
    """
    source, plan = combination.source, combination.plan
    if plan.needs_consent and not accept:
        sentence = plan.sentence[:1].upper() + plan.sentence[1:]
        raise OperationError(f"{sentence} It is written only if you accept that. {NOTHING}")
    if is_remote(target):
        raise OperationError(f"A combined archive can be written to a file of this machine only. {NOTHING}")
    files = {Path(target): source} | (_beside(source, target) if target.endswith(TAR) else {})
    for path in files:
        if path.exists():
            raise SourceError(f"{visible(str(path))} is there already. {NOTHING}")
    progress.begin("Writing", sum(each.size for each in files.values()))
    with NewFiles() as out:
        for path, each in files.items():
            _copy(each, out.add(path), progress)
    read_back = check_location(target, progress)
    state = read_back.state.value if read_back.state is not None else "not known to be whole"
    return f"{visible(target)} was written: {in_bytes(source.size)}, {plan.sentence} Read back and checked: {state}."


def _beside(source: CombinedSource, target: str) -> dict[Path, Source]:
    found = source.companions().items()
    return {Path(target.removesuffix(instead_of) + suffix): each for (suffix, instead_of), each in found}


def _copy(source: Source, file: NewFile, progress: Progress) -> None:
    written = 0
    for piece in blocks(source, 0, source.size):
        file.write(piece)
        written += len(piece)
        progress.advance(len(piece))
    if written < source.size:
        raise SourceError(f"A source became shorter while it was read. {NOTHING}")


# ---- what each piece is taken from -----------------------------------------------------------------------------------

MAX_COPIES = len(ascii_uppercase)
MAX_STEPS = 1_000
"""Steps of a plan that are listed."""
MAX_LOST = 100
"""Sentences about what stays lost."""
_MAX_TRIALS = 64
_MAX_TRIED_BYTES = 16 << 30
"""Bytes checked to find out which pieces of several copies make a digest fit."""


class _Cluster(Struct):
    """A stretch of the first copy where others differ: their ``runs`` and ``pieces`` by their numbers."""

    a: Span
    runs: dict[int, list[int]] = field(default_factory=dict)
    pieces: dict[int, Span] = field(default_factory=dict)


class _Choice(Struct, frozen=True):
    copy: int
    ground: Ground
    why: str


def combine(comparisons: Sequence[Comparison], progress: Progress, number: int = 0) -> Combination:
    """The archive that takes each difference from the copy that is right; the comparisons have the same A.

    It is decoded and checked before anything is written. Raises OperationError where there is nothing to combine, also
    SourceError and Cancelled.
    """
    return _Combining(comparisons, progress, number).run()


class _Combining:
    def __init__(self, comparisons: Sequence[Comparison], progress: Progress, number: int) -> None:
        if len(comparisons) >= MAX_COPIES:
            raise OperationError(f"At most {MAX_COPIES} copies can be combined. {NOTHING}")
        if any(each.alignment is None for each in comparisons):
            raise OperationError(f"Only copies of one archive can be combined. {NOTHING}")
        self._comparisons = comparisons
        self._alignments = [each.alignment for each in comparisons if each.alignment is not None]
        self._progress = progress
        self._number = number
        first = comparisons[0].a
        self._archives: list[Opened] = [first.archives[0], *(each.b.archives[0] for each in comparisons)]
        self._sources = [each.source for each in self._archives]
        self._letters = ascii_uppercase[: len(self._sources)]
        self._digests = [Digests(each) for each in self._archives]
        self._clusters = _clusters(self._alignments)
        self._beside = 0

    def run(self) -> Combination:
        others = self._other_companions()
        if not self._clusters and not others:
            raise OperationError(f"There is nothing to combine: the bytes are equal. {NOTHING}")
        self._progress.begin("Deciding", len(self._clusters), "differences")
        choices = []
        for cluster in self._clusters:
            choices.append(self._choose(cluster))
            self._progress.advance(1)
        archive, spans = self._checked(choices)
        choices = self._proved_by_result(choices, spans, archive)
        if others:
            archive, spans, choices = self._choose_companions(choices, archive, spans)
        if tried := self._tried(choices, archive, spans):
            choices = tried
            archive, spans = self._checked(choices)
            choices = self._proved_by_result(choices, spans, archive)
        if held := self._held(choices, archive):
            choices = held
            archive, spans = self._checked(choices)
        steps = [self._step(*each) for each in zip(self._clusters, choices, spans, strict=True)]
        if others:
            steps.append(self._companion_step(archive))
        return Combination(
            source_of(archive),
            planned(
                archive,
                steps,
                [self._comparisons[0].summary.a, *(each.summary.b for each in self._comparisons)],
                self._number,
            ),
        )

    # ---- putting together --------------------------------------------------------------------------------------

    def _checked(self, choices: Sequence[_Choice]) -> tuple[Opened, list[Span]]:
        """The archive that these choices make, decoded and checked, and where each of them stands in it."""
        pieces: list[tuple[int, Span]] = []
        spans: list[Span] = []
        at = size = 0
        for cluster, choice in zip(self._clusters, choices, strict=True):
            piece = cluster.pieces.get(choice.copy, cluster.a)
            copy = choice.copy if choice.copy in cluster.pieces else 0
            pieces += ((0, Span(at, cluster.a.start)), (copy, piece))
            size += cluster.a.start - at
            spans.append(Span(size, size + piece.size))
            size += piece.size
            at = cluster.a.stop
        pieces.append((0, Span(at, self._sources[0].size)))
        source = CombinedSource(self._sources, pieces, self._beside)
        return checked(source, self._progress), spans

    # ---- choosing ----------------------------------------------------------------------------------------------

    def _choose(self, cluster: _Cluster) -> _Choice:
        proved = self._proofs(cluster)
        groups = self._groups(cluster)
        by_copy = {copy: at for at, group in enumerate(groups) for copy in group}
        fitting = {by_copy[copy] for copy in proved}
        if len(fitting) == 1:
            copy = groups[fitting.pop()][0]
            digest = next(digest for each, digest in proved.items() if by_copy[each] == by_copy[copy])
            return _Choice(copy, Ground.PROVED, f"Proved: {visible(digest)} fits {self._letters[copy]}.")
        ranked = sorted(groups, key=len, reverse=True)
        if not fitting and len(ranked[0]) > len(ranked[1]):
            words = f"{len(ranked[0])} of {len(self._sources)} copies agree"
            return _Choice(ranked[0][0], Ground.MAJORITY, f"Chosen, not proved: {words}.")
        if not fitting and (signed := self._signed(cluster, groups)):
            return signed
        words = "the digests of several copies fit" if fitting else "nothing tells which copy is right"
        return _Choice(0, Ground.UNDECIDED, f"Not decided: {words}, so it stays as in A.")

    def _proofs(self, cluster: _Cluster) -> dict[int, str]:
        """The copies that a digest proves, each with its name."""
        found: dict[int, str] = {}
        for copy, runs in cluster.runs.items():
            judge = self._comparisons[copy - 1].judge
            for at in runs if judge is not None else ():
                assert judge is not None
                side, digest = judge.proof(_run(self._alignments[copy - 1], at))
                if side is not None:
                    found.setdefault(0 if side == A else copy, digest)
        return found

    def _groups(self, cluster: _Cluster) -> list[list[int]]:
        """The copies by what they have here, the first copy in the first group."""
        same = [copy for copy in range(len(self._sources)) if copy not in cluster.pieces]
        if len(cluster.pieces) == 1:
            return [same, list(cluster.pieces)]
        by_content: dict[tuple[int, bytes], list[int]] = {}
        for copy, span in cluster.pieces.items():
            digest = hashlib.blake2b(digest_size=16)
            for piece in blocks(self._sources[copy], *span):
                digest.update(piece)
                self._progress.advance(0)
            by_content.setdefault((span.size, digest.digest()), []).append(copy)
        return [same, *by_content.values()]

    def _signed(self, cluster: _Cluster, groups: Sequence[Sequence[int]]) -> _Choice | None:
        """The only content with which the member here begins like a well-known file."""
        begins = self._member_start(cluster.a)
        if begins is None:
            return None
        start, name = begins
        ahead = self._sources[0].read(start, cluster.a.start - start)
        signed = []
        for group in groups:
            span = cluster.pieces.get(group[0], cluster.a)
            head = ahead + self._sources[group[0]].read(span.start, HEAD_BYTES - len(ahead))
            if has_signature(head[:HEAD_BYTES]):
                signed.append(group[0])
        if len(signed) != 1:
            return None
        words = f"{visible(name)} begins like a well-known kind of file in {self._letters[signed[0]]} alone"
        return _Choice(signed[0], Ground.SIGNATURE, f"Chosen, not proved: {words}.")

    def _member_start(self, span: Span) -> tuple[int, bytes] | None:
        """Where a member begins whose first bytes these are, and its name."""
        archive = self._archives[0]
        index = member_at(archive, span.start)
        if index is None:
            return None
        seen = archive.members.seen(index)
        start = seen.spans[0].start if seen.spans else span.start + 1
        return (start, seen.path) if start <= span.start < start + HEAD_BYTES else None

    # ---- proofs by the result ----------------------------------------------------------------------------------

    def _proved_by_result(self, choices: Sequence[_Choice], spans: Sequence[Span], archive: Opened) -> list[_Choice]:
        """What is not proved yet but is covered by digests that fit, where they fit no copy by itself."""
        digests = Digests(archive)
        found = []
        for cluster, choice, span in zip(self._clusters, choices, spans, strict=True):
            name = "" if choice.ground is Ground.PROVED or self._fits_alone(cluster) else digests.proof(span)
            why = f"Proved: {visible(name)} fits what the copies make together."
            found.append(replace(choice, ground=Ground.PROVED, why=why) if name else choice)
        return found

    def _fits_alone(self, cluster: _Cluster) -> bool:
        """Whether a digest fits a copy here as it is; then others that fit do not tell which copy is right."""
        if self._digests[0].verified(cluster.a):
            return True
        return any(self._digests[copy].verified(span) for copy, span in cluster.pieces.items())

    def _tried(self, choices: Sequence[_Choice], archive: Opened, spans: Sequence[Span]) -> list[_Choice] | None:
        """The choices with the only pieces that make the digests over them fit, as far as a few trials show them."""
        groups = self._open_groups(choices, archive, spans)
        options = [[[each[0] for each in self._groups(self._clusters[at])] for at in group] for group in groups]
        trials = sum(prod(map(len, each)) for each in options)
        if not groups or trials * archive.source.size > _MAX_TRIED_BYTES:
            return None
        found = list(choices)
        for group, each in zip(groups, options, strict=True):
            if prod(map(len, each)) <= _MAX_TRIALS:
                self._try_group(found, group, each)
        return found if found != list(choices) else None

    def _try_group(self, found: list[_Choice], group: Sequence[int], options: Sequence[Sequence[int]]) -> None:
        """Change the choices of a group to those that alone make digests fit."""
        fits: list[set[int]] = [set() for _ in group]
        for copies in product(*options):
            tried = list(found)
            for at, copy in zip(group, copies, strict=True):
                tried[at] = replace(found[at], copy=copy)
            made, places = self._checked(tried)
            proofs = Digests(made)
            for fitting, at, copy in zip(fits, group, copies, strict=True):
                if proofs.proof(places[at]):
                    fitting.add(copy)
        for fitting, at in zip(fits, group, strict=True):
            if len(fitting) == 1:
                found[at] = replace(found[at], copy=fitting.pop())

    def _open_groups(self, choices: Sequence[_Choice], archive: Opened, spans: Sequence[Span]) -> list[list[int]]:
        """What is not proved, in groups that no digest is over several of."""
        digests = Digests(archive)
        found: list[tuple[set[str], list[int]]] = []
        for at, (cluster, choice) in enumerate(zip(self._clusters, choices, strict=True)):
            if choice.ground is Ground.PROVED or self._fits_alone(cluster):
                continue
            names = {*digests.over(spans[at]), *self._digests[0].over(cluster.a)}
            names.update(name for copy, span in cluster.pieces.items() for name in self._digests[copy].over(span))
            if not names:
                continue
            members = [at]
            for each in [each for each in found if each[0] & names]:
                found.remove(each)
                names |= each[0]
                members += each[1]
            found.append((names, sorted(members)))
        return [members for _, members in found]

    def _held(self, choices: Sequence[_Choice], archive: Opened) -> list[_Choice] | None:
        """The choices with those pieces that nothing else decides but without which the archive is worse."""
        open_ = [
            at
            for at, choice in enumerate(choices)
            if choice.ground is Ground.UNDECIDED and not self._fits_alone(self._clusters[at])
        ]
        too_many = len(open_) > _MAX_TRIALS or len(open_) * archive.source.size > _MAX_TRIED_BYTES
        # Copies that are all whole are versions, and pieces of one are not worse than those of another.
        if not open_ or too_many or all(each.fine for each in self._digests):
            return None
        found = list(choices)
        for at in open_:
            states: dict[int, tuple[int, int]] = {}
            for group in self._groups(self._clusters[at]):
                tried = list(found)
                tried[at] = replace(choices[at], copy=group[0])
                states[group[0]] = _badness(self._checked(tried)[0])
            first, *others = sorted(states, key=lambda copy: states[copy])
            if all(states[first] < states[other] for other in others):
                words = f"more of the archive's structure is right with what {self._letters[first]} has"
                found[at] = _Choice(first, Ground.STRUCTURE, f"Chosen, not proved: {words}.")
        return found if found != list(choices) else None

    # ---- files beside ------------------------------------------------------------------------------------------

    def _other_companions(self) -> bool:
        """Whether the copies have different files beside them that belong to the archive."""
        if not any(damage_of(each).beside for each in self._archives):
            return False
        return len({CombinedSource(self._sources, (), at).companions_digest() for at in range(len(self._sources))}) > 1

    def _choose_companions(
        self, choices: list[_Choice], archive: Opened, spans: list[Span]
    ) -> tuple[Opened, list[Span], list[_Choice]]:
        """Take the files beside the archive from the copy with which it is in the best state."""
        best = archive, spans, self._beside
        for at in range(1, len(self._sources)):
            self._beside = at
            made, places = self._checked(choices)
            if _badness(made) < _badness(best[0]):
                best = made, places, at
        self._beside = best[2]
        return best[0], best[1], self._proved_by_result(choices, best[1], best[0])

    def _companion_step(self, archive: Opened) -> Step:
        source = source_of(archive)
        names = " and ".join(suffix for suffix, _ in source.companions())
        fine = state_of((archive,)).fine
        why = "Proved: with it the archive is whole." if fine else "Not decided: it is not whole with any of them."
        ground = Ground.PROVED if fine else Ground.UNDECIDED
        end = Span(source.size, source.size)
        letter = self._letters[self._beside]
        return Step(letter, ground, end, f"The {names or 'files'} beside {letter}. {why}")

    # ---- words -------------------------------------------------------------------------------------------------

    def _step(self, cluster: _Cluster, choice: _Choice, span: Span) -> Step:
        piece = cluster.pieces.get(choice.copy, cluster.a)
        copy = choice.copy if choice.copy in cluster.pieces else 0
        letter = self._letters[choice.copy]
        place = where(self._archives[copy], piece) if piece.size else where(self._archives[0], cluster.a)
        if piece.size:
            what = f"{in_bytes(piece.size)} at byte {grouped(piece.start)} of {letter}"
        else:
            what = (
                f"{in_bytes(cluster.a.size or max(each.size for each in cluster.pieces.values()))} that {letter} lacks"
            )
        return Step(letter, choice.ground, span, f"{what}{place}. {choice.why}")


def checked(source: CombinedSource, progress: Progress) -> Opened:
    """The archive in a source, decoded and checked. Raises SourceError and Cancelled."""
    archive = start(source)
    decode(archive, progress)
    check_archive(archive, progress, causes=False)
    return archive


def source_of(archive: Opened) -> CombinedSource:
    """The pieces of an archive from ``checked``."""
    assert isinstance(archive.source, CombinedSource)
    return archive.source


def _badness(archive: Opened) -> tuple[int, int]:
    return state_of((archive,)).rank, len(archive.findings)


def _run(alignment: Alignment, at: int) -> Run:
    a = Span(alignment.a_starts[at], alignment.a_stops[at])
    return Run(a, Span(alignment.b_starts[at], alignment.b_stops[at]))


def _clusters(alignments: Sequence[Alignment]) -> list[_Cluster]:
    """The stretches of the first copy in which others differ; what touches is one."""
    every = merge(
        *(
            [(alignment.a_starts[at], alignment.a_stops[at], copy, at) for at in range(len(alignment))]
            for copy, alignment in enumerate(alignments, 1)
        )
    )
    found: list[_Cluster] = []
    for start_, stop, copy, at in every:
        if not found or start_ > found[-1].a.stop:
            found.append(_Cluster(Span(start_, stop)))
        last = found[-1]
        last.a = Span(last.a.start, max(last.a.stop, stop))
        last.runs.setdefault(copy, []).append(at)
    for cluster in found:
        for copy, runs in cluster.runs.items():
            alignment = alignments[copy - 1]
            first, last_ = _run(alignment, runs[0]), _run(alignment, runs[-1])
            begin = first.b.start - (first.a.start - cluster.a.start)
            cluster.pieces[copy] = Span(begin, last_.b.stop + cluster.a.stop - last_.a.stop)
    return found


# ---- the plan ----------------------------------------------------------------------------------------------------


def planned(archive: Opened, steps: Sequence[Step], copies: Sequence[str], number: int) -> CombinePlan:
    """The plan of an archive from ``checked``."""
    grounds = Counter(each.ground for each in steps)
    state = state_of((archive,))
    bad = [
        each.message
        for each in archive.findings
        if each.severity is not Severity.INFO and not is_cause(each) and not state.fine
    ]
    needs_consent = not state.fine or grounds[Ground.PROVED] + grounds[Ground.HAND] < len(steps)
    # What is not proved first: it is what has to be decided on.
    listed = sorted(steps, key=lambda each: each.ground is Ground.PROVED)
    return CombinePlan(
        number,
        tuple(copies),
        archive.source.size,
        state.value,
        tuple(islice(listed, MAX_STEPS)),
        dict(grounds),
        tuple(bad[:MAX_LOST]),
        max(0, len(bad) - MAX_LOST) + archive.findings_dropped * (not state.fine),
        needs_consent,
        _sentence(state, grounds),
    )


def _sentence(state: State, grounds: Counter[Ground]) -> str:
    words = {
        Ground.PROVED: "decided by digests",
        Ground.MAJORITY: "chosen by majority, not proved",
        Ground.SIGNATURE: "chosen by how files begin, not proved",
        Ground.STRUCTURE: "chosen by structure, not proved",
        Ground.UNDECIDED: "not decided and as in A",
        Ground.HAND: "taken by hand",
    }
    parts = [f"{count(number, 'difference')} {words[ground]}" for ground in Ground if (number := grounds[ground])]
    whole = "it is whole" if state.fine else f"it is still {state.value}"
    return f"{', '.join(parts)}; {whole}."


def steps_in_words(plan: CombinePlan) -> Iterator[str]:
    """A plan in lines: where everything comes from, then what stays lost."""
    for step in plan.steps:
        yield f"from {step.copy}: {step.message}"
    left = sum(plan.all_steps.values()) - len(plan.steps)
    if left:
        yield f"and {count(left, 'more difference')}."
    for sentence in plan.lost:
        yield f"still wrong: {visible(sentence)}"
    if plan.left_out:
        yield f"and {count(plan.left_out, 'more finding')}."


# ---- by hand ---------------------------------------------------------------------------------------------------------

MAX_TAKEN_BYTES = 16 << 20
"""Bytes taken into a pending change; more go into a new archive."""


def taken(comparison: Comparison, side: str, difference: Difference) -> Edit | None:
    """The change of one side's file that takes a difference from the other side; None where sizes differ.

    Raises OperationError where there is nothing to take, and SourceError.
    """
    own, other, pairs = _hand(comparison, side, difference)
    if any(mine.size != theirs.size for mine, theirs in pairs) or sum(own.size for own, _ in pairs) > MAX_TAKEN_BYTES:
        return None
    patches = []
    for mine, theirs in pairs:
        old, new = own.read(mine.start, mine.size), other.read(theirs.start, theirs.size)
        if len(old) < mine.size or len(new) < theirs.size:
            raise SourceError("A file became shorter since it was compared. Compare again.")
        patches.append(Patch(mine.start, old, new))
    letter = "B" if side == A else "A"
    size = sum(mine.size for mine, _ in pairs)
    return Edit(f"Take {in_bytes(size)} from {letter}", tuple(patches), own.size, own.size)


def combine_by_hand(
    comparison: Comparison, side: str, difference: Difference, progress: Progress, number: int = 0
) -> Combination:
    """One side as it would be with a difference taken from the other. Raises as ``combine`` does."""
    own, other, pairs = _hand(comparison, side, difference)
    pieces: list[tuple[int, Span]] = []
    at = 0
    for mine, theirs in sorted(pairs):
        if mine.start < at:
            raise OperationError(f"Its bytes overlap, so it cannot be taken. {NOTHING}")
        pieces += ((0, Span(at, mine.start)), (1, theirs))
        at = mine.stop
    archive = checked(CombinedSource((own, other), [*pieces, (0, Span(at, own.size))], 0), progress)
    letter = "B" if side == A else "A"
    span = Span(pairs[0][0].start, pairs[0][0].start + pairs[0][1].size)
    step = Step(letter, Ground.HAND, span, f"{visible(difference.message)} Taken by hand from {letter}.")
    names = comparison.summary.a, comparison.summary.b
    return Combination(source_of(archive), planned(archive, [step], names, number))


def _hand(comparison: Comparison, side: str, difference: Difference) -> tuple[Source, Source, list[tuple[Span, Span]]]:
    """Both sources, the one to change first, and which bytes take the place of which."""
    if comparison.alignment is None:
        raise OperationError(f"Bytes can only be taken between two files that were compared as such. {NOTHING}")
    own, other = (each.archives[0].source for each in (comparison.a, comparison.b))
    mine, theirs = difference.a, difference.b
    if side != A:
        own, other, mine, theirs = other, own, theirs, mine
    if mine is None or theirs is None or not mine.spans or len(mine.spans) != len(theirs.spans):
        raise OperationError(
            "Only what both sides have can be taken. Take the bytes that differ instead, or combine the two. " + NOTHING
        )
    return own, other, [(Span(*x), Span(*y)) for x, y in zip(mine.spans, theirs.spans, strict=True)]
