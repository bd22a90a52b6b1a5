"""A format states everything about itself, and what its archives show agrees with that.

What desktops are told of it is compared in tests/desktop, the manual's table in tests/test_docs.py.
"""

from __future__ import annotations

import ast
import importlib
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import inspector.formats
from inspector.core import codes
from inspector.core.archive import Emitter
from inspector.core.cause import is_cause
from inspector.core.damage import Damage
from inspector.core.field import Field, FieldTable
from inspector.core.finding import FindingType, Severity
from inspector.core.format import Format
from inspector.core.kinds import (
    FAMILIES,
    ROLES,
    Family,
    Kind,
    Role,
    Shape,
    declared_kinds,
    family_of,
    role_of,
    role_set,
)
from inspector.core.program.progress import Progress
from inspector.core.verdict import Verdict
from inspector.formats import FORMATS, ar
from inspector.operations.open.expressions import OWN_WORDS
from inspector.operations.open.opening import Opened, decode, start
from inspector.sources.local.file import FileSource
from tests.test_formats_everywhere import ARCHIVES

FOLDER = Path(inspector.formats.__file__).parent
PACKAGE = FOLDER.parent
SHARED_KINDS = {value for value in vars(Kind).values() if isinstance(value, Kind)}
_WRITTEN = "Archives of a format are made and appended to in its own way, with its own options."
_DATASETS = "A dataset is one location of many ranges, found and listed by the names of their keys."
KNOWING = {
    "formats": "The one line that names each format.",
    "formats._readers": "A program that reads several formats is called as one of them.",
    "cli.commands.create": _WRITTEN,
    "operations.create": _WRITTEN,
    "operations.protocol.create_views": _WRITTEN,
    "operations.trials": _WRITTEN,
    "operations.worker.create_session": _WRITTEN,
    "operations.edit.edits": "The header of a TACO archive is edited field by field.",
    "operations.edit.apply_repairs": "An index of a range that was repaired is made anew beside it.",
    "operations.audit.audit": _DATASETS,
    "operations.audit.results": _DATASETS,
    "operations.check.checking": _DATASETS,
    "operations.check.sharing": _DATASETS,
    "operations.compare.combining": _DATASETS,
    "operations.diagram.shape": _DATASETS,
    "operations.open": _DATASETS,
    "operations.session.navigation": _DATASETS,
}
"""The modules outside of a format's folder that know the format, beneath these names, and why they have to."""
MAX_ROWS = 12
"""Rows of a table that are looked at: they are alike."""
GOLDEN_ROWS = 100


def walked(fields: Sequence[Field], depth: int = 0) -> Iterator[tuple[int, Field]]:
    """Fields with their depth, of long tables some."""
    for field in fields[:MAX_ROWS]:
        yield depth, field
        yield from walked(field.children, depth + 1)


@pytest.fixture(scope="module")
def checked() -> dict[Path, Opened]:
    """Every sample, decoded and checked."""
    found = {}
    for path in ARCHIVES:
        archive = found[path] = start(FileSource(path))
        decode(archive, Progress())
        if archive.decoder is not None:
            archive.decoder.check(archive, Emitter(archive), Progress())
    return found


def lacking(known: Format, archives: dict[Path, Opened]) -> Iterator[str]:
    """What a format has left out, a sentence for each."""
    own = {path: each for path, each in archives.items() if each.decoder and each.decoder.name == known.name}
    for name in ("name", "title", "specification", "limitations", "kinds"):
        if not getattr(known, name):
            yield f"{known.name} has no {name}."
    yield from (f"{known.name}: {each!r} is no sentence." for each in known.limitations if not each.endswith("."))
    if not any("resources" in path.parts for path in own):
        yield f"{known.name} has no sample in resources/samples."
    if known.suffixes and not known.mime:
        yield f"{known.name} has suffixes, but no MIME type."
    yield from _kinds_left_out(known, own)
    yield from _findings_left_out(known, own)
    for path, archive in own.items():
        yield from _not_said_of_members(path, archive)
        yield from _not_said_of_tables(path, archive)


