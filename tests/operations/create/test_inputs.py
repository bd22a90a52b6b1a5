from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create.inputs import MAX_PIECE_BYTES, FileInput, Input, check_names, gather, skipped_outputs
from inspector.operations.jobs.operation_error import OperationError


def grow(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    return root


def names(*inputs: Input) -> list[str]:
    return [each.name.decode() for each in inputs]


def test_folders_are_walked_in_the_order_of_their_names_components(tmp_path: Path) -> None:
    grow(tmp_path / "tree", "b", "a/z", "a/é/deep", "a-b", "a.b", "A")
    (tmp_path / "tree" / "empty").mkdir()

    found = gather([str(tmp_path / "tree")], Progress())

    assert names(*found) == ["A", "a/z", "a/é/deep", "a-b", "a.b", "b"]
    assert [b"".join(each.pieces()).decode() for each in found] == names(*found)
    assert [each.size for each in found] == [len(name.encode()) for name in names(*found)]


def test_a_file_has_its_own_name_and_locations_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(tmp_path, "z/one.txt", "folder/two", "three")
    monkeypatch.chdir(tmp_path)

    assert names(*gather(["z/one.txt", "folder", "three"], Progress())) == ["one.txt", "two", "three"]
    assert names(*gather(["."], Progress())) == ["folder/two", "three", "z/one.txt"]


def test_large_files_come_in_pieces_of_bounded_size(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", 3 * MAX_PIECE_BYTES + 1)
    (found,) = gather([str(tmp_path / "large")], Progress())

    sizes = [len(piece) for piece in found.pieces()]

    assert sum(sizes) == 3 * MAX_PIECE_BYTES + 1
    assert max(sizes) <= MAX_PIECE_BYTES


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("a"), os.mkfifo], ids=["link", "pipe"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, make: object) -> None:
    grow(tmp_path, "a")
    make(tmp_path / "odd")  # type: ignore[operator]

    for location in (tmp_path, tmp_path / "odd"):
        with pytest.raises(OperationError, match="odd is"):
            gather([str(location)], Progress())


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        gather([str(tmp_path / "nothing")], Progress())


def test_what_will_be_written_is_passed_over_in_a_folder_and_refused_by_name(tmp_path: Path) -> None:
    grow(tmp_path, "a", "new.caf")
    never = [tmp_path / "new.caf", tmp_path / "not-there"]

    assert names(*gather([str(tmp_path)], Progress(), never)) == ["a"]
    with pytest.raises(OperationError, match="is an output"):
        gather([str(tmp_path / "new.caf")], Progress(), never)


def test_looking_can_be_cancelled(tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(Cancelled):
        gather([str(grow(tmp_path, "a"))], progress)


# ---- files that change ---------------------------------------------------------------------------------------------


def found_one(path: Path) -> FileInput:
    (found,) = gather([str(path)], Progress())
    assert isinstance(found, FileInput)
    return found


@pytest.mark.parametrize(
    ("content", "words"), [(b"1234567", "longer"), (b"12", "shorter"), (b"54321", "written to")], ids=lambda each: each
)
def test_a_file_that_has_changed_since_it_was_found_is_not_read(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    found = found_one(path)
    path.write_bytes(content)
    os.utime(path, ns=(0, 1))

    with pytest.raises(SourceError, match=words):
        list(found.pieces())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(b"1234567"), "longer"),
        (lambda path: path.write_bytes(b"12"), "shorter"),
        (lambda path: os.utime(path, ns=(0, 1)), "written to"),
    ],
)
def test_a_small_file_that_changes_before_or_after_its_one_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], words: str
) -> None:
    path, read = tmp_path / "a", os.read
    path.write_bytes(b"12345")
    found = found_one(path)
    assert list(found.pieces()) == [b"12345"]

    def read_and_change(descriptor: int, length: int) -> bytes:
        data = read(descriptor, length)
        change(path)
        return data

    monkeypatch.setattr(os, "read", read_and_change)
    with pytest.raises(SourceError, match=words):
        list(found.pieces())


def test_a_small_file_in_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    found = found_one(path)
    (tmp_path / "b").write_bytes(b"12345")
    (tmp_path / "b").replace(path)
    with pytest.raises(SourceError, match="replaced by another file"):
        list(found.pieces())
    path.unlink()
    path.symlink_to("b")
    with pytest.raises(SourceError, match="cannot be read"):
        list(found.pieces())


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"")
    os.truncate(path, 2 * MAX_PIECE_BYTES)
    pieces = found_one(path).pieces()
    next(pieces)
    os.truncate(path, MAX_PIECE_BYTES)

    with pytest.raises(SourceError, match="shorter"):
        list(pieces)

    pieces = found_one(path).pieces()
    next(pieces)
    os.utime(path, ns=(0, 1))
    with pytest.raises(SourceError, match="written to"):
        list(pieces)


