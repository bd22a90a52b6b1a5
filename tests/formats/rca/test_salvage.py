"""Salvage of damaged RCA archives: what is whole as a new archive, and which blobs that leaves out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.formats._zstd import Stream
from inspector.formats.rca import FORMAT
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open.opening import Opened, decode
from tests.formats.rca import build
from tests.formats.rca.checking import ONE, THREE, TWO, flipped, noisy, opened
from tests.formats.rca.decoding import content

NOISE = noisy(9_000, 5)
each_convention = pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])


def examined(data: bytes) -> Opened:
    archive = opened(data)
    check_archive(archive, Progress())
    return archive


def salvages(data: bytes) -> dict[str, Repair]:
    archive = examined(data)
    return {repair.code: repair for repair in FORMAT.repairs(archive, Progress()) if repair.content}


def made(repair: Repair) -> bytes:
    assert repair.content is not None
    return b"".join(repair.content(Progress()))


def blobs(data: bytes) -> list[build.Blob]:
    """The blobs of an archive that is sound."""
    archive = examined(data)
    assert state_of((archive,)) is State.SOUND
    return [(member.path, content(archive, member.index)) for member in archive.members]


def readable(archive: Archive) -> Iterator[build.Blob]:
    for member in archive.members:
        try:
            yield member.path, content(archive, member.index)
        except MemberError:
            continue


def payload_byte(whole: bytes, blob: int) -> int:
    """A byte in the middle of a blob's payload, in the file."""
    archive = opened(whole)
    members = archive.members
    assert archive.inner is not None
    return archive.inner.outer((members.starts[blob] + members.stops[blob]) // 2, len(whole))[0].start


@each_convention
def test_the_segments_without_damage_become_an_archive(convention: str) -> None:
    whole = build.archive(ONE, NOISE, TWO, THREE, convention=convention)
    salvage = salvages(flipped(whole, 8 * payload_byte(whole, len(ONE) + 2)))["rca-salvage"]

    assert made(salvage) == build.archive(ONE, TWO, THREE, convention=convention)
    assert not salvage.claim
    assert salvage.loses == ("5 of 11 blobs: '000', '001', '002', '003', '004'.",)
    assert salvage.title == "Copy the 6 blobs that are proved whole into a new archive"


def test_what_decodes_without_a_proof_waits_for_a_word() -> None:
    whole = build.archive(ONE, NOISE, TWO, convention=build.RCARCH)
    found = salvages(whole[: payload_byte(whole, len(ONE) + 3)])

    assert made(found["rca-salvage"]) == build.archive(ONE)
    assert made(found["rca-salvage-readable"]) == build.archive(ONE, NOISE[:3], convention=build.RCARCH)
    assert found["rca-salvage-readable"].claim.startswith("3 of them are taken to be")
    assert found["rca-salvage-readable"].loses == ("1 of 7 blobs: '003'.",)


def test_a_salvage_that_rests_on_a_claim_is_planned_on_a_word_only() -> None:
    whole = build.archive(NOISE, convention=build.RCARCH)
    data = whole[: payload_byte(whole, 3)]
    waiting, accepted = plan(opened(data), Progress()), plan(opened(data), Progress(), ["rca-salvage-readable"])

    assert waiting.salvage is None
    assert {repair.code for repair in waiting.waiting} == {"rca-cut-back", "rca-salvage-readable"}
    assert accepted.salvage is not None
    assert blobs(made(accepted.salvage)) == NOISE[:3]


def test_what_was_written_so_is_proved_up_to_where_it_cannot_be_decoded() -> None:
    blocks = build.segment(ONE) + build.blob_block(b"\xff" * 40)
    salvage = salvages(build.chunked(*build.inner([blocks, build.segment(THREE)])))["rca-salvage"]

    assert made(salvage) == build.archive(ONE, THREE)
    assert salvage.loses == ("1 of 6 blobs, whose names cannot be read.",)


@pytest.mark.parametrize("garbage", [b"", b"garbage"])
def test_a_sound_archive_is_not_salvaged_and_a_torn_one_is_as_a_whole(garbage: bytes) -> None:
    whole = build.archive(ONE, NOISE, TWO)
    found = salvages(whole + garbage)

    assert list(found) == (["rca-salvage"] if garbage else [])
    assert all(blobs(made(repair)) == [*ONE, *NOISE, *TWO] and not repair.loses for repair in found.values())


def test_nothing_is_salvaged_where_nothing_is_whole() -> None:
    assert not salvages(build.archive(ONE)[:20])
    assert not salvages(b"\0\5" + build.archive(ONE)[2:8])
    assert not salvages(build.chunked(build.blob_block(b"not zstd"), build.digest(build.blob_block(b"not zstd"))))


ODD = [(b"before", b"first"), (b"\xff\xfe", b"content"), (b"n" * 70_000, b"long"), (b"after", b"last " * 50)]


def test_what_no_sound_archive_can_hold_is_written_anew() -> None:
    compress = build.Compressor()
    blocks = b"".join(build.blob(name, stored, compress) for name, stored in ODD[:2])
    blocks += build.blob_block(compress(b"a name without an end"))
    blocks += b"".join(build.blob(name, stored, compress) for name, stored in ODD[2:])
    whole = build.chunked(*build.inner([build.segment(ONE), blocks, build.segment(TWO)]))
    salvage = salvages(whole)["rca-salvage"]
    archive = examined(made(salvage))

    assert state_of((archive,)) is not State.DAMAGED
    assert [stored for _, stored in readable(archive)] == [stored for _, stored in (*ONE, *ODD, *TWO)]
    assert [member.path for member in archive.members][3:6] == [b"before", b"\\xff\\xfe", b"n" * 65_535]
    assert salvage.loses == (
        "1 of 9 blobs, whose names cannot be read.",
        r"The bytes of 1 name, which are not UTF-8 and are written as they are shown: '\xff\xfe'.",
    )


ANYWHERE = st.integers(0, (1 << 24) - 1)
"""A bit or a byte of an archive, modulo its size."""
WHOLE = {
    "spec": build.archive(ONE, TWO, NOISE[:2], THREE),
    "rcarch": build.archive(ONE, NOISE, TWO, THREE, convention=build.RCARCH),
    "one segment": build.archive(ONE),
}


@pytest.mark.parametrize("name", WHOLE)
@given(bits=st.lists(ANYWHERE, min_size=1, max_size=4), stop=st.none() | ANYWHERE)
def test_a_salvage_holds_nothing_but_what_was_archived(name: str, bits: list[int], stop: int | None) -> None:
    damaged = whole = WHOLE[name]
    for bit in bits:
        damaged = flipped(damaged, bit % (8 * len(whole)))
    damaged = damaged if stop is None else damaged[: stop % len(whole)]
    found = salvages(damaged)
    if "rca-salvage" in found:
        kept, stored = blobs(made(found["rca-salvage"])), blobs(whole)
        assert kept
        assert kept == [blob for blob in stored if blob in kept]
    if "rca-salvage-readable" in found:
        archive = examined(made(found["rca-salvage-readable"]))
        assert state_of((archive,)) in {State.SOUND, State.WARNING}
        listed = {content for _, content in readable(opened(damaged))}
        # Where nothing can be listed, because a chunk header is damaged, a salvage tries what follows it all the same.
        if listed and "no block can be told" not in "".join(found["rca-salvage-readable"].loses):
            assert {content for _, content in readable(archive)} <= listed | {content for _, content in blobs(whole)}


def test_the_first_names_that_are_lost_are_told() -> None:
    many = [(b"%03d" % number, b"x") for number in range(150)]
    whole = build.archive(many, TWO)
    data = flipped(whole, 8 * payload_byte(whole, 100))
    said = salvages(data)["rca-salvage"].loses[0]

    assert said.startswith("150 of 151 blobs: '000', '001',")
    assert said.endswith(f"{150 - said.count(chr(39)) // 2} more.")


def test_a_salvage_is_read_in_bounded_pieces() -> None:
    large = build.archive([(b"large", noisy(3_000_000, 1)[0][1])], TWO)
    repair = salvages(large + b"garbage")["rca-salvage"]
    assert repair.content is not None
    pieces = [len(piece) for piece in repair.content(Progress())]

    assert max(pieces) <= 1 << 20
    assert sum(pieces) == len(large)


def test_a_segment_that_is_written_anew_is_not_decoded_from_its_start_for_every_blob(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compress = build.Compressor()
    names = [b"\xff", *[b"%03d" % number for number in range(200)]]
    data = build.chunked(*build.inner([b"".join(build.blob(name, name, compress) for name in names)]))
    repair = salvages(data)["rca-salvage"]
    fed = 0
    feed = Stream.feed

    def counted(self: Stream, data: bytes) -> Iterator[bytes]:
        nonlocal fed
        fed += len(data)
        return feed(self, data)

    monkeypatch.setattr(Stream, "feed", counted)
    made(repair)

    assert len(data) < fed < 3 * len(data)


class Growing(BytesSource):
    """Bytes that become other ones while they are read."""

    changed = False

    def read(self, offset: int, length: int) -> bytes:
        data = super().read(offset, length)
        return data[:-1] + b"\0" if self.changed and length > 100 else data


def test_a_file_that_changes_meanwhile_is_said() -> None:
    source = Growing(build.archive(ONE, NOISE) + b"garbage", "test.rca")
    archive = Opened(source, FORMAT.name, FORMAT.title, (), decoder=FORMAT)
    decode(archive, Progress())
    check_archive(archive, Progress())
    (repair,) = (each for each in FORMAT.repairs(archive, Progress()) if each.content)
    assert repair.content is not None
    pieces = repair.content(Progress())
    next(pieces)
    source.changed = True

    with pytest.raises(MemberError, match="changed"):
        list(pieces)


def test_a_salvage_can_be_cancelled() -> None:
    repair = salvages(build.archive(ONE, NOISE) + b"garbage")["rca-salvage"]
    assert repair.content is not None
    progress = Progress()
    pieces = repair.content(progress)
    next(pieces)
    progress.cancel()

    with pytest.raises(Cancelled):
        list(pieces)
