"""Writing a digest manifest of an archive's members, which the usual tools check after extraction."""

from __future__ import annotations

from pathlib import Path

from inspector.core.format import MemberError
from inspector.core.member import FOLDER, SPECIAL
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.open.digest_manifest import new_hash, written
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import Algorithm
from inspector.sources.local.atomic import AtomicFile


def manifest_path(archive: Opened, algorithm: Algorithm) -> Path:
    """Where a manifest of an archive belongs to be found with it."""
    return Path(archive.source.name + algorithm.suffixes[0])


def write_manifest(
    archive: Opened, algorithm: Algorithm, path: Path, progress: Progress, *, replace: bool = False
) -> int:
    """Write the digests of all files in an archive that has been decoded, and say how many there are.

    The file is there whole or not at all. Raises Refused where it is there already and ``replace`` is not said, or
    where a member cannot be read whole: a manifest must not bless damage. Raises SourceError and Cancelled.
    """
    if path.exists() and not replace:
        raise Refused(f"{path.name} is there already.")
    members = archive.members
    members.learn(range(len(members)))
    # Of several members with one name the last one is left by extracting, so it is the one to be compared.
    last = {members.path(member): member for member in range(len(members))}
    chosen = [member for member in sorted(last.values()) if not members[member].marks & (FOLDER | SPECIAL)]
    progress.begin(f"Writing {visible(path.name)}", sum(map(members.size, chosen)))
    with AtomicFile(path, replace=replace) as target:
        for member in chosen:
            digest, done = new_hash(algorithm), progress.done
            try:
                for piece in content(archive, member, progress):
                    digest.update(piece)
                    done += len(piece)
                    progress.done = done
            except MemberError as error:
                raise Refused(f"No manifest was written: {error}") from error
            target.write(written(digest.hexdigest(), members.path(member), algorithm))
            progress.advance(0)
    return len(chosen)
