"""Conditions over rows of any kind: a small part of Python's expressions, evaluated on columns.

A tokenizer first puts placeholders of the same length for what Python has not: sizes (``10MiB``), dates
(``@2024-01-01``) and dotted names (``chunk.size``, one word that is looked up and never an attribute). Then only nodes
that are listed here are evaluated; nothing of an expression is run. Of ``and`` and ``or`` the right side is asked only
about the rows that the left side leaves open. What is not there is None: it equals None, and no order holds of it.
"""

from __future__ import annotations

import ast
import operator
import re
import signal
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.core.finding import with_full_stop
from inspector.operations.jobs.operation_error import OperationError

MAX_CHARS = 4_096
MAX_NODES = 200
MAX_MATCHING_S = 10.0
"""Seconds that a regular expression may take over _BATCH texts."""
_BATCH = 4_096
_EXACT = 2**53
"""Numbers below it are calculated in columns of numpy; others by Python, exactly."""
_UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
_METHODS = {"startswith": str.startswith, "endswith": str.endswith}
_TOKENS = re.compile(
    r"(?P<string>[rR]?(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'))"
    r"|(?P<date>@[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?)"
    r"|(?P<hex>0[xX][0-9a-fA-F_]+)"
    r"|(?P<size>(?P<number>[0-9]+(?:\.[0-9]+)?)(?:(?P<unit>[KMGT])(?P<base>i?B)?|B)(?!\w))"
    r"|(?P<name>[A-Za-z_]\w*(?:\.(?!(?:startswith|endswith)\s*\()[A-Za-z_]\w*)+)"
    r"|(?P<foreign>[^\x00-\x7f])"
)
_HABITS = {"&&": "and", "||": "or", "!": "not", "=": "=="}
"""What other languages write for what Python writes."""
_CALCULATED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ALLOWED = (
    *(ast.Constant, ast.Name, ast.BoolOp, ast.Compare, ast.BinOp, ast.Call, ast.Tuple, ast.List, ast.Set),
    *(ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.In, ast.NotIn, ast.Load, *_CALCULATED, *_COMPARED),
)
_TRUTHS = (ast.Compare, ast.BoolOp, ast.Call)
Rows = NDArray[np.int64]
"""Numbers of rows of a table."""
Cells = NDArray[Any]


class AskError(OperationError):
    """The expression is none of the language; the message says where and what to write instead."""


class Table(NamedTuple):
    """So many rows, and what gives the cells of a column for some of them."""

    rows: int
    column: Callable[[str, Rows], Cells]


def cells(values: Sequence[Any]) -> Cells:
    """Values of any kind as a column."""
    return np.fromiter(values, dtype=object, count=len(values))


