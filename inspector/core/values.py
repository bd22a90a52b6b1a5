"""Classes of values: what ``dataclasses.dataclass`` makes of a class, made in a quarter of the time.

The standard library compiles six methods for each frozen class, which is a fifth of a short command. Here only
``__init__`` is compiled; the other methods are the same functions for all classes, over the names of their fields.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from operator import attrgetter
    from reprlib import recursive_repr

    def dataclass(*, frozen=False, slots=False, init=True):
        """A decorator as ``dataclasses.dataclass``; classes without slots are left to that."""
        if not slots:
            return dataclasses.dataclass(frozen=frozen, init=init)
        return lambda cls: _made(cls, frozen)

    def _made(cls, frozen):
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
        fields = dataclasses.fields(made)
        of = _values([field.name for field in fields if field.compare])
        methods = {
            "__init__": _init(made, fields),
            "__repr__": _repr([field.name for field in fields if field.repr]),
            "__eq__": _eq(of),
            "__hash__": (lambda self: hash(of(self))) if frozen else None,
        }
        if frozen:
            methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        for name, method in methods.items():
            if name not in cls.__dict__:
                setattr(made, name, method)
        return made

    def _init(cls, fields):
        """``__init__`` with the fields as parameters; it sets each slot, for which no method is looked up."""
        known, parameters, lines = {}, ["self"], []
        for field in fields:
            name, default, value = field.name, "", field.name
            if field.default_factory is not dataclasses.MISSING:
                known[f"_default_{name}"] = field.default_factory
                known["_missing"] = dataclasses.MISSING
                default, value = "=_missing", f"_default_{name}() if {name} is _missing else {name}"
            elif field.default is not dataclasses.MISSING:
                known[f"_default_{name}"] = field.default
                default = f"=_default_{name}"
            known[f"_set_{name}"] = getattr(cls, name).__set__
            parameters.append(f"{name}{default}")
            lines.append(f"_set_{name}(self, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), known)  # noqa: S102
        made = known["__init__"]
        made.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
        return made

    def _values(names):
        """A function that returns the tuple of the values with these names."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple(getattr(self, name) for name in names)

    def _eq(of):
        def __eq__(self, other):  # noqa: N807
            return of(self) == of(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _repr(names):
        @recursive_repr("...")
        def __repr__(self):  # noqa: N807
            return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

        return __repr__

    def _refuse_to_set(_self, name, _value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(_self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self):
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def _setstate(self, state):
        for field, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)