def _kinds_left_out(known: Format, own: dict[Path, Opened]) -> Iterator[str]:
    shown = {field.kind for each in own.values() for _, field in walked(each.fields)}
    for kind in shown - {*known.kinds} - SHARED_KINDS:
        yield f"{known.name} shows the kind {kind}, which is not in its kinds."
    others = {kind for each in FORMATS if each.name != known.name for kind in each.kinds}
    for kind in {*known.kinds} - shown - others:
        yield f"{known.name} declares the kind {kind}, but no sample shows it."
    for kind in known.kinds:
        if not kind.meaning.endswith("."):
            yield f"{known.name}: the kind {kind} has no meaning."


def _findings_left_out(known: Format, own: dict[Path, Opened]) -> Iterator[str]:
    if not known.findings:
        yield f"{known.name} has no findings."
    declared = {(each.code, each.severity) for each in (*known.findings, *codes.FINDINGS)}
    found = {
        (finding.code, finding.severity): path.name
        for path, archive in own.items()
        for finding in archive.findings
        if not is_cause(finding)
    }
    for code, severity in found.keys() - declared:
        yield f"{known.name}: {found[code, severity]} has {code} ({severity}), which is not in its findings."
    shown = {code for code, _ in found}
    for each in known.findings:
        if not each.meaning.endswith("."):
            yield f"{known.name}: the finding {each.code} has no meaning."
        if each.code not in shown and (each.code, each.severity) not in raised_types():
            yield f"{known.name}: no sample shows {each.code}, and nothing raises it."
    damage = known.damage()
    said = {*known.concerns, *known.torn, *damage.trailing, *filter(None, [damage.joined])}
    for code in said - {each.code for each in known.findings}:
        yield f"{known.name} says something of {code}, which is not in its findings."


@cache
def raised_types() -> frozenset[tuple[str, Severity]]:
    """Code and severity of the declared types that code refers to for more than their codes, as to report one."""
    tables = {module_of(path) for path, text in texts().items() if "finding_types(globals())" in text}
    trees = parsed(rf"\b({'|'.join(table.rpartition('.')[2] for table in tables)})\b")
    used = (each for tree in trees.values() for each in _types_used(tree, tables))
    return frozenset((each.code, each.severity) for each in used)


@cache
def texts() -> dict[Path, str]:
    """The files of the program."""
    return {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}


def parsed(pattern: str) -> dict[Path, ast.Module]:
    """The files in whose text the pattern is found; to parse all of them takes seconds."""
    searched = re.compile(pattern)
    return {path: ast.parse(text) for path, text in texts().items() if searched.search(text)}


def _types_used(tree: ast.Module, tables: set[str]) -> Iterator[FindingType]:
    names = dict(_imported_from(tree, tables))
    only_code = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "code"}
    for node in ast.walk(tree):
        found: object = None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = getattr(names.get(node.value.id), node.attr, None)
        elif isinstance(node, ast.Name):
            found = names.get(node.id)
        if isinstance(found, FindingType) and id(node) not in only_code:
            yield found


