"""What a format of one's own is made of: see the page *Your own format* of the manual.

What is in ``__all__`` follows semantic versioning, as ``inspector.__all__`` does.
"""

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field, FieldTable
from inspector.core.finding import FindingType, error, info, warning
from inspector.core.format import DiagramColumn, Format, MemberError, MimeType, ProbeResult, Signature
from inspector.core.kinds import Family, Kind, Role
from inspector.core.layout import Part, Record, padded_text, unsigned_be
from inspector.core.member import Codec, Members
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.core.span import Span
from inspector.formats._chain import CHAIN_KINDS, Chain, ChainFindings
from inspector.formats._directory import DIRECTORY_DIAGRAM, DIRECTORY_KINDS, Directory, DirectoryFindings
from inspector.formats._kinds import DATA_SECTION, GLOBAL_HEADER

__all__ = [
    "CHAIN_KINDS",
    "DATA_SECTION",
    "DIRECTORY_DIAGRAM",
    "DIRECTORY_KINDS",
    "GLOBAL_HEADER",
    "Archive",
    "Chain",
    "ChainFindings",
    "Codec",
    "DiagramColumn",
    "Directory",
    "DirectoryFindings",
    "Emitter",
    "Family",
    "Field",
    "FieldTable",
    "FindingType",
    "Format",
    "Kind",
    "MemberError",
    "Members",
    "MimeType",
    "Part",
    "ProbeResult",
    "Progress",
    "Record",
    "Role",
    "Signature",
    "Source",
    "SourceError",
    "Span",
    "blocks",
    "error",
    "info",
    "padded_text",
    "unsigned_be",
    "warning",
]
