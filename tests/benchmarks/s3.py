"""Reading objects from a server that answers at once, or after 100 ms, against one GET of the same bytes."""

from __future__ import annotations

import http.client
import os
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

from inspector.core.program.progress import Progress
from inspector.operations.check.checking import check_location
from inspector.operations.create.creating import create_taco
from inspector.operations.create.creating_rca import RcaOptions, create_rca
from inspector.operations.open.listing import load, members_of
from inspector.sources.s3.connection import Connection
from tests.benchmarks.measure import Row, paired
from tests.s3.bucket import BUCKET
from tests.s3.objects import serving
from tests.s3.proxy import Fault, Forward, Proxy, Reply, Seen

MEMBERS, MEMBER = 500, 200_000
RATE = 25e6
"""Bytes a second of one connection."""
REACH = 1.2
RUNS = 3


def rows(folder: Path) -> Iterator[Row]:
    """Tar, RCA and TACO archives of 100 MB."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    inputs = folder / "inputs"
    inputs.mkdir()
    for number in range(MEMBERS):
        (inputs / f"{number:04}.bin").write_bytes(Random(number).randbytes(MEMBER))
    with tarfile.open(folder / "a.tar", "w") as made:
        made.add(inputs, "inputs")
    create_rca(Progress(), str(folder / "a.rca"), [str(inputs)], RcaOptions())
    create_taco(Progress(), str(folder / "a.tacozip"), [str(inputs)])
    objects: dict[str, bytes | Path] = {name: folder / name for name in ("a.tar", "a.rca", "a.tacozip")}
    with closing(Proxy(0)) as proxy:
        for latency in (0.0, 0.1):
            with proxy.failing(after(latency, serving(objects))):
                yield from _rows(proxy, f"{latency * 1000:.0f} ms")


def after(seconds: float, answer: Fault) -> Fault:
    """A server that takes a while to answer, and sends at RATE."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        time.sleep(seconds)
        reply = answer(seen, forward)
        reply.piece = 1 << 18
        reply.pause = reply.piece / RATE
        return reply

    return fault


def _rows(proxy: Proxy, latency: str) -> Iterator[Row]:
    here = Connection(endpoint=proxy.url)
    for name in ("a.tar", "a.rca"):
        location = f"s3://{BUCKET}/{name}"
        peer: Callable[[], object] = partial(streamed if name == "a.tar" else got, proxy, name)
        yield Row(f"s3: list {name}, {latency}", *paired(peer, partial(listed, location, here), RUNS), REACH)
    for name in ("a.tar", "a.rca", "a.tacozip"):
        location = f"s3://{BUCKET}/{name}"
        check = partial(check_location, location, Progress(), here)
        yield Row(f"s3: check {name}, {latency}", *paired(partial(got, proxy, name), check, RUNS), REACH)


def got(proxy: Proxy, name: str) -> None:
    """One GET of an object."""
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port)) as connection:
        connection.request("GET", f"/{BUCKET}/{name}")
        answer = connection.getresponse()
        while answer.read(1 << 20):
            pass


def streamed(proxy: Proxy, name: str) -> None:
    """The members of a tar from one GET."""
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port)) as connection:
        connection.request("GET", f"/{BUCKET}/{name}")
        with tarfile.open(fileobj=connection.getresponse(), mode="r|") as archive:
            assert sum(1 for _ in archive) > MEMBERS


def listed(location: str, connection: Connection) -> None:
    """All members by this program."""
    (archive,) = load(location, Progress(), connection, sparing=True)
    assert sum(1 for _ in members_of(archive, Progress())) >= MEMBERS
