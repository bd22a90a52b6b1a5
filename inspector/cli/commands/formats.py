"""``formats``: the known formats and their limitations."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspector.cli.bootstrap import FINE, NOT_SOUND
from inspector.cli.options import JSON, Option
from inspector.cli.output import emit, say, show
from inspector.core import codes
from inspector.core.cause import is_cause
from inspector.core.field import Field
from inspector.core.format import Format, MemberError
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source
from inspector.formats import FORMATS, formats, recognise
from inspector.operations.check.checking import check_archive
from inspector.operations.jobs.local_paths import local_path
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened, decode, start
from inspector.sources.local.file import FileSource

_INDENT = max(len(known.name) for known in FORMATS) + 2
"""Characters of the column of names."""
_MAX_TRIED_BYTES = 1 << 20
_TRIALS = 64
"""Places where a sample is cut off, and where a bit of it is flipped."""


_UNITS = {Kind.LENGTH: "bytes", Kind.OFFSET: "bytes", Kind.TIME: "time"}


OPTIONS = (
    Option(
        "--new",
        one_of="own",
        metavar="NAME",
        help="print a file that describes a format of this name, to begin with (see help own-format)",
    ),
    Option(
        "--test",
        one_of="own",
        nargs=2,
        metavar=("FILE.py", "SAMPLE"),
        help="say what a file that describes a format leaves out, tried on a sample of it",
    ),
    Option(
        "--fields",
        one_of="own",
        nargs="?",
        const="",
        metavar="FORMAT",
        help="list the names that dump --where knows, with unit and meaning (see help ask)",
    ),
    JSON,
)


def run(options: argparse.Namespace) -> int:
    """Print a paragraph or a JSON object per format, or what was asked of a format of one's own."""
    if options.new:
        emit(_NEW.format(name=options.new.lower(), title=options.new))
        return FINE
    if options.test:
        return _test(*options.test)
    if options.fields is not None:
        return _fields(options.fields)
    for known in formats():
        found = {"name": known.name, "title": known.title, "suffixes": known.suffixes}
        show({**found, "limitations": known.limitations}, *_paragraph(known))
    return FINE


def _fields(wanted: str) -> int:
    """Print the names of fields with what the declarations say of them. Raises OperationError."""
    from inspector.operations.open.asked import names_of_format  # which needs numpy

    names = [known.name for known in formats()]
    if wanted and wanted not in names:
        raise OperationError(f"There is no format {visible(wanted)}; there is {', '.join(names)}.")
    for known in [wanted] if wanted else names:
        for name, (kind, term) in names_of_format(known).items():
            found = {"format": known, "name": name, "unit": _UNITS.get(kind, ""), "meaning": f"{term}: {kind.meaning}"}
            show(found, f"{name:<40}  {found['unit']:<6}  {visible(found['meaning'])}")
    return FINE


def _paragraph(known: Format) -> list[str]:
    lines = [f"{known.name:<{_INDENT}}{known.title} ({' '.join(known.suffixes) or 'recognised by content alone'})"]
    for limitation in known.limitations:
        lines += textwrap.wrap(
            limitation, 100, initial_indent=" " * _INDENT + "- ", subsequent_indent=" " * (_INDENT + 2)
        )
    return lines


# ---- formats of one's own --------------------------------------------------------------------------------------------


_NEW = '''"""{title}: what the format is, and where it is described."""

from inspector.plugin import (
    DIRECTORY_DIAGRAM,
    DIRECTORY_KINDS,
    Directory,
    DirectoryFindings,
    Format,
    Kind,
    Part,
    Record,
    Signature,
    padded_text,
)

MAGIC = b"{title}"  # change this to what files begin with
HEADER = Record(
    Part("magic", len(MAGIC), Kind.SIGNATURE, padded_text),
    Part("at", 4, Kind.OFFSET),  # where the directory begins; numbers are little-endian
    Part("length", 4, Kind.LENGTH),  # its size in bytes
)
ENTRY = Record(
    Part("name", 56, Kind.NAME, padded_text),
    Part("offset", 4, Kind.OFFSET),
    Part("size", 4, Kind.LENGTH),
)
FOUND = DirectoryFindings.of("{name}", "a {title} archive")
LAYOUT = Directory(MAGIC, HEADER, ENTRY, FOUND)  # names of the parts: at=, length=, name=, offset=, size=
FORMAT = Format(
    name="{name}",
    title="{title} archive",
    suffixes=(".{name}",),
    specification="",
    limitations=(),
    probe=LAYOUT.probe,
    decode=LAYOUT.decode,
    read=LAYOUT.read,
    kinds=DIRECTORY_KINDS,
    has_checksums=False,
    findings=FOUND,
    diagram=DIRECTORY_DIAGRAM,
    signature=Signature(MAGIC, "a {title} archive"),
)
'''


