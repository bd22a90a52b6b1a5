"""Writing a digest manifest beside the archive that is open in a session."""

from __future__ import annotations

from inspector.core.names import visible
from inspector.core.numbers import plural
from inspector.core.progress import Progress
from inspector.operations.check.digest_check import manifest_path, write_manifest
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import Location
from inspector.operations.protocol.digest_algorithms import ALGORITHMS
from inspector.operations.protocol.views import ManifestResult


def write_beside(location: Location, algorithm: str, progress: Progress, *, replace: bool) -> ManifestResult:
    """Write the digests of all members, by the algorithm of that name, beside a decoded archive.

    One that is there already stays unless ``replace`` is said. Raises OperationError, SourceError and Cancelled.
    """
    if location.collection is not None:
        raise OperationError("A folder of ranges has no manifest. Open one of its archives to write one.")
    chosen = next((known for known in ALGORITHMS if known.name == algorithm), None)
    if chosen is None:
        raise OperationError(f"There is no algorithm called {visible(algorithm)}.")
    archive = location.archives[0]
    path = manifest_path(archive, chosen)
    name = visible(path.name)
    if path.exists() and not replace:
        return ManifestResult(name, False, f"{name} exists already, so nothing was written.")
    written = write_manifest(archive, chosen, path, progress, replace=replace)
    said = plural(
        "{number} digest written to {name}, beside the archive. A check compares them from now on.",
        "{number} digests written to {name}, beside the archive. A check compares them from now on.",
        written,
        name=name,
    )
    return ManifestResult(name, True, said)