def _imported_from(tree: ast.Module, tables: set[str]) -> Iterator[tuple[str, object]]:
    """The names that a module gives to tables and to their types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                if f"{node.module}.{each.name}" in tables:
                    yield each.asname or each.name, importlib.import_module(f"{node.module}.{each.name}")
                elif node.module in tables:
                    yield each.asname or each.name, getattr(importlib.import_module(node.module), each.name)


def _not_said_of_members(path: Path, archive: Opened) -> Iterator[str]:
    members = archive.members
    if any(archive.verdict(index) is Verdict.NOT_CHECKED for index in range(len(members))):
        yield f"{archive.format}: the check does not judge every member of {path.name}."
    starts = {field.start for _, field in walked(archive.fields) if field.kind.about_member}
    if members.heads and not {*members.heads[:MAX_ROWS]} <= starts:
        yield f"{archive.format}: no record of a member of {path.name} begins at its head (Kind.about_member)."


def _not_said_of_tables(path: Path, archive: Opened) -> Iterator[str]:
    """What a table of fields says of its rows without making them: their roles and families."""
    for _, field in walked(archive.fields):
        table = field.children
        if not isinstance(table, FieldTable):
            continue
        role, family = role_of(field.kind), family_of(field.kind)
        for row in range(min(len(table), MAX_ROWS)):
            lost = _painted((table[row],), role, family) & ~table.role_set(row)
            names = [str(each) for each in (*ROLES, *FAMILIES) if role_set(each) & lost]
            if names:
                yield f"{archive.format}: a row of {field.name} in {path.name} lacks {', '.join(names)}."


def _painted(fields: Sequence[Field], role: Role, family: Family | None) -> int:
    found = 0
    for field in fields:
        own, around = role_of(field.kind, role), family_of(field.kind, family)
        if field.children:
            found |= _painted(field.children[:GOLDEN_ROWS], own, around)
        elif any(span.size for span in field.spans):
            found |= role_set(own) | (role_set(around) if around is not None else 0)
    return found


@pytest.mark.parametrize("known", FORMATS, ids=lambda each: each.name)
def test_a_format_leaves_nothing_out(known: Format, checked: dict[Path, Opened]) -> None:
    assert sorted(lacking(known, checked)) == []


@pytest.mark.parametrize(
    ("without", "named"),
    [
        ({"kinds": ()}, "ar shows the kind symbol table, which is not in its kinds."),
        ({"specification": ""}, "ar has no specification."),
        ({"mime": ()}, "ar has suffixes, but no MIME type."),
        ({"findings": ar.FORMAT.findings[1:]}, "ar: wrong-magic.a has ar-magic (error), which is not in its findings."),
        ({"torn": frozenset({"ar-torn"})}, "ar says something of ar-torn, which is not in its findings."),
        (
            {"damage": lambda: Damage(trailing=frozenset({"ar-behind"}))},
            "ar says something of ar-behind, which is not in its findings.",
        ),
        ({"name": "other"}, "other has no sample in resources/samples."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_a_format_leaves_out_is_named(without: dict[str, object], named: str, checked: dict[Path, Opened]) -> None:
    assert named in set(lacking(ar.FORMAT._replace(**without), checked))  # type: ignore[arg-type]


def test_a_finding_that_nothing_raises_is_named(checked: dict[Path, Opened]) -> None:
    dead = FindingType("ar-dead", Severity.ERROR, "Nothing raises this.")

    said = set(lacking(ar.FORMAT._replace(findings=(*ar.FORMAT.findings, dead)), checked))

    assert said == {"ar: no sample shows ar-dead, and nothing raises it."}


def test_what_may_be_found_in_any_archive_is_raised_somewhere() -> None:
    assert [each.code for each in codes.FINDINGS if (each.code, each.severity) not in raised_types()] == []


def test_findings_are_made_from_declared_types_only() -> None:
    """Types are made in tables, and findings from types; but a cause is as severe as what it explains."""
    makers = {"FindingType", "error", "warning", "info", "Finding"}
    found = {
        module_of(path)
        for path, tree in parsed(rf"\b({'|'.join(makers)})\s*\(").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers
    }
    tables = {module_of(path) for path, text in texts().items() if "finding_types(globals())" in text}

    # Each format has a table of its own, whose codes begin with its name.
    built = {"inspector.formats._chain", "inspector.formats._directory"}
    causes = "inspector.formats.__init__"  # what they mean is looked up as that of all others is
    core = {"inspector.core.archive", "inspector.core.finding", "inspector.core.cause"}
    assert found - tables == {*core, *built, causes}


def test_codes_that_findings_are_compared_with_are_declared() -> None:
    """One that nothing has would never be found."""
    shaped = re.compile(rf"(?:{'|'.join(known.name for known in FORMATS)})-[a-z0-9-]*[a-z0-9]")
    names = {each.code for known in FORMATS for each in known.findings} | {known.name for known in FORMATS}
    found = {
        each.value
        for tree in parsed(rf"[\"']{shaped.pattern}[\"']").values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Set | ast.Tuple)
        for each in ast.iter_child_nodes(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and shaped.fullmatch(each.value)
    }

    of_repairs = {"caf-begin-later", "caf-end-earlier", "caf-salvage-doubtful", "rca-discard-tail"}
    of_repairs |= {"rca-accept-segments", "rca-finish-append", "rca-finish-unproved", "rca-mend-reset-hash"}

    assert len(found) > 50
    assert found - names == of_repairs


def test_a_code_has_one_type_for_each_severity() -> None:
    types = {each for known in FORMATS for each in known.findings} | {*codes.FINDINGS}

    assert len({(each.code, each.severity) for each in types}) == len(types)


def test_every_folder_of_a_format_is_known() -> None:
    folders = {path.parent.name for path in FOLDER.glob("[!_]*/__init__.py")}
    named = set(map(id, FORMATS))
    known = {
        each for each in folders if named & set(map(id, vars(import_module(f"inspector.formats.{each}")).values()))
    }

    assert folders - known == set(), "Name these in FORMATS of inspector/formats/__init__.py."


def test_kinds_of_one_format_are_named_nowhere_else() -> None:
    """Outside of the formats, only kinds that any format may use are named."""
    trees = parsed(r"\bKind\(")
    declared = {module_of(path) for path in trees if FOLDER in path.parents and any(_assigned(trees[path]))}
    found = [
        f"{path.relative_to(PACKAGE)}: {node.module}"
        for path, tree in parsed("|".join(map(re.escape, declared))).items()
        if FOLDER not in path.parents
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in declared
    ]

    assert "inspector.formats.ar.__init__" in declared
    assert {each.partition(":")[0] for each in found} == {"plugin.py"}  # which hands on what formats are made of


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(FOLDER.parent.parent).with_suffix("").parts)


def _assigned(tree: ast.Module) -> Iterator[str]:
    """Names that a module gives to kinds."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "Kind":
            yield ast.unparse(node.targets[0])


