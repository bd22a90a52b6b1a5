"""A Ceph of its own with an S3 server: one monitor, one OSD that keeps everything in memory, one radosgw.

Everything listens on loopback, on ports that were free, and keeps its files in a folder that goes with it. The kernel
ends the daemons when the process that started them ends, however that comes.
"""

from __future__ import annotations

import secrets
import shutil
import socket
import subprocess
import tempfile
import uuid
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from struct import pack

from tests.patience import PATIENCE, until

KEY, SECRET = "AKIACANARYCEPH123456", "canary/ceph+secret"
PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin")
PACKAGES = "ceph-mon ceph-osd ceph-common radosgw"

CONFIGURATION = """\
[global]
fsid = {fsid}
mon_host = [v2:127.0.0.1:{mon},v1:127.0.0.1:{old}]
mon_initial_members = a
keyring = {folder}/keyring
run_dir = {folder}
admin_socket =
log_file = {folder}/$name.log
mon_cluster_log_file = {folder}/cluster.log
mon_data = {folder}/mon
osd_data = {folder}/osd
rgw_data = {folder}
ms_bind_ipv6 = false
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
osd_objectstore = memstore
memstore_device_bytes = 6442450944
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
osd_crush_update_on_start = true
mon_allow_pool_size_one = true
# The disk of a test machine may be nearly full: nothing of this is kept.
mon_data_avail_crit = 1
mon_data_avail_warn = 1
[client.rgw]
# Without tcp_nodelay every answer with a body waits 40 ms for an acknowledgement.
rgw_frontends = beast endpoint=127.0.0.1:{port} tcp_nodelay=1
debug_rgw = 1
"""
CAPABILITIES = {
    "mon.": {"mon": "allow *"},
    "client.admin": {"mon": "allow *", "osd": "allow *", "mgr": "allow *"},
    "osd.0": {"mon": "allow profile osd", "osd": "allow *", "mgr": "allow profile osd"},
    "client.rgw": {"mon": "allow rw", "osd": "allow rwx", "mgr": "allow rw"},
}


class CephError(Exception):
    """Why there is no radosgw, in a sentence."""


@dataclass(frozen=True)
class Cluster:
    """A running S3 server: the port it listens on, the log it keeps of what it is asked, and what its tools need."""

    port: int
    log: Path
    configuration: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running() -> Iterator[Cluster]:
    """A Ceph that is there as long as the block. Raises CephError."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise CephError(f"These tests need Ceph, and {missing[0]} is not installed: apt-get install {PACKAGES}.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ceph-", ignore_cleanup_errors=True)))
        yield _Starting(folder, stack).cluster()


class _Starting:
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack

    def cluster(self) -> Cluster:
        folder, (mon, old, port) = self._folder, _free_ports(3)
        fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
        text = CONFIGURATION.format(folder=folder, fsid=fsid, mon=mon, old=old, port=port)
        (folder / "ceph.conf").write_text(text)
        (folder / "keyring").write_text("".join(_keys()))
        (folder / "osd").mkdir()
        self._run("ceph-mon", "--mkfs", "-i", "a", "--public-addr", f"127.0.0.1:{mon}")
        self._daemon("ceph-mon", "-f", "-i", "a", "--public-addr", f"127.0.0.1:{mon}")
        self._run("ceph", "osd", "new", osd, "0")
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd, "--no-mon-config")
        self._daemon("ceph-osd", "-f", "-i", "0")
        self._daemon("radosgw", "-f", "-n", "client.rgw")
        until(lambda: _answers(port), lambda: f"a radosgw that answers: {self._said()}")
        self._run("radosgw-admin", "user", "create", "--uid=t", "--display-name=t", *self._keys_of_user())
        return Cluster(port, folder / "client.rgw.log", folder / "ceph.conf")

    def _keys_of_user(self) -> tuple[str, ...]:
        return f"--access-key={KEY}", f"--secret-key={SECRET}"

    def _command(self, name: str, *arguments: str) -> list[str]:
        return [name, "-c", str(self._folder / "ceph.conf"), *arguments]

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            self._command(*command), capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=self._folder
        )
        if done.returncode:
            raise CephError(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")

    def _daemon(self, *command: str) -> None:
        with (self._folder / f"{command[0]}.out").open("wb") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *self._command(*command)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
            )
        self._stack.callback(_end, process)

    def _said(self) -> str:
        """What the daemons have printed last."""
        return "".join(path.read_text(errors="replace")[-1000:] for path in self._folder.glob("*.out"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing is worth keeping, so nothing need be told to end well."""
    process.kill()
    process.wait(PATIENCE)


def _keys() -> Iterator[str]:
    """The keyring: for everyone who takes part a key of 16 bytes, made at the time 0, and what it is good for."""
    for name, capabilities in CAPABILITIES.items():
        key = b64encode(pack("<hIIh", 1, 0, 0, 16) + secrets.token_bytes(16)).decode()
        yield f"[{name}]\n\tkey = {key}\n"
        yield from (f'\tcaps {of} = "{what}"\n' for of, what in capabilities.items())


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in servers]


def _answers(port: int) -> bool:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        try:
            connection.request("GET", "/")
            return bool(connection.getresponse().status)
        except OSError:
            return False
