"""Plain tar: POSIX.1-2017 (pax), ustar Interchange Format, with the GNU and the V7 dialect."""

from __future__ import annotations

from functools import cache

from inspector.core.format import Format, Functions


@cache
def _functions() -> Functions:
    from inspector.formats import _tar
    from inspector.formats.tar.decode import check, decode, repairs

    return Functions(_tar.probe, decode, _tar.read, check, repairs, _tar.member_metadata)


FORMAT = Format(
    name="tar",
    title="tar",
    suffixes=(".tar",),
    specification="POSIX.1-2017, pax, ustar Interchange Format; GNU tar, Basic Tar Format",
    limitations=(
        "Links, devices and sparse files are listed, but their content is not read.",
        "Behind zeros, members are searched for up to 256 MiB after the last one.",
        "A compressed tar is not decompressed.",
        "The format has checksums of headers only, none of the data.",
    ),
    load=_functions,
)
