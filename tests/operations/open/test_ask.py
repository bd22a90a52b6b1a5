"""The language of conditions: columns against one by one, and what it refuses."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.operations.open import ask
from inspector.operations.open.ask import AskError, Question, Table, cells, numbers, table_of

NAMES = ("size", "stored", "name", "value", "chunk.size")
LARGE = st.integers(0, 2**64 - 1)
VALUES = st.one_of(st.none(), st.booleans(), LARGE, st.text(max_size=3), st.lists(st.integers(), max_size=2))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "size": st.one_of(st.integers(0, 9), LARGE),
            "stored": LARGE,
            "name": st.text("ab.", max_size=4),
            "value": VALUES,
        }
    ),
    max_size=5,
)
NUMBERS = st.recursive(
    st.sampled_from(["size", "stored", "value", "0", "3", "1.5", "2KiB", "0x10"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "&"]), inner),
    max_leaves=4,
)
COMPARED = st.one_of(
    st.builds("{} {} {}".format, NUMBERS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), NUMBERS),
    st.builds("0 < {} <= {}".format, NUMBERS, NUMBERS),
    st.sampled_from(
        [
            "name.startswith('a')",
            "name.endswith(('b', '.'))",
            "match(name, r'a+\\.')",
            "'a' in name",
            "size in (0, 1, 2**0)".replace("2**0", "7"),
            "value not in [None, 'a']",
            "value == None",
            "value",
            "name < 'b'",
            "-size < 0",
        ]
    ),
)
CONDITIONS = st.recursive(
    COMPARED,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(not {})".format, inner),
    ),
    max_leaves=4,
)


class _Cell:
    """One value with the rules of the language, said without numpy."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def _calculated(self, other: Any, do: Any) -> _Cell:
        a, b = self.value, _bare(other)
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return _Cell(None)
        try:
            return _Cell(do(a, b))
        except (TypeError, ArithmeticError):
            return _Cell(None)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return 0

    def __contains__(self, one: Any) -> bool:
        return isinstance(self.value, str) and _bare(one) in self.value

    def startswith(self, given: Any) -> bool:
        return self.value.startswith(given)

    def endswith(self, given: Any) -> bool:
        return self.value.endswith(given)

    def __neg__(self) -> _Cell:
        return _Cell(0) - self


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, _Cell) else value


def _compared(name: str) -> Any:
    def one(self: _Cell, other: Any) -> bool:
        try:
            return bool(getattr(ask.operator, name)(self.value, _bare(other)))
        except TypeError:
            return False

    return one


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(_Cell, f"__{_name}__", _compared(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_"):
    _do, _dunder = getattr(ask.operator, _name), _name.rstrip("_")
    setattr(_Cell, f"__{_dunder}__", lambda self, other, do=_do: self._calculated(other, do))
    setattr(_Cell, f"__r{_dunder}__", lambda self, other, do=_do: _Cell(_bare(other))._calculated(self, do))


def _by_python(text: str, row: dict[str, Any]) -> bool:
    """What Python says of one row, number by number."""
    text = re.sub(r"\b(0x10|2KiB|1\.5|[0-9]+)\b(?!')", lambda found: f"_c({found[1].replace('2KiB', '2048')})", text)
    names = {name: _Cell(value) for name, value in row.items()}
    return bool(eval(text, {"_c": _Cell, "match": lambda cell, what: re.match(what, cell.value), **names}))


@given(CONDITIONS, ROWS)
def test_columns_say_what_python_says_of_each_row(text: str, rows: list[dict[str, Any]]) -> None:
    expected = [at for at, row in enumerate(rows) if _by_python(text, row)]
    assert Question(text, NAMES).rows(table_of(rows)).tolist() == expected, text
    columns = {name: cells([row[name] for row in rows]) for name in ("name", "value")}
    columns |= {name: numbers([row[name] for row in rows]) for name in ("size", "stored")}
    assert Question(text, NAMES).rows(Table(len(rows), lambda name, at: columns[name][at])).tolist() == expected, text


def test_sizes_dates_and_dotted_names() -> None:
    row = {"size": 10 * 1024**2, "stored": 1_500_000, "value": 1_704_067_200, "chunk.size": 7, "name": "10MiB"}
    for text in (
        "size == 10MiB == 10M and stored == 1.5MB and chunk.size == 7B",
        "value == @2024-01-01 == @2024-01-01T00:00 and @2023-12-31T23:59:59 < value",
        "name == '10MiB' and name == \"10MiB\" and not name == '@2024-01-01'",
        "chunk.size\n& 0x3 == 3",
    ):
        assert Question(text, NAMES).holds(row), text


def test_of_and_and_or_the_right_side_is_asked_where_the_left_one_leaves_it_open() -> None:
    asked: list[tuple[str, list[int]]] = []

    def column(name: str, rows: ask.Rows) -> ask.Cells:
        asked.append((name, rows.tolist()))
        return numbers(rows)

    found = Question("size > 2 and (stored < 4 or value == 5)").rows(Table(7, column))
    assert found.tolist() == [3, 5]
    assert asked == [("size", [0, 1, 2, 3, 4, 5, 6]), ("stored", [3, 4, 5, 6]), ("value", [4, 5, 6])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size > 1 & stored < 2", "write and between conditions"),
        ("(size > 1) & (stored < 2)", "write and between conditions"),
        ("size > 1 && stored < 2", "Column 10 of the expression: write and instead of &&."),
        ("size = 3", "Column 6 of the expression: write == instead of =."),
        ("size > 0 and siez > 3", "Column 14 of the expression: there is no name siez; did you mean size?"),
        ("chunk.size > 0 and chunk.siz > 3", "Column 20 of the expression: there is no name chunk.siz; did you mean"),
        ("9**9**9 > size", "** is not calculated"),
        ("'a' * 1000000000 == name", "only numbers are calculated with"),
        ("name.__class__", "there is no name name.__class__"),
        ("name.upper() == 'A'", "the functions are"),
        ("__import__('os').system('true')", "the functions are"),
        ("[each for each in name]", "ListComp is not part of the language"),
        ("size == (1, 2)", "a list stands after in only"),
        ("(" * 200_000 + "1" + ")" * 200_000, "has 400,001 characters; at most 4,096"),
        ("(" * 2_000 + "1" + ")" * 2_000, "nested too deeply"),
        ("-" * 4_000 + "1", "nested too deeply"),
        ("+".join("1" * 101), "has 201 parts; at most 200"),
        ("@2024-13-01 < value", "@2024-13-01 is no date"),
        ("é > 1", "é may stand in quotes only"),
        ("match(name, r'(')", "the regular expression is wrong"),
        ("size >", "it is not complete"),
        ("", "it is not complete"),
        ("\0", "it is not complete"),
        ("1j > size", "1j is neither a number nor text"),
    ],
)
def test_what_is_refused_says_where_and_what_to_write(text: str, said: str) -> None:
    with pytest.raises(AskError, match=re.escape(said)):
        Question(text, NAMES).rows(table_of([{"size": 1}]))


def test_a_regular_expression_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "MAX_MATCHING_S", 0.05)
    with pytest.raises(AskError, match="The regular expression was ended"):
        Question(r"match(name, r'(a+)+$')").rows(table_of([{"name": "a" * 60 + "b"}]))


def test_large_numbers_are_exact() -> None:
    assert (
        Question("size == 18446744073709551615 and size / 3 > 1").rows(Table(1, lambda *_: numbers([2**64 - 1]))).size
    )
    assert math.isclose(Question("size * size").values(table_of([{"size": 2**63}]), ask.np.arange(1))[0], 2.0**126)
