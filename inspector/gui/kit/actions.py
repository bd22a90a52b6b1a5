"""Actions of the menus, declared beside the methods that do them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from PySide6.QtGui import QAction, QKeySequence

K = QKeySequence.StandardKey
Key = K | str
Does = TypeVar("Does", bound=Callable[..., Any])


class Action(NamedTuple):
    """One action; ``run`` does it, given its owner: the object of the class that declares it, or the tab shown.

    Attributes:
        name: that of the method.
        text: its label in the menu, with a mnemonic.
        document: it needs an open document.
        checkable: it switches something on and off.
        enabled: whether its owner can do it now; None for always.
        role: where macOS puts it.
        owner: the class that declares it; None if it is a function of the tab shown.

    """

    run: Callable[[Any], object]
    name: str
    text: str
    keys: tuple[Key, ...] = ()
    tip: str = ""
    icon: str = ""
    document: bool = False
    checkable: bool = False
    enabled: Callable[[Any], bool] | None = None
    role: QAction.MenuRole | None = None
    owner: type | None = None

    @property
    def label(self) -> str:
        """Its label without mnemonic and ellipsis."""
        return without_marks(self.text).rstrip("…")


_DECLARED: dict[Callable[..., Any], Action] = {}


def action(
    text: str,
    *keys: Key,
    tip: str | None = None,
    icon: str = "",
    document: bool = False,
    checkable: bool = False,
    enabled: Callable[[Any], bool] | None = None,
    role: QAction.MenuRole | None = None,
) -> Callable[[Does], Does]:
    """Declare that a method without further arguments is an action; see Action. Its docstring is the default tip."""

    def declare(function: Does) -> Does:
        said = tip if tip is not None else (function.__doc__ or "").removesuffix(".")
        _DECLARED[function] = Action(
            function, function.__name__, text, keys, said, icon, document, checkable, enabled, role
        )
        return function

    return declare


def actions_in(place: type | ModuleType) -> Iterator[Action]:
    """The actions declared in a class, or as functions in a module."""
    owner = place if isinstance(place, type) else None
    functions = (value for value in vars(place).values() if isinstance(value, FunctionType))
    return (_DECLARED[function]._replace(owner=owner) for function in functions if function in _DECLARED)


def without_marks(text: str) -> str:
    """The text of a menu item without its mnemonic mark."""
    return text.replace("&", "")
