"""Into the menus of a user's desktop, and out of them again: what is on the disk before, between and after."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.cli.commands import desktop
from inspector.resources import DESKTOP_ID, resource
from tests.sweeping import in_the_sweep

Tree = dict[str, bytes | None]
ENTRY = f"applications/{DESKTOP_ID}.desktop"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of which the desktop's tools are told, and which is not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "system"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "data"


def tree(folder: Path) -> Tree:
    """All that is below a folder: files with their content, folders with None."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def other_entry(kinds: str) -> str:
    return f"[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %U\nMimeType={kinds}\n"


def other_programs(share: Path) -> None:
    """What another program has installed, the desktop's caches included."""
    put(share / "applications" / "other.desktop", other_entry("application/zip;"))
    kind = '<mime-type type="application/x-other"><comment>Other</comment><glob pattern="*.other"/></mime-type>'
    package = f'<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">{kind}</mime-info>'
    put(share / "mime" / "packages" / "other.xml", package)
    put(share / "icons" / "hicolor" / "16x16" / "apps" / "other.png", "a picture")
    put(share / "archive-inspector" / "notes", "what the program itself keeps")
    subprocess.run(["update-mime-database", share / "mime"], check=True, capture_output=True)
    subprocess.run(["update-desktop-database", share / "applications"], check=True)


def test_installing_puts_everything_below_the_data_folder_again_changes_nothing_and_removing_leaves_nothing(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    assert main(["--install-desktop"]) == 0
    said = capsys.readouterr().out
    shipped = {path for path in resource("desktop", "share").rglob("*") if path.is_file()}
    assert f"{len(shipped) + 1} files in {home}" in said
    assert "xdg-open" not in said  # which knows the types
    assert (home / f"icons/hicolor/scalable/apps/{DESKTOP_ID}.svg").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]

    once = tree(home)
    desktop.install(home)
    assert tree(home) == once

    assert main(["--uninstall-desktop"]) == 0
    assert tree(home) == {}
    assert f"{len(shipped) + 1} files were deleted" in capsys.readouterr().out


@pytest.mark.parametrize("times", [in_the_sweep(1), 2])
def test_removing_leaves_what_others_have_installed(home: Path, times: int) -> None:
    other_programs(home)
    before = tree(home)
    for _ in range(times):
        desktop.install(home)
    assert before.items() - tree(home).items()  # the caches know of more now

    desktop.uninstall(home)

    assert tree(home) == before


def test_removing_leaves_what_others_have_installed_since(home: Path) -> None:
    desktop.install(home)
    other_programs(home)
    known = tree(home)["mime/application/x-other.xml"]

    desktop.uninstall(home)

    left = tree(home)
    assert left["mime/application/x-other.xml"] == known
    assert b"x-other" in (left["mime/globs2"] or b"")
    assert b"other.desktop" in (left["applications/mimeinfo.cache"] or b"")
    assert not [name for name in left if DESKTOP_ID in name or "x-taco" in name]


def test_there_may_be_nothing_to_remove(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--uninstall-desktop"]) == 0

    assert "Nothing was installed" in capsys.readouterr().out
    assert not home.exists()


def test_an_interrupted_installation_can_be_removed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    with monkeypatch.context() as context:
        context.setattr(desktop, "refresh", lambda _: sys.exit("interrupted"))
        with pytest.raises(SystemExit):
            desktop.install(home)
    assert (home / ENTRY).exists()

    desktop.uninstall(home)

    assert tree(home) == {}


def test_without_the_tools_it_is_installed_and_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.setenv("PATH", str(home))

    said = desktop.install(home)

    assert [sentence.split()[0] for sentence in said[1:]] == ["update-mime-database", "update-desktop-database"]
    assert all("was not found" in sentence for sentence in said[1:])
    assert (home / ENTRY).is_file()
    desktop.uninstall(home)
    assert tree(home) == {}


def test_a_tool_that_fails_is_quoted(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "bin" / "update-mime-database"
    put(tool, "#!/bin/sh\necho no room >&2\nexit 3\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))

    assert any("update-mime-database failed (no room)" in sentence for sentence in desktop.install(home))


@pytest.mark.parametrize("answer", ["", "application/octet-stream; charset=binary"])
def test_where_xdg_open_does_not_know_the_types_it_is_said_what_it_needs(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    tool = tmp_path / "bin" / "xdg-mime"
    put(tool, f"#!/bin/sh\n[ $2 = default ] || echo '{answer}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/bin")

    said = desktop.install(home)[-1]

    assert f"for {answer or 'no type it knows'}, not for application/x-rca" in said
    assert "libfile-mimeinfo-perl" in said


def test_a_cache_of_icons_is_kept_up_and_none_is_begun(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "gtk-update-icon-cache"
    put(tool, '#!/bin/sh\nfor last; do :; done\necho renewed > "$last/icon-theme.cache"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    cache = home / "icons" / "hicolor" / "icon-theme.cache"

    desktop.install(home)
    assert not cache.exists()
    put(cache, "old")
    desktop.install(home)

    assert cache.read_text(encoding="utf-8") == "renewed\n"


def test_no_other_program_is_displaced_nor_one_that_the_user_names_as_the_first(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_programs(tmp_path / "system")

    assert main(["--install-desktop"]) == 0

    assert "application/zip stays with other.desktop" in capsys.readouterr().out
    entry = (home / ENTRY).read_text(encoding="utf-8")
    assert "application/zip;" not in entry
    assert "application/x-tar;" in entry

    put(tmp_path / "config" / "mimeapps.list", "[Default Applications]\napplication/zip=other.desktop;\n")

    assert len(desktop.install(home)) == 1

    assert "application/zip;" in (home / ENTRY).read_text(encoding="utf-8")


def test_a_data_folder_that_is_no_folder_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(home, "a file")

    assert main(["--install-desktop"]) == 2

    assert f"{home}" in capsys.readouterr().err


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_other_systems_are_told_where_to_look(
    home: Path, system: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", system)

    assert main(["--install-desktop"]) == 2

    assert "Nothing was changed" in capsys.readouterr().err
    assert not home.exists()


def test_nothing_is_opened_meanwhile(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--install-desktop", "some.caf"])

    assert ended.value.code == 2
    assert "no location" in capsys.readouterr().err
    assert not home.exists()


def test_a_data_folder_that_is_not_absolute_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "data", "./data"):
        monkeypatch.setenv("XDG_DATA_HOME", value)
        assert desktop.data_home() == tmp_path / ".local" / "share"
