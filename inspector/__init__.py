"""See what every byte of an archive means.

``import inspector`` is the library, too: ``inspector.open("data.rca").check()``. Its names are loaded when they are
used, for the program starts with this module.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # that of typing, without importing typing

__all__ = [
    "Archive",
    "ArchiveError",
    "Connection",
    "Field",
    "Finding",
    "Member",
    "NotFound",
    "Refused",
    "Report",
    "State",
    "Unreadable",
    "Verdict",
    "compare",
    "open",
    "scan",
    "use_format",
]

if TYPE_CHECKING:
    from inspector.core.field import Field
    from inspector.core.finding import Finding
    from inspector.core.verdict import State, Verdict
    from inspector.library import (
        Archive,
        ArchiveError,
        Member,
        NotFound,
        Refused,
        Report,
        Unreadable,
        compare,
        open,  # noqa: A004 - inspector.open, as gzip.open
        scan,
        use_format,
    )
    from inspector.sources.s3.connection import Connection
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from inspector import library

        return getattr(library, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
