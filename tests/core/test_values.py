"""Classes of values do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any

import pytest

from inspector.core import values


@values.dataclass(frozen=True, slots=True)
class Own:
    """A value with fields of each kind."""

    number: int
    name: str = "a"
    found: list[int] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError(self.number)


@dataclasses.dataclass(frozen=True, slots=True)
class Library:
    """The same, made by the standard library."""

    number: int
    name: str = "a"
    found: list[int] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError(self.number)


@values.dataclass(frozen=True, slots=True)
class Longer(Own):
    """A value with a further field."""

    last: int = 0


@values.dataclass(frozen=True, slots=True)
class Single:
    """A value with one field."""

    number: int


@values.dataclass(slots=True)
class Changing:
    """What changes is compared, and has no hash."""

    number: int
    found: list[int] = field(default_factory=list)


@pytest.mark.parametrize("kind", [Own, Library])
def test_a_value_is_compared_and_shown_by_its_fields(kind: type[Any]) -> None:
    value = kind(1, found=[2], note="x")
    assert value == kind(1, "a", [2], "another note")
    assert value != kind(1, "b", [2])
    assert value != Single(1)
    assert repr(value) == f"{kind.__name__}(number=1, name='a', found=[2])"
    assert hash(kind(1, found=())) == hash((1, "a", ()))
    assert kind(1).found is not kind(1).found
    assert dataclasses.replace(value, number=3) == kind(3, "a", [2])
    assert dataclasses.asdict(value) == {"number": 1, "name": "a", "found": [2], "note": "x"}
    assert kind.__match_args__ == ("number", "name", "found", "note")
    for copied in (copy.copy(value), copy.deepcopy(value)):
        assert (copied, copied.note) == (value, "x")


@pytest.mark.parametrize(
    "wrong", [lambda kind: kind(), lambda kind: kind(1, other=2), lambda kind: kind(1, "", [], "", 5)]
)
def test_wrong_arguments_are_refused(wrong: Callable[[type[Any]], object]) -> None:
    for kind in (Own, Library):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            wrong(kind)
        with pytest.raises(ValueError, match="-1"):
            kind(-1)


def test_a_value_stays_what_it_is() -> None:
    value: Any = Own(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'number'"):
        value.number = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'number'"):
        del value.number
    with pytest.raises(AttributeError):
        value.other = 2
    assert not hasattr(value, "__dict__")


def test_values_cross_processes() -> None:
    for value in (Own(1, "b", [2], "note"), Longer(1, last=3), Single(7), Changing(1, [2])):
        again = pickle.loads(pickle.dumps(value))
        assert (again, repr(again)) == (value, repr(value))


def test_one_that_has_more_fields_is_another() -> None:
    assert Longer(1, last=3) == Longer(1, last=3) != Longer(1, last=4)
    assert Longer(1) != Own(1)
    assert hash(Single(1)) == hash((1,))


def test_what_changes_has_no_hash() -> None:
    one = Changing(1)
    one.number = 2
    assert one == Changing(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