def test_a_format_is_known_in_its_folder_only() -> None:
    """Its modules are imported, and its name is in strings, nowhere else but where there is a reason."""
    folders = {path.parent.name for path in FOLDER.glob("[!_]*/__init__.py")}
    names = {known.name for known in FORMATS}
    found = {
        module: known
        for path, text in texts().items()
        if (module := module_of(path).removeprefix("inspector.").removesuffix(".__init__"))
        if not any(f"{module}.".startswith(f"formats.{folder}.") for folder in folders)
        if re.search(rf"[\"'](?:{'|'.join(names)})[\"']|formats(?:\.| import .*)(?:{'|'.join(folders)})\b", text)
        if (known := {*_formats_known(ast.parse(text), folders, names)})
    }

    def reason(module: str) -> str:
        return next((each for each in KNOWING if f"{module}.".startswith(f"{each}.") and each != "formats"), module)

    assert {module: known for module, known in found.items() if reason(module) not in KNOWING} == {}
    assert KNOWING.keys() == {reason(module) for module in found}, "Take out those that know no format any more."


def _formats_known(tree: ast.Module, folders: set[str], names: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            yield from (
                each for each in full if each.startswith("inspector.formats.") and each.split(".")[2] in folders
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names:
            yield node.value


def test_words_for_go_to_mean_nothing_else() -> None:
    """Each is the name of no other kind, nor a word that means something else to Go To."""
    names = {kind.lower() for kind in declared_kinds()}
    taken = [
        f"{kind}: {word}"
        for kind in declared_kinds()
        for word in kind.words
        if word in names - {kind.lower()} or word in OWN_WORDS
    ]

    assert taken == []


def test_what_a_list_lists_is_of_its_family() -> None:
    assert [kind for kind in declared_kinds() if kind.rows and kind.rows.family is not kind.family] == []
    assert [kind for kind in declared_kinds() if kind.shape is Shape.LIST and kind.family is None] == []


def test_the_kinds_of_all_fields_are_what_the_golden_transcript_says(
    checked: dict[Path, Opened], golden: Callable[[str, str], None]
) -> None:
    """``dump`` as text hides the kinds, which decide the colours, the arrows and Go To.

    A line for each name that fields of a kind have in fields of another, over all archives of a format.
    """
    found: dict[str, dict[str, None]] = {}
    for archive in checked.values():
        lines = found.setdefault(archive.format, {})
        for around, field in inside(archive.fields):
            name = "NAME" if field.member is not None and field.kind.about_member else field.name
            lines[f"  {around} > {name}: {field.kind}"] = None
    text = "".join("\n".join((name, *sorted(lines), "")) for name, lines in sorted(found.items()))
    golden("kinds.txt", text)


def inside(fields: Sequence[Field], around: str = "file") -> Iterator[tuple[str, Field]]:
    """Fields, each with the kind of the field around it."""
    for field in fields[:GOLDEN_ROWS]:
        yield around, field
        yield from inside(field.children, field.kind)


def test_a_kind_is_the_same_in_another_process() -> None:
    for kind in declared_kinds():
        assert pickle.loads(pickle.dumps(kind)) is kind
