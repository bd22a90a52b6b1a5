"""Expressions that name a datapoint by its key: ``key 12345``, ``datapoint[12345]``, and ``key weather/12345``.

The window has to tell them from other expressions: going to a datapoint may take reading a range, which is a job.
"""

from __future__ import annotations

import re

_KEY = re.compile(r"\s*(?:key|datapoint)\s*(?:\[(?P<inside>[^\]]*)\]|\s(?P<after>.*))\s*", re.IGNORECASE | re.DOTALL)
_WANTED = re.compile(r"\s*(?:(?P<dataset>.*\S)\s*/)?\s*(?P<key>[0-9][0-9,_]{0,40})\s*", re.ASCII | re.DOTALL)


def datapoint_key(expression: str) -> tuple[str, int] | None:
    """The dataset (empty for any) and the key that an expression names; None where it is another expression."""
    found = _KEY.fullmatch(expression)
    wanted = found and _WANTED.fullmatch(found["inside"] or found["after"] or "")
    return (wanted["dataset"] or "", int(re.sub("[,_]", "", wanted["key"]))) if wanted else None
