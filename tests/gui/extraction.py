"""What the extraction of texts finds in the source, and what it would miss."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

from inspector.core import translation

EXTRACTED = ("tr", "trn", "marked")
"""What is called with texts for catalogues."""
PACKAGE = Path(translation.__file__).parents[1]


def parsed() -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(PACKAGE.rglob("*.py"))]


SOURCES = parsed()


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def known() -> set[str]:
    """All texts that extraction finds."""
    found = (literal(text) for _, tree in SOURCES for call in calls(tree, *EXTRACTED) for text in call.args[:2])
    return {text for text in found if text}


def placeholders(text: str) -> set[str]:
    """The names in braces; raises ValueError for a brace that is alone."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def marked_as(tree: ast.AST, name: str) -> list[str]:
    """The texts that are marked and called ``name``."""
    return [
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets)
        for call in calls(node.value, "marked")
        if (text := literal(call.args[0])) is not None
    ]


def around(call: ast.Call, tree: ast.Module) -> ast.AST:
    """The innermost function that a call is in, else the module."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and call in ast.walk(node)]
    return functions[-1] if functions else tree


def is_looked_up(node: ast.expr) -> bool:
    """Whether an argument is a text that was marked elsewhere: a name, an attribute, what a table holds."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def is_in_f_string(call: ast.Call, tree: ast.Module) -> bool:
    return any(call in ast.walk(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))


def problem(call: ast.Call, tree: ast.Module) -> str:
    """What is wrong with a call that extraction looks for."""
    assert isinstance(call.func, ast.Name)
    if call.func.id == "trn":
        return plural_problem(call, tree)
    text = literal(call.args[0]) if len(call.args) == 1 else None
    if call.func.id == "marked":
        return "" if text and not call.keywords else "marked() takes a literal"
    given = {keyword.arg for keyword in call.keywords}
    if text is not None and is_in_f_string(call, tree):
        return "extraction does not look into f-strings"
    if text is not None:
        return "" if placeholders(text) == given else f"{placeholders(text)} are not {given}"
    if len(call.args) != 1 or not is_looked_up(call.args[0]):
        return "tr() takes a literal, or what was marked"
    texts = marked_as(around(call, tree), call.args[0].id) if isinstance(call.args[0], ast.Name) else []
    missing = [each for each in texts if not placeholders(each) <= given]
    return f"{missing} need more than {given}" if missing else ""


def plural_problem(call: ast.Call, tree: ast.Module) -> str:
    """What is wrong with a call of ``trn``."""
    one, several = [literal(text) for text in call.args[:2]]
    if one is None or several is None or len(call.args) != 3:
        return "trn() takes two literals and a number"
    if is_in_f_string(call, tree):
        return "extraction does not look into f-strings"
    given = {"number", *(keyword.arg for keyword in call.keywords)}
    return "" if placeholders(one) == placeholders(several) == given else f"{placeholders(several)} are not {given}"


def too_early(tree: ast.Module) -> list[int]:
    """The lines of calls of ``tr`` and ``trn`` that come when a module is imported: its language is not known yet."""
    found: list[int] = []

    def visit(node: ast.AST, later: bool) -> None:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("tr", "trn")
            and not later
        ):
            found.append(node.lineno)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            outside = [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", [])]
            for child in filter(None, outside):
                visit(child, later=False)
            for child in node.body if isinstance(node.body, list) else [node.body]:
                visit(child, later=True)
        else:
            for child in ast.iter_child_nodes(node):
                visit(child, later)

    visit(tree, later=False)
    return found
