"""One good archive out of damaged copies: every difference from the copy whose digest proves it, or taken by hand.

Where no digest tells, a difference is chosen by majority or by how well-known files begin. What is chosen and not
proved is written only with consent.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, product
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
from inspector.operations.check.checking import check_location, checked, state_of
from inspector.operations.compare.comparing import Comparison
from inspector.operations.compare.structure import Digests, where
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.compare_views import A, Alignment, CombinePlan, Difference, Ground, Run, Step
from inspector.sources.local.atomic import NewFiles
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
    files: dict[Path, Source] = {Path(target): source}
    for (suffix, instead_of), each in source.companions().items() if target.endswith(TAR) else ():
        files[Path(target.removesuffix(instead_of) + suffix)] = each
    for path in files:
        if path.exists():
            raise SourceError(f"{visible(str(path))} is there already. {NOTHING}")
    progress.begin("Writing", sum(each.size for each in files.values()))
    with NewFiles() as out:
        for path, each in files.items():
            file, left = out.add(path), each.size
            for piece in blocks(each, 0, each.size):
                file.write(piece)
                left -= len(piece)
                progress.advance(len(piece))
            if left:
                raise SourceError(f"A source became shorter while it was read. {NOTHING}")
    read_back = check_location(target, progress)
    state = read_back.state.value if read_back.state is not None else "not known to be whole"
    return f"{visible(target)} was written: {in_bytes(source.size)}, {plan.sentence} Read back and checked: {state}."


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
    """A stretch ``a`` of the first copy where others differ.

    ``runs`` of the copies that do, by their numbers, and ``pieces`` of those and the first; ``groups`` of copies that
    have the same here, the first copy in the first group. ``judged``: a digest fits a copy as it is here.
    """

    a: Span
    runs: dict[int, list[Run]] = field(default_factory=dict)
    pieces: dict[int, Span] = field(default_factory=dict)
    groups: list[list[int]] = field(default_factory=list)
    judged: bool = False

    def piece(self, copy: int) -> tuple[int, Span]:
        """The copy that a piece is read from, the first where that has the same, and its place there."""
        copy = copy if copy in self.pieces else 0
        return copy, self.pieces[copy]


class _Choice(Struct, frozen=True):
    copy: int
    ground: Ground
    why: str


class _Made(Struct, frozen=True):
    """The archive that choices make, decoded and checked, and where each of them stands in it."""

    choices: list[_Choice]
    spans: list[Span]
    source: CombinedSource
    archive: Opened
    beside: int

    @property
    def badness(self) -> tuple[int, int]:
        return state_of((self.archive,)).rank, len(self.archive.findings)


def combine(comparisons: Sequence[Comparison], progress: Progress) -> Combination:
    """The archive that takes each difference from the copy that is right; the comparisons have the same A.

    It is decoded and checked before anything is written. Raises OperationError where there is nothing to combine, also
    SourceError and Cancelled.
    """
    if len(comparisons) >= MAX_COPIES:
        raise OperationError(f"At most {MAX_COPIES} copies can be combined. {NOTHING}")
    if any(each.alignment is None for each in comparisons):
        raise OperationError(f"Only copies of one archive can be combined. {NOTHING}")
    return _Combining(comparisons, progress).run()


class _Combining:
    def __init__(self, comparisons: Sequence[Comparison], progress: Progress) -> None:
        self._comparisons = comparisons
        self._progress = progress
        self._archives = [comparisons[0].a.archives[0], *(each.b.archives[0] for each in comparisons)]
        self._sources = [each.source for each in self._archives]
        self._digests = [Digests(each) for each in self._archives]
        self._clusters = _clusters([each.alignment for each in comparisons if each.alignment is not None])

    def run(self) -> Combination:
        others = any(damage_of(each).beside for each in self._archives) and self._have_other_companions()
        if not self._clusters and not others:
            raise OperationError(f"There is nothing to combine: the bytes are equal. {NOTHING}")
        self._progress.begin("Deciding", len(self._clusters), "differences")
        choices = []
        for cluster in self._clusters:
            cluster.groups = self._groups(cluster)
            cluster.judged = any(self._digests[copy].fits(span) for copy, span in cluster.pieces.items())
            choices.append(self._choose(cluster))
            self._progress.advance(1)
        made = self._make(choices)
        if others:
            # The files beside come from the copy with which the archive is in the best state.
            each_beside = (self._make(made.choices, at) for at in range(1, len(self._sources)))
            made = min(chain([made], each_beside), key=lambda each: each.badness)
        for decide in (self._tried, self._held):
            if (choices := decide(made)) != made.choices:
                made = self._make(choices, made.beside)
        steps = [self._step(*each) for each in zip(self._clusters, made.choices, made.spans, strict=True)]
        if others:
            steps.append(_companion_step(made))
        copies = [self._comparisons[0].summary.a, *(each.summary.b for each in self._comparisons)]
        return _combination(made.source, made.archive, steps, copies)

    def _have_other_companions(self) -> bool:
        """Whether the copies have different files beside them that belong to the archive."""
        found = set()
        for at in range(len(self._sources)):
            digest = hashlib.blake2b()
            for (suffix, _), source in CombinedSource(self._sources, (), at).companions().items():
                digest.update(f"{suffix} {source.size} ".encode())
                for piece in blocks(source, 0, source.size):
                    digest.update(piece)
            found.add(digest.digest())
        return len(found) > 1

    # ---- putting together --------------------------------------------------------------------------------------

    def _make(self, choices: Sequence[_Choice], beside: int = 0) -> _Made:
        """Make an archive; what is covered by digests that fit it, where they fit no copy by itself, is proved then."""
        pieces: list[tuple[int, Span]] = []
        spans: list[Span] = []
        at = size = 0
        for cluster, choice in zip(self._clusters, choices, strict=True):
            chosen = cluster.piece(choice.copy)
            pieces += ((0, Span(at, cluster.a.start)), chosen)
            size, at = size + cluster.a.start - at, cluster.a.stop
            spans.append(Span(size, size + chosen[1].size))
            size = spans[-1].stop
        pieces.append((0, Span(at, self._sources[0].size)))
        source = CombinedSource(self._sources, pieces, beside)
        archive = checked(source, self._progress, causes=False)
        found, digests = list(choices), Digests(archive)
        for at in self._open(choices):
            if name := digests.proof(spans[at]):
                why = f"Proved: {visible(name)} fits what the copies make together."
                found[at] = replace(found[at], ground=Ground.PROVED, why=why)
        return _Made(found, spans, source, archive, beside)

    def _open(self, choices: Sequence[_Choice]) -> list[int]:
        """What is not proved, and where no digest fits a copy as it is: it would not tell which copy is right."""
        pairs = enumerate(zip(self._clusters, choices, strict=True))
        return [at for at, (cluster, each) in pairs if each.ground is not Ground.PROVED and not cluster.judged]

    # ---- choosing ----------------------------------------------------------------------------------------------

    def _choose(self, cluster: _Cluster) -> _Choice:
        proved = self._proofs(cluster)
        fitting = [group for group in cluster.groups if not proved.keys().isdisjoint(group)]
        if len(fitting) == 1:
            copy = fitting[0][0]
            digest = next(digest for each, digest in proved.items() if each in fitting[0])
            return _Choice(copy, Ground.PROVED, f"Proved: {visible(digest)} fits {ascii_uppercase[copy]}.")
        most, second = sorted(cluster.groups, key=len, reverse=True)[:2]
        if not fitting and len(most) > len(second):
            words = f"{len(most)} of {len(self._sources)} copies agree"
            return _Choice(most[0], Ground.MAJORITY, f"Chosen, not proved: {words}.")
        if not fitting and (signed := self._signed(cluster)):
            return signed
        words = "the digests of several copies fit" if fitting else "nothing tells which copy is right"
        return _Choice(0, Ground.UNDECIDED, f"Not decided: {words}, so it stays as in A.")

    def _proofs(self, cluster: _Cluster) -> dict[int, str]:
        """The copies that a digest proves, each with its name."""
        found: dict[int, str] = {}
        for copy, runs in cluster.runs.items():
            judge = self._comparisons[copy - 1].judge
            for side, digest in map(judge.proof, runs) if judge is not None else ():
                if side is not None:
                    found.setdefault(0 if side == A else copy, digest)
        return found

    def _groups(self, cluster: _Cluster) -> list[list[int]]:
        same = [copy for copy in range(len(self._sources)) if not copy or copy not in cluster.pieces]
        by_content: dict[tuple[int, bytes], list[int]] = {}
        for copy in cluster.runs:
            span, digest = cluster.pieces[copy], hashlib.blake2b(digest_size=16)
            for piece in blocks(self._sources[copy], *span) if len(cluster.runs) > 1 else ():
                digest.update(piece)
                self._progress.advance(0)
            by_content.setdefault((span.size, digest.digest()), []).append(copy)
        return [same, *by_content.values()]

    def _signed(self, cluster: _Cluster) -> _Choice | None:
        """The only content with which the member here begins like a well-known file."""
        archive = self._archives[0]
        index = member_at(archive, cluster.a.start)
        seen = archive.members.seen(index) if index is not None else None
        if seen is None or not seen.spans or not 0 <= cluster.a.start - seen.spans[0].start < HEAD_BYTES:
            return None
        start = seen.spans[0].start
        ahead = self._sources[0].read(start, cluster.a.start - start)
        signed = []
        for first, *_ in cluster.groups:
            head = ahead + self._sources[first].read(cluster.pieces[first].start, HEAD_BYTES - len(ahead))
            if has_signature(head[:HEAD_BYTES]):
                signed.append(first)
        if len(signed) != 1:
            return None
        words = f"{visible(seen.path)} begins like a well-known kind of file in {ascii_uppercase[signed[0]]} alone"
        return _Choice(signed[0], Ground.SIGNATURE, f"Chosen, not proved: {words}.")

    # ---- choosing by the result --------------------------------------------------------------------------------

    def _tried(self, made: _Made) -> list[_Choice]:
        """The choices with the only pieces that make the digests over them fit, as far as a few trials show them."""
        found = list(made.choices)
        groups = self._open_groups(made)
        options = [[[each[0] for each in self._clusters[at].groups] for at in group] for group in groups]
        trials = [prod(map(len, each)) for each in options]
        if sum(trials) * made.archive.source.size > _MAX_TRIED_BYTES:
            return found
        for group, choosable, number in zip(groups, options, trials, strict=True):
            fits: dict[int, set[int]] = {at: set() for at in group}
            for copies in product(*choosable) if number <= _MAX_TRIALS else ():
                tried = list(found)
                for at, copy in zip(group, copies, strict=True):
                    tried[at] = replace(found[at], copy=copy)
                proved = self._make(tried, made.beside).choices
                for at in group:
                    if proved[at].ground is Ground.PROVED:
                        fits[at].add(proved[at].copy)
            for at, fitting in fits.items():
                if len(fitting) == 1:
                    found[at] = replace(found[at], copy=fitting.pop())
        return found

    def _open_groups(self, made: _Made) -> list[list[int]]:
        """What is not proved, in groups that no digest is over several of."""
        digests = Digests(made.archive)
        found: list[tuple[set[str], list[int]]] = []
        for at in self._open(made.choices):
            places = [(digests, made.spans[at])]
            places += [(self._digests[copy], span) for copy, span in self._clusters[at].pieces.items()]
            names, members = {name for known, span in places for name in known.over(span)}, [at]
            for each in [each for each in found if each[0] & names]:
                found.remove(each)
                names |= each[0]
                members += each[1]
            if names:
                found.append((names, sorted(members)))
        return [members for _, members in found]

    def _held(self, made: _Made) -> list[_Choice]:
        """The choices with those pieces that nothing else decides but without which the archive is worse."""
        found = list(made.choices)
        undecided = [at for at in self._open(found) if found[at].ground is Ground.UNDECIDED]
        too_many = len(undecided) > _MAX_TRIALS or len(undecided) * made.archive.source.size > _MAX_TRIED_BYTES
        # Copies that are all whole are versions, and pieces of one are not worse than those of another.
        if too_many or all(each.fine for each in self._digests):
            return found
        for at in undecided:
            states = []
            for copy, *_ in self._clusters[at].groups:
                found[at] = replace(made.choices[at], copy=copy)
                states.append((self._make(found, made.beside).badness, copy))
            found[at] = made.choices[at]
            (best, copy), (next_best, _), *_ = sorted(states)
            if best < next_best:
                words = f"more of the archive's structure is right with what {ascii_uppercase[copy]} has"
                found[at] = _Choice(copy, Ground.STRUCTURE, f"Chosen, not proved: {words}.")
        return found

    # ---- words -------------------------------------------------------------------------------------------------

    def _step(self, cluster: _Cluster, choice: _Choice, span: Span) -> Step:
        copy, piece = cluster.piece(choice.copy)
        letter = ascii_uppercase[choice.copy]
        if piece.size:
            what = f"{in_bytes(piece.size)} at byte {grouped(piece.start)} of {letter}"
            place = where(self._archives[copy], piece)
        else:
            what = (
                f"{in_bytes(cluster.a.size or max(each.size for each in cluster.pieces.values()))} that {letter} lacks"
            )
            place = where(self._archives[0], cluster.a)
        return Step(letter, choice.ground, span, f"{what}{place}. {choice.why}")


def _companion_step(made: _Made) -> Step:
    names = " and ".join(suffix for suffix, _ in made.source.companions())
    fine = state_of((made.archive,)).fine
    why = "Proved: with it the archive is whole." if fine else "Not decided: it is not whole with any of them."
    end, letter = Span(made.source.size, made.source.size), ascii_uppercase[made.beside]
    ground = Ground.PROVED if fine else Ground.UNDECIDED
    return Step(letter, ground, end, f"The {names or 'files'} beside {letter}. {why}")


def _clusters(alignments: Sequence[Alignment]) -> list[_Cluster]:
    """The stretches of the first copy in which others differ; what touches is one."""
    found: list[_Cluster] = []
    for a, copy, b in sorted((run.a, copy, run.b) for copy, each in enumerate(alignments, 1) for run in each):
        if not found or a.start > found[-1].a.stop:
            found.append(_Cluster(a))
        last = found[-1]
        last.a = Span(last.a.start, max(last.a.stop, a.stop))
        last.runs.setdefault(copy, []).append(Run(a, b))
    for cluster in found:
        cluster.pieces[0] = cluster.a
        for copy, runs in cluster.runs.items():
            begin = runs[0].b.start - (runs[0].a.start - cluster.a.start)
            cluster.pieces[copy] = Span(begin, runs[-1].b.stop + cluster.a.stop - runs[-1].a.stop)
    return found


# ---- the plan ----------------------------------------------------------------------------------------------------


def _combination(source: CombinedSource, archive: Opened, steps: Sequence[Step], copies: Sequence[str]) -> Combination:
    grounds = Counter(each.ground for each in steps)
    state = state_of((archive,))
    bad = [each.message for each in archive.findings if each.severity is not Severity.INFO and not is_cause(each)]
    left_out = max(0, len(bad) - MAX_LOST) + archive.findings_dropped
    # What is not proved first: it is what has to be decided on.
    listed = sorted(steps, key=lambda each: each.ground is Ground.PROVED)
    plan = CombinePlan(
        tuple(copies),
        source.size,
        state.value,
        tuple(listed[:MAX_STEPS]),
        dict(grounds),
        () if state.fine else tuple(bad[:MAX_LOST]),
        0 if state.fine else left_out,
        not state.fine or grounds[Ground.PROVED] + grounds[Ground.HAND] < len(steps),
        _sentence(state, grounds),
    )
    return Combination(source, plan)


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


def combine_by_hand(comparison: Comparison, side: str, difference: Difference, progress: Progress) -> Combination:
    """One side as it would be with a difference taken from the other. Raises as ``combine`` does."""
    own, other, pairs = _hand(comparison, side, difference)
    pieces: list[tuple[int, Span]] = []
    at = 0
    for mine, theirs in sorted(pairs):
        if mine.start < at:
            raise OperationError(f"Its bytes overlap, so it cannot be taken. {NOTHING}")
        pieces += ((0, Span(at, mine.start)), (1, theirs))
        at = mine.stop
    source = CombinedSource((own, other), [*pieces, (0, Span(at, own.size))], 0)
    letter = "B" if side == A else "A"
    span = Span(pairs[0][0].start, pairs[0][0].start + pairs[0][1].size)
    step = Step(letter, Ground.HAND, span, f"{visible(difference.message)} Taken by hand from {letter}.")
    copies = comparison.summary.a, comparison.summary.b
    return _combination(source, checked(source, progress, causes=False), [step], copies)


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
