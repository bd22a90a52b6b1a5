"""What a run that was killed has left on S3 is told from what others send there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.operations.protocol.create_views import ArchiveKind, Draft
from inspector.operations.worker.create_session import CreateSession
from inspector.sources.s3.address import Address
from inspector.sources.s3.uploads.sender import note
from tests.operations.create.creations import plant
from tests.patience import PATIENCE
from tests.s3.conftest import BUCKET, Store, notes
from tests.s3.proxy import Forward, Reply, Seen, refuse
from tests.s3.writing.test_writing_new import HERE, keys, small_parts
from tests.s3.writing.writing import MEBI, taco, unfinished

__all__ = ["small_parts"]


@pytest.fixture(autouse=True)
def nothing_left(store: Store) -> Iterator[None]:
    """Nothing is left to other tests."""
    yield
    for each in store.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ()):
        store.client.abort_multipart_upload(Bucket=BUCKET, Key=each["Key"], UploadId=each["UploadId"])


def test_what_a_killed_run_has_left_is_removed_and_nothing_else(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "large", {"x": bytes(22 * MEBI)})
    plant(tmp_path / "small", {"x": b"1"})
    sending, killed = Event(), Event()

    def waiting(seen: Seen, forward: Forward) -> Reply:
        if seen.method == "PUT" and "killed.caf" in seen.path:
            sending.set()
            assert killed.wait(PATIENCE)
        return forward()

    def make(name: str, *options: str) -> str:
        arguments = ["create", "caf", f"{HERE}/left/{name}.caf", str(tmp_path / "small"), *options, *store.options]
        assert main(arguments) == 0
        return capsys.readouterr().err

    foreign = store.client.create_multipart_upload(Bucket=BUCKET, Key="left/theirs.bin")["UploadId"]
    command = [sys.executable, "-m", "inspector", "create", "caf", f"{HERE}/left/killed.caf", str(tmp_path / "large")]
    with store.proxy.failing(waiting), subprocess.Popen([*command, *store.options]) as run:
        assert sending.wait(PATIENCE)
        assert make("one") == ""
        said = make("two", "--remove-unfinished")
        assert f"1 upload of this program into {HERE}/left/ goes on" in said
        assert "killed" not in said
        run.kill()
        run.wait(PATIENCE)
        killed.set()

    assert f"1 unfinished upload of a run that was killed was left in {HERE}/: 'left/killed.caf'." in make("three")
    assert sorted(unfinished(store)) == ["left/killed.caf", "left/theirs.bin"], "nothing was asked for"
    said = make("four", "--remove-unfinished")
    assert f"1 unfinished upload of a run that was killed was removed in {HERE}/: 'left/killed.caf'." in said
    assert (
        f"'left/theirs.bin'. To end one, use aws s3api abort-multipart-upload; the id of the first is {foreign}" in said
    )
    assert unfinished(store) == ["left/theirs.bin"]
    assert notes() == []
    assert "killed" not in make("five", "--remove-unfinished")
    assert len(keys(store, "left/")) == 5


@pytest.mark.usefixtures("small_parts")
def test_what_could_not_be_aborted_is_noted_until_it_is(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "tree", {"x": bytes(12 * MEBI)})
    arguments = ["create", "caf", f"{HERE}/left/half.caf", str(tmp_path / "tree"), *store.options]

    def broken(seen: Seen, forward: Forward) -> Reply:
        last = seen.method == "POST" and "uploadId" in seen.path
        return refuse(403, "AccessDenied")(seen, forward) if last or seen.method == "DELETE" else forward()

    with store.proxy.failing(broken):
        assert main(arguments) == 2
    assert "is aborted (--remove-unfinished)" in capsys.readouterr().err
    (path,) = notes()
    assert path.stat().st_mode & 0o077 == 0
    draft = Draft(ArchiveKind.CAF, f"{HERE}/left/x.caf", (str(tmp_path),), connection=store.connection)
    assert "'left/half.caf'" in CreateSession().unfinished(Progress(), draft)
    with store.proxy.failing(broken):
        main([*arguments, "--remove-unfinished"])
    assert "could not be removed: Writing" in capsys.readouterr().err
    assert path in notes()

    made = CreateSession().create(
        Progress(),
        Draft(draft.kind, draft.target, draft.locations, remove_unfinished=True, connection=store.connection),
    )

    assert any("was removed" in each or "were removed" in each for each in made.warnings)
    assert unfinished(store) == []
    assert notes() == []
    assert CreateSession().unfinished(Progress(), draft) == ""


@pytest.mark.usefixtures("small_parts")
def test_one_that_someone_else_has_ended_is_forgotten(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where no note can be kept at all, archives are made."""
    plant(tmp_path / "tree", {"x": bytes(12 * MEBI)})
    arguments = ["create", "caf", f"{HERE}/left/gone.caf", str(tmp_path / "tree"), "--overwrite", *store.options]
    with store.proxy.failing(
        lambda seen, forward: Reply(0) if seen.method == "DELETE" or "partNumber=2" in seen.path else forward()
    ):
        main(arguments)
    for each in store.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ()):
        store.client.abort_multipart_upload(Bucket=BUCKET, Key=each["Key"], UploadId=each["UploadId"])
    (path,) = notes()
    capsys.readouterr()

    assert main([*arguments, "--remove-unfinished"]) == 0

    assert capsys.readouterr().err == ""
    assert notes() == []
    path.parent.rmdir()
    path.parent.write_bytes(b"in the way")
    assert main(arguments) == 0
    path.parent.unlink()


@pytest.mark.parametrize("command", [["repair"], ["header", "--set", "0=157,30"], ["header"]], ids=" ".join)
def test_what_was_left_is_removed_by_what_changes_an_object_where_it_is(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    location = store.put("left/here.taco", taco(tmp_path, [1000]))
    key = "left/here.taco"
    upload = store.client.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
    left = note(store.proxy.url, Address(BUCKET, key), upload)
    assert left is not None
    left.leave()
    assert main([*command, location, *store.options]) == 0
    said = capsys.readouterr().err
    assert ("1 unfinished upload of a run that was killed was left" in said) == (command != ["header"])
    assert unfinished(store) == [key]
    assert main([*command, location, "--remove-unfinished", *store.options]) == 0
    assert "1 unfinished upload of a run that was killed was removed" in capsys.readouterr().err
    assert unfinished(store) == []
