"""How a request that a worker answers is declared: on its method, in the class of requests that worker answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

Asked = TypeVar("Asked", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Traits:
    """What is true of a request.

    A job takes a Progress first, may take long, and can be paused and cancelled; any other request answers at once.

    Attributes:
        is_job: it is a job.
        waits_for_network: it answers at once, except where the archive is on S3 and bytes have to come first.
        writes_files: there are files half made while it runs, and to remove them it needs time when it is cancelled.
        changes_archive: it writes into the archive that is open.
        only_shows: it only fills what is shown, so that nothing is lost when it is ended.

    """

    is_job: bool = False
    waits_for_network: bool = False
    writes_files: bool = False
    changes_archive: bool = False
    only_shows: bool = False


_TRAITS: dict[Callable[..., Any], Traits] = {}


@overload
def request(method: Asked, /) -> Asked: ...
@overload
def request(*, network: bool) -> Callable[[Asked], Asked]: ...
def request(method: Any = None, /, *, network: bool = False) -> Any:
    """Declare what answers at once; see Traits.waits_for_network for ``network``."""
    return _declared(method, Traits(waits_for_network=network))


@overload
def job(method: Asked, /) -> Asked: ...
@overload
def job(
    *, writes_files: bool = False, changes_archive: bool = False, only_shows: bool = False
) -> Callable[[Asked], Asked]: ...
def job(
    method: Any = None, /, *, writes_files: bool = False, changes_archive: bool = False, only_shows: bool = False
) -> Any:
    """Declare a job; see Traits."""
    return _declared(method, Traits(True, False, writes_files or changes_archive, changes_archive, only_shows))


def _declared(method: Any, traits: Traits) -> Any:
    def declare(function: Asked) -> Asked:
        _TRAITS[function] = traits
        return function

    return declare if method is None else declare(method)


def traits_of(method: Callable[..., Any]) -> Traits:
    """What is true of a request. Raises KeyError for what is none."""
    return _TRAITS[method]


def requests_of(protocol: type[object]) -> dict[str, Traits]:
    """All requests of a class, those of its bases too, by their names."""
    functions = inspect.getmembers(protocol, inspect.isfunction)
    return {name: _TRAITS[function] for name, function in functions if function in _TRAITS}