def numbers(values: Any) -> Cells:
    """Numbers from 0 to 2**64 - 1 as a column that is calculated with."""
    found = np.array(values, dtype=np.uint64)
    return found.astype(object if found.size and int(found.max()) >= _EXACT else np.int64)


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A table of rows that are in memory; what a row has not is None."""
    return Table(len(rows), lambda name, at: cells([rows[each].get(name) for each in at.tolist()]))


@contextmanager
def at_most(seconds: float, what: str) -> Iterator[None]:
    """End the block with AskError after some time, in the main thread, where Ctrl+C ends it too.

    Python's regular expressions look for signals while they match. Windows has no such clock, but Ctrl+C.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: object) -> None:
        raise AskError(f"{what} was ended after {seconds:g} seconds: make its repetitions simpler.")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Question:
    """An expression; ``names`` are those of the columns it uses. Raises AskError.

    ``known`` are the names there are; without it, names are left to the table.
    """

    def __init__(self, text: str, known: Collection[str] = ()) -> None:
        self.text = text
        self._known = known
        self._values: dict[str, Any] = {}
        if len(text) > MAX_CHARS:
            raise AskError(f"The expression has {len(text):,} characters; at most {MAX_CHARS:,} are taken.")
        self._pad = len(text) - len(text.lstrip())
        self._replaced = _TOKENS.sub(self._placed, re.sub(r"[\r\n\t]", " ", text)).strip()
        try:
            with warnings.catch_warnings(action="ignore"):
                self._tree = ast.parse(self._replaced, mode="eval").body
        except (MemoryError, RecursionError):
            raise AskError("The expression is nested too deeply.") from None
        except (SyntaxError, ValueError) as error:  # some versions raise ValueError for a NUL
            raise AskError(self._unreadable(error)) from None
        every = [each for each in ast.walk(self._tree) if isinstance(each, ast.expr)]
        if len(every) > MAX_NODES:
            raise AskError(f"The expression has {len(every):,} parts; at most {MAX_NODES} are taken.")
        self.names: set[str] = set()
        self._check(self._tree)

    # ---- reading -------------------------------------------------------------------------------------------------

    def _placed(self, found: re.Match[str]) -> str:
        kind = found.lastgroup if not found["size"] else "size"
        if kind in ("string", "hex"):
            return found[0]
        if kind == "foreign":
            raise self._error(found.start() - self._pad, f"{found[0]} may stand in quotes only")
        value: Any = ast.Name(found[0])
        if kind == "size":
            value = float(found["number"]) if "." in found["number"] else int(found["number"])
            value *= (1000 if found["base"] == "B" else 1024) ** _UNITS.get(found["unit"], 0)
        elif kind == "date":
            try:
                value = int(datetime.fromisoformat(found[0][1:]).replace(tzinfo=UTC).timestamp())
            except ValueError:
                raise self._error(found.start() - self._pad, f"{found[0]} is no date") from None
        placeholder = chr(0x4E00 + len(self._values))
        self._values[placeholder] = value
        return f"{placeholder:<{len(found[0])}}"

    def _error(self, at: int, sentence: str) -> AskError:
        return AskError(f"Column {at + self._pad + 1} of the expression: {with_full_stop(sentence)}")

    def _wrong(self, node: ast.AST, sentence: str) -> AskError:
        before = self._replaced.encode()[: getattr(node, "col_offset", 0)]  # ast counts bytes
        return self._error(len(before.decode()), sentence)

    def _unreadable(self, error: SyntaxError | ValueError) -> str:
        bare = _TOKENS.sub(lambda found: " " * len(found[0]), self.text.strip())
        habit = re.search(r"&&|\|\||!(?!=)|(?<![<>=!])=(?!=)", bare)
        hint = (
            f"write {_HABITS[habit[0]]} instead of {habit[0]}" if habit else "it is not complete, or a word is missing"
        )
        if "nested" in str(error):
            hint = "it is nested too deeply"
        offset = getattr(error, "offset", None) or 1
        return str(self._error(habit.start() if habit else max(0, offset - 1), hint))

    def _check(self, node: ast.AST) -> None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            raise self._wrong(node, "** is not calculated")
        if isinstance(node, ast.Attribute):
            raise self._wrong(node, f".{node.attr} is none of the functions startswith, endswith and match")
        if not isinstance(node, _ALLOWED):
            what = type(node).__name__
            raise self._wrong(node, f"{what} is not part of the language; see archive-inspector help ask")
        if isinstance(node, ast.Name):
            self._check_name(node)
        if isinstance(node, ast.Call):
            self._check_call(node)
            return
        if isinstance(node, ast.BinOp):
            self._check_operands(node)
        if isinstance(node, ast.Compare) and any(map(self._is_bare_and, node.comparators[:-1])):
            raise self._wrong(node, "& is for the bits of numbers; write and between conditions")
        if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, str, type(None))):
            raise self._wrong(node, f"{node.value!r:.40} is neither a number nor text")
        for each in ast.iter_child_nodes(node):
            self._check(each)

    def _check_name(self, node: ast.Name) -> None:
        value = self._values.get(node.id, node)
        if not isinstance(value, ast.Name):
            return
        name = value.id
        if self._known and name not in self._known:
            close = get_close_matches(name, self._known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there is {', '.join(list(self._known)[:16])}"
            raise self._wrong(node, f"there is no name {name}; {hint}")
        self.names.add(name)

    def _check_operands(self, node: ast.BinOp) -> None:
        sides = node.left, node.right
        if isinstance(node.op, ast.BitAnd) and any(
            isinstance(each, _TRUTHS) or (isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not))
            for each in sides
        ):
            raise self._wrong(node, "& is for the bits of numbers; write and between conditions")
        if any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in sides):
            raise self._wrong(node, "only numbers are calculated with")

    def _is_bare_and(self, node: ast.expr) -> bool:
        before = self._replaced.encode()[: node.col_offset].rstrip()
        return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd) and not before.endswith(b"(")

    def _check_call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            subject, arguments = function.value, node.args
        elif isinstance(function, ast.Name) and function.id == "match" and node.args:
            subject, arguments = node.args[0], node.args[1:]
        else:
            raise self._wrong(
                node, "the functions are NAME.startswith(TEXT), NAME.endswith(TEXT) and match(NAME, TEXT)"
            )
        texts = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple) else arguments
        strings = [each.value for each in texts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        is_match = isinstance(function, ast.Name)
        if len(arguments) != 1 or node.keywords or len(strings) != len(texts) or (is_match and len(strings) != 1):
            raise self._wrong(node, "it takes one text in quotes")
        if is_match:
            try:
                re.compile(strings[0])
            except (re.error, RecursionError, OverflowError, MemoryError) as error:
                raise self._wrong(arguments[0], f"the regular expression is wrong: {error}") from None
        self._check(subject)

    # ---- answering -----------------------------------------------------------------------------------------------

    def rows(self, table: Table, among: Rows | None = None) -> Rows:
        """The rows, of all or ``among`` some, that it is true of, in their order."""
        rows = np.arange(table.rows) if among is None else among
        return rows[self._truth(self._tree, table, rows)]

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether it is true of a row."""
        return bool(self.rows(table_of([row])).size)

    def values(self, table: Table, rows: Rows) -> list[Any]:
        """Its value for each of these rows."""
        found = self._value(self._tree, table, rows)
        return found.tolist() if np.ndim(found) else [found] * len(rows)

    def _truth(self, node: ast.AST, table: Table, rows: Rows) -> NDArray[np.bool_]:
        found = self._value(node, table, rows)
        return found.astype(bool) if np.ndim(found) else np.full(len(rows), bool(found))

    def _value(self, node: ast.AST, table: Table, rows: Rows) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                value = self._values.get(node.id, node)
                return table.column(value.id, rows) if isinstance(value, ast.Name) else value
            case ast.BoolOp():
                mask = np.full(len(rows), is_and := isinstance(node.op, ast.And))
                for each in node.values:
                    open_ones = np.flatnonzero(mask == is_and)
                    mask[open_ones] = self._truth(each, table, rows[open_ones])
                return mask
            case ast.UnaryOp():
                if isinstance(node.op, ast.Not):
                    return ~self._truth(node.operand, table, rows)
                return _calculated(ast.Sub, 0, self._value(node.operand, table, rows))
            case ast.BinOp():
                sides = (self._value(each, table, rows) for each in (node.left, node.right))
                return _calculated(type(node.op), *sides)
            case ast.Compare():
                return self._compared(node, table, rows)
            case ast.Call():
                return self._called(node, table, rows)
        raise self._wrong(node, "a list stands after in only")

    def _compared(self, node: ast.Compare, table: Table, rows: Rows) -> NDArray[np.bool_]:
        left, mask = self._value(node.left, table, rows), np.full(len(rows), True)
        for kind, each in zip(node.ops, node.comparators, strict=True):
            if isinstance(kind, (ast.In, ast.NotIn)):
                found = np.full(len(rows), False)
                if isinstance(each, (ast.Tuple, ast.List, ast.Set)):
                    for one in each.elts:
                        found |= _held(operator.eq, left, self._value(one, table, rows))
                else:
                    found |= _held(lambda one, among: one in among, left, self._value(each, table, rows))
                mask &= found if isinstance(kind, ast.In) else ~found
                continue
            right = self._value(each, table, rows)
            mask &= _held(_COMPARED[type(kind)], left, right)
            left = right
        return mask

    def _called(self, node: ast.Call, table: Table, rows: Rows) -> Any:
        given = ast.literal_eval(node.args[-1])
        if isinstance(node.func, ast.Attribute):
            method = _METHODS[node.func.attr]
            texts = self._value(node.func.value, table, rows)
            return _held(lambda text, _: isinstance(text, str) and method(text, given), texts, 0)
        texts, search = self._value(node.args[0], table, rows), re.compile(given).match
        found = np.full(len(rows), False)
        every = texts.tolist() if np.ndim(texts) else [texts] * len(rows)
        for start in range(0, len(rows), _BATCH):
            with at_most(MAX_MATCHING_S, "The regular expression"):
                batch = [isinstance(each, str) and search(each) is not None for each in every[start : start + _BATCH]]
            found[start : start + _BATCH] = batch
        return found


def _peak(value: Any) -> float:
    """The largest magnitude of what numpy can calculate with as it is; infinite for anything else."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "i":
            return 0.0 if value.dtype.kind == "f" else float("inf")
        return max(abs(int(value.min())), abs(int(value.max()))) if value.size else 0
    return abs(value) if type(value) in (int, float) else float("inf")


def _calculated(kind: type[ast.operator], left: Any, right: Any) -> Any:
    """The results as Python has them; None where one side is no number, or where Python would raise."""
    do, peaks = _CALCULATED[kind], (_peak(left), _peak(right))
    divides = kind in (ast.Div, ast.FloorDiv, ast.Mod)
    whole = all(np.asarray(each).dtype.kind == "i" for each in (left, right)) if max(peaks) < _EXACT else False
    if (
        whole
        and np.ndim(left) + np.ndim(right)
        and peaks[0] * peaks[1] < 2**62
        and not (divides and np.any(right == 0))
    ):
        return do(left, right)

    def one(a: Any, b: Any) -> Any:
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return None
        try:
            return do(a, b)
        except (TypeError, ArithmeticError):
            return None

    return np.frompyfunc(one, 2, 1)(_plain(left), _plain(right))


def _held(do: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Whether a comparison holds; values of different kinds have no order."""
    if max(_peak(left), _peak(right)) < _EXACT and np.ndim(left) + np.ndim(right):
        return do(left, right)

    def one(a: Any, b: Any) -> bool:
        try:
            return bool(do(a, b))
        except TypeError:
            return False

    found = np.frompyfunc(one, 2, 1)(_plain(left), _plain(right))
    return found.astype(bool) if np.ndim(found) else found


def _plain(value: Any) -> Any:
    """A column whose cells are Python's own values."""
    return value.astype(object) if isinstance(value, np.ndarray) else value
