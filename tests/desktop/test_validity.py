"""What is shipped for desktops is valid, agrees with itself and with the formats, and tells real files apart."""

from __future__ import annotations

import ast
import configparser
import importlib
import plistlib
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from inspector.cli.commands import desktop
from inspector.formats import FORMATS
from inspector.gui.app.app import Application, application
from inspector.resources import DESKTOP_ID, resource
from tests.desktop import file_types
from tests.patience import PATIENCE

Sample = Callable[[str], Path]

SHARE = resource("desktop", "share")
PACKAGING = resource("packaging")
SHIPPED = ("desktop", "icons", "manual", "samples")
"""The folders of resources that are packaged with the program; pictures for the README are not."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.MonkeyPatch]:
    """A user for whom the program is installed, in a desktop that asks GIO; the system's own types are there."""
    folder = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as context:
        context.setenv("XDG_DATA_HOME", str(folder / "data"))
        context.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        context.setenv("XDG_CURRENT_DESKTOP", "GNOME")
        desktop.install(folder / "data")
        yield context


def printed(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()


def declared() -> list[str]:
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys are told apart by case
    parser.read(SHARE / "applications" / f"{DESKTOP_ID}.desktop", encoding="utf-8")
    return parser["Desktop Entry"]["MimeType"].rstrip(";").split(";")


def test_the_entry_is_valid() -> None:
    assert printed("desktop-file-validate", SHARE / "applications" / f"{DESKTOP_ID}.desktop") == ""


def test_the_metadata_is_valid() -> None:
    path = SHARE / "metainfo" / f"{DESKTOP_ID}.metainfo.xml"

    assert "successful" in printed("appstreamcli", "validate", "--no-net", "--no-color", path)


def test_every_part_has_one_name(qapp: Application) -> None:
    metadata = ET.parse(SHARE / "metainfo" / f"{DESKTOP_ID}.metainfo.xml").getroot()

    assert application() is qapp
    assert application().desktopFileName() == DESKTOP_ID
    assert metadata.findtext("id") == metadata.findtext("icon") == DESKTOP_ID
    assert metadata.findtext("launchable") == f"{DESKTOP_ID}.desktop"
    for path in SHARE.rglob("*"):
        assert path.is_dir() or path.name.startswith(f"{DESKTOP_ID}."), path


def test_what_desktops_are_told_is_what_the_formats_declare(written: Callable[[Path, str], None]) -> None:
    for path, text in file_types.generated():
        written(path, text)
    assert declared() == file_types.NAMES


def test_every_suffix_that_is_the_programs_to_declare_is_declared() -> None:
    for each in FORMATS:
        own = {glob.removeprefix("*") for kind in each.mime for glob, _ in kind.globs}
        assert own in (set(), set(each.suffixes)), each.name


def test_every_type_of_a_bundle_is_opened_by_it() -> None:
    known = plistlib.loads((PACKAGING / "macos-file-types.plist").read_bytes())
    opened = {kind for each in known["CFBundleDocumentTypes"] for kind in each["LSItemContentTypes"]}

    assert {each["UTTypeIdentifier"] for each in known["UTExportedTypeDeclarations"]} <= opened


def test_a_wheel_ships_the_resources_that_the_program_needs(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert included == {f"resources/{name}": f"inspector/_resources/{name}" for name in SHIPPED}
    assert {path.name for path in resource().iterdir()} - set(SHIPPED) == {"man", "packaging", "screenshots"}


def test_the_names_that_packaging_imports_of_the_program_are_there() -> None:
    spec = ast.parse((PACKAGING / "archive-inspector.spec").read_text(encoding="utf-8"))
    wanted = [
        (each.module, alias.name)
        for each in ast.walk(spec)
        if isinstance(each, ast.ImportFrom) and each.module and each.module.partition(".")[0] == "inspector"
        for alias in each.names
    ]

    assert wanted
    assert [name for module, name in wanted if not hasattr(importlib.import_module(module), name)] == []


KINDS = {
    "two-entries.tacozip": ("two-entries.tacozip", "application/x-taco"),
    "ghost.taco": ("ghost.taco", "application/x-taco"),
    "part-1.taco.zip": ("two-entries.tacozip", "application/x-taco"),
    "no suffix": ("two-entries.tacozip", "application/x-taco"),
    "an older one without suffix": ("ghost.taco", "application/x-taco"),
    "plain.zip": ("plain.zip", "application/zip"),
    "without suffix": ("plain.zip", "application/zip"),
    "plain.tar": ("plain.tar", "application/x-tar"),
    "two-chunks.rca": ("two-chunks.rca", "application/x-rca"),
    "journey.caf": ("journey.caf", "application/x-caf-archive"),
    "1-4.tar.metadata": ("journey.caf", "application/x-datas3t-metadata"),
    "readme.txt": ("README.md", "text/plain"),
}
"""A name, whose content it has, and what it is then."""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.usefixtures("environment")
def test_files_are_told_apart(name: str, tmp_path: Path, sample: Sample) -> None:
    content, kind = KINDS[name]
    path = tmp_path / name
    shutil.copyfile(sample(content), path)

    assert printed("xdg-mime", "query", "filetype", path) == kind
    assert f"standard::content-type: {kind}" in printed("gio", "info", "-a", "standard::content-type", path)


@pytest.mark.parametrize("kind", [kind for kind in declared() if kind not in desktop.SHARED])
@pytest.mark.usefixtures("environment")
def test_the_program_opens_what_is_its_own(kind: str) -> None:
    assert printed("xdg-mime", "query", "default", kind) == f"{DESKTOP_ID}.desktop"
    assert f"“{kind}”: {DESKTOP_ID}.desktop" in printed("gio", "mime", kind)
