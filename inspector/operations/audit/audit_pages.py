"""The results of an audit as a table: sorted, filtered, a page at a time."""

from __future__ import annotations

from inspector.operations.audit.audit_results import COLUMNS, Results
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES, Query, Result
from inspector.operations.protocol.views import Page

_RANKS = " ".join(f"WHEN '{state}' THEN {rank}" for rank, state in enumerate(STATES))
RANK = f"CASE state {_RANKS} ELSE -1 END"
"""How bad a state is, in SQL: 0 for the best, -1 for what is no archive."""


def page(results: Results, query: Query, first: int, count: int) -> Page[Result]:
    """Up to ``count`` results from number ``first`` on; raises OperationError where they cannot be read."""
    where, values = _where(query)
    ((total,),) = results.rows(f"SELECT count(*) FROM chosen {where}", values)  # noqa: S608 - own names
    assert query.sort in COLUMNS, query.sort
    direction = "DESC" if query.descending else "ASC"
    by = RANK if query.sort == "state" else query.sort
    order = f"{where} ORDER BY {by} {direction}, location LIMIT ? OFFSET ?"
    return Page(total, first, tuple(results.results(order, (*values, count, first))))


def _where(query: Query) -> tuple[str, tuple[str, ...]]:
    conditions, values = [], list[str]()
    if not query.states:
        conditions.append("state <> ?")
        values.append(NO_ARCHIVE)
    for column, wanted in (("state", query.states), ("format", query.formats)):
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    if query.text:
        columns = ("CAST(location AS TEXT)", "sentence", "findings")
        conditions.append(f"({' OR '.join(f'{column} LIKE ? ESCAPE ?' for column in columns)})")
        escaped = "".join(f"\\{character}" if character in "\\%_" else character for character in query.text)
        values += [f"%{escaped}%", "\\"] * len(columns)
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), tuple(values)