def test_a_file_with_content_and_no_size_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"")
    found = found_one(tmp_path / "a")
    monkeypatch.setattr(os, "read", lambda *_: b"1")

    with pytest.raises(SourceError, match="is not empty"):
        list(found.pieces())


def test_a_file_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    grow(tmp_path, "a", "b")
    found = found_one(tmp_path / "a")
    (tmp_path / "a").unlink()
    (tmp_path / "a").symlink_to("b")

    with pytest.raises(SourceError, match="cannot be read"):
        list(found.pieces())


# ---- names ---------------------------------------------------------------------------------------------------------


def named(*wanted: bytes) -> list[Input]:
    return [Given(name) for name in wanted]


class Given:
    def __init__(self, name: bytes) -> None:
        self.name = name
        self.size = 0
        self.modified: int | None = None
        self.where = "somewhere"

    def pieces(self) -> list[bytes]:
        return []


@pytest.mark.parametrize(
    "name",
    [
        b"",
        b"/a",
        b"../a",
        b"a/../b",
        b"a//b",
        b"./a",
        b"a\\b",
        b"C:a",
        b"a\0b",
        b"a\nb",
        b"\xff",
        b"a/",
        "\u202ea".encode(),
    ],
)
def test_hazardous_names_are_refused(name: bytes) -> None:
    with pytest.raises(OperationError, match=r"Nothing was written\."):
        check_names(named(b"good", name))


@pytest.mark.parametrize("name", [b"\xff", b"a\nb", b"\xe2\x80\xae"])
def test_files_with_hazardous_names_are_found_and_refused(tmp_path: Path, name: bytes) -> None:
    (tmp_path / os.fsdecode(name)).write_bytes(b"1")

    (found,) = gather([str(tmp_path)], Progress())

    assert (found.name, b"".join(found.pieces())) == (name, b"1")
    with pytest.raises(OperationError) as refused:
        check_names([found])
    assert str(refused.value).isprintable()


def test_names_that_stand_twice_are_refused() -> None:
    with pytest.raises(OperationError, match=r"'a' occurs twice.*'b' occurs twice"):
        check_names(named(b"a", b"b", b"a", b"b"))
    with pytest.raises(OperationError, match="occurs twice"):
        check_names(named(b"a"), taken=[b"a"])


@pytest.mark.parametrize(("first", "second"), [(b"a", b"a/b/c"), (b"a/b/c", b"a/b")])
def test_a_file_cannot_be_a_folder_too(first: bytes, second: bytes) -> None:
    with pytest.raises(OperationError, match="needs it to be a folder"):
        check_names(named(first, second))
    with pytest.raises(OperationError, match="needs it to be a folder"):
        check_names(named(second), taken=[first])


def test_names_that_are_one_on_some_systems_are_a_word() -> None:
    assert check_names(named(b"a", b"b", "é".encode())) == ()
    (said,) = check_names(named(b"a", b"A", b"b", b"B"))
    assert said == "The names 'a' and 'A' are the same on some systems. There is 1 more such pair."


def test_what_will_be_written_is_not_put_into_itself_and_that_is_said(tmp_path: Path) -> None:
    target = tmp_path / "new.caf"
    grow(tmp_path, "new.caf", ".new.caf.0123456789abcdef.part", ".other.0123456789abcdef.part", "own/x", "b/new.caf")
    never = [target, tmp_path / "own"]

    found = gather([str(tmp_path)], Progress(), never)

    assert names(*found) == [".other.0123456789abcdef.part", "b/new.caf"]
    (said,) = skipped_outputs(never, [str(tmp_path / "b" / "new.caf"), str(tmp_path)])
    assert said.startswith("'new.caf', 'own' lie in folders of inputs")
    assert skipped_outputs([target], [str(tmp_path / "b")]) == ()
    with pytest.raises(OperationError, match="is an output"):
        gather([str(tmp_path / "own")], Progress(), never)


def test_more_than_an_archive_has_room_for_are_refused_before_all_are_looked_at(tmp_path: Path) -> None:
    grow(tmp_path, *map(str, range(30)))
    assert len(gather([str(tmp_path)], Progress(), max_inputs=30)) == 30
    progress = Progress()
    with pytest.raises(OperationError, match="has 20 members at most; these are more"):
        gather([str(tmp_path), str(tmp_path)], progress, max_inputs=20)
    assert progress.done == 21