def _test(file: str, sample: str) -> int:
    """Say what a format leaves out, and return whether it does. Raises OperationError and SourceError."""
    from inspector.formats._own import OwnFormatError, load_file, using

    try:
        known = load_file(Path(file))
        with using([file]):
            missing = list(_missing(known, FileSource(local_path(sample))))
    except OwnFormatError as error:
        raise OperationError(str(error)) from error
    for each in missing:
        show({"source": sample, "missing": each}, each)
    if not missing:
        say(f"{known.title}: nothing is missing, as far as {visible(sample)} shows.")
    return NOT_SOUND if missing else FINE


def _missing(known: Format, sample: Source) -> Iterator[str]:
    """What a format leaves out, in sentences."""
    if not sample.name.lower().endswith(known.suffixes):
        name, suffixes = visible(Path(sample.name).name), " ".join(known.suffixes) or "none"
        yield f"suffixes: the sample is {name}, and they are {suffixes}."
    for name in ("specification", "findings", "signature", "diagram"):
        if not getattr(known, name):
            yield f"{name}: there is none."
    found = recognise(sample)
    if found is None or found.name != known.name:
        yield f"probe: the sample is taken for {found.title if found else 'no known format'}."
        return
    archive = start(sample)
    decode(archive, Progress())
    check_archive(archive, Progress())
    declared = {each.code for each in (*known.findings, *codes.FINDINGS)}
    for each in archive.findings:
        yield f"finding: {each.message} [{each.code}]"
        if each.code not in declared and not is_cause(each):
            yield f"findings: {each.code} is reported and not declared."
    kinds = {*known.kinds, *(kind for kind in vars(Kind).values() if isinstance(kind, Kind))}
    for field in _leaves(archive.fields):
        if field.kind in (Kind.GAP, Kind.GARBAGE, Kind.BYTES):
            yield f"fields: nothing says what the bytes {_places(field)} are ({field.name})."
        if field.kind not in kinds:
            yield f"kinds: {field.kind} is used at {_places(field)} and not declared."
    for index in range(len(archive.members)):
        yield from _wrong_content(known, archive, index)
    yield from _failures(sample)


def _wrong_content(known: Format, archive: Opened, index: int) -> Iterator[str]:
    name, size = visible(archive.members.path(index)), archive.members.size(index)
    try:
        read = sum(map(len, known.read(archive, index, Progress())))
    except MemberError as error:
        yield f"read: {error}"
    else:
        if read != size:
            yield f"read: {name} has {read:,} bytes, and its size is {size:,}."


def _failures(sample: Source) -> Iterator[str]:
    """Where decoding fails on a sample that is cut off or has a flipped bit; a malformed archive is a result."""
    data = sample.read(0, min(sample.size, _MAX_TRIED_BYTES))
    step = max(1, len(data) // _TRIALS)
    for at in range(0, len(data), step):
        flipped = bytearray(data)
        flipped[at] ^= 0x80
        for what, tried in ((f"cut off at {at:,}", data[:at]), (f"with byte {at:,} changed", bytes(flipped))):
            archive = start(BytesSource(tried, sample.name))
            decode(archive, Progress())
            failed = next((each for each in archive.findings if each.code == codes.OWN_FORMAT_FAILED.code), None)
            if failed is not None:
                yield f"decode: of the sample {what}: {failed.message}"
                return


def _leaves(fields: Sequence[Field]) -> Iterator[Field]:
    for field in fields:
        if field.children:
            yield from _leaves(field.children)
        elif any(span.size for span in field.spans):
            yield field


def _places(field: Field) -> str:
    return " ".join(f"{start:,} to {stop:,}" for start, stop in field.spans[:3])
