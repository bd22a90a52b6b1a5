"""What a format says of files of its kind that are damaged as a whole; the causes that any file may have ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from inspector.core.archive import Archive
from inspector.core.cause import FoundCause
from inspector.core.finding import Finding
from inspector.core.program.progress import Progress
from inspector.core.source import Source

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Content


class Missing(NamedTuple):
    """What a file that ends too early lacks: so many bytes ``least``, 0 where that is not known.

    ``where`` is a sentence on what shows it.
    """

    least: int
    where: str


class Landmark(NamedTuple):
    """What the archive's records place at ``offset``; ``name`` is at ``at`` in it, and what ``holds`` is there."""

    offset: int
    at: int
    name: bytes
    holds: Callable[[Source, int, bytes], bool]


class Newer(NamedTuple):
    """The archive of the format ``kind`` in the first ``stop`` bytes of a file, written over a longer older one.

    ``certain``: the longer archive cannot have such a member.
    """

    stop: int
    kind: str
    certain: bool


class Anchored(NamedTuple):
    """An archive in the bytes ``[start, stop)``; where it is not ``whole``, it goes on to ``stop`` at least."""

    start: int
    stop: int
    whole: bool = True


class Damage(NamedTuple):
    """What a format knows of damaged files of its kind; nothing by default. All functions may raise SourceError.

    How its archives are built: ``data_first``: they begin with data of members, which may be anything, and all that
    says where these are follows them. ``ends_itself``: their last record says that it is the last. ``block``: all
    in them begins at multiples of so many bytes and is filled up with zeros, so that other zeros may be lost members;
    up to ``end_zeros`` end the file.
    ``named``: name and files beside it make a file such an archive, whatever its bytes are. ``beside`` are the suffixes
    of the files that a copy needs beside it. ``header_member`` is the member that is a header which repair can restore.
    ``trailing`` and ``joined`` are the codes of findings: of bytes after the end, and of those without which archives
    of the kind one after the other are read as one.

    Of one archive: ``missing`` says that it was cut off, ``behind`` what follows its end where the code says too
    little, ``shifted`` that bytes went or came by its headers, and ``resized`` by how many bytes the file is larger
    than ``expected_size``. ``rewritten`` finds that nothing is missing, and that all was written in another way than
    specified. ``flipped_record`` and ``flipped_field`` find the one bit that changed in records that no digest covers,
    and by a finding about two of them. ``undecided`` is a sentence: that digests and the bytes they cover disagree, and
    nothing shows which of them changed. ``landmarks`` are to be looked for elsewhere, in any order. ``repeated`` are
    numbers of bytes that may occur twice. ``places_proved``: what verifies is where it belongs, and ``order_proved``: a
    check shows whether parts of the file changed places.

    Of any bytes: ``begins`` and ``end``: whether an archive begins at a place, and where that one ends. ``last``: where
    the archive begins that ends with the file, not before a place. ``fronts``: where the archive begins that has other
    bytes in front of it, of several that end with the file each. ``anchor`` is a regular expression of bytes by which
    ``anchored`` finds one among any bytes: from the place of a match, and the place before which others are found,
    it tells what archive that is. Where the signature is not the anchor, it only shows that one may begin there.
    ``newer``: what was written over its beginning; ``is_older``: the file
    ends as an archive does of which the bytes before a place were written over, and ``older`` is the content of what is
    left.
    ``turned``: what shows that bytes are in order, as the end of a sentence, of the first bytes as they are and turned.
    """

    data_first: bool = False
    ends_itself: bool = False
    block: int = 0
    end_zeros: int = 0
    named: bool = False
    beside: tuple[str, ...] = ()
    header_member: int | None = None
    trailing: frozenset[str] = frozenset()
    joined: str = ""
    missing: Callable[[Archive], Missing | None] = lambda *_: None
    behind: Callable[[Archive], FoundCause | None] = lambda *_: None
    shifted: Callable[[Archive], FoundCause | None] = lambda *_: None
    resized: Callable[[Archive, int], FoundCause | None] = lambda *_: None
    expected_size: Callable[[Archive], int | None] = lambda *_: None
    rewritten: Callable[[Archive, Progress], FoundCause | None] = lambda *_: None
    flipped_record: Callable[[Archive, Progress], FoundCause | None] = lambda *_: None
    undecided: Callable[[Archive], str] = lambda *_: ""
    flipped_field: Callable[[Archive, Finding], FoundCause | None] = lambda *_: None
    landmarks: Callable[[Archive], Sequence[Landmark]] = lambda _: ()
    repeated: Callable[[Archive], Iterable[int]] = lambda *_: ()
    places_proved: bool = True
    order_proved: bool = False
    begins: Callable[[Source, int], bool] = lambda *_: False
    end: Callable[[Source, int, Progress], int | None] = lambda *_: None
    last: Callable[[Source, int], int | None] = lambda *_: None
    fronts: Callable[[Archive, Progress], Sequence[int]] = lambda *_: ()
    anchor: bytes = b""
    anchored: Callable[[Source, int, int, Progress], Anchored | None] = lambda *_: None
    newer: Callable[[Archive], Newer | None] = lambda *_: None
    is_older: Callable[[Source, int], bool] = lambda *_: False
    older: Callable[[Archive, int], Content] | None = None
    turned: Callable[[bytes, bytes], str] = lambda *_: ""
