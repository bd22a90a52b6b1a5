"""A web server of files: what it does on good days, and a secret that its addresses carry."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.s3.proxy import Fault, Forward, Proxy, Reply, Seen, refuse

SECRET = "canary0signature"
QUERY = f"?X-Amz-Credential={SECRET}&X-Amz-Signature={SECRET}&sp='{SECRET}'&v=1"


class Site:
    """``files`` by path; those that are signed are given only for their QUERY."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self.files: dict[str, bytes] = {}
        self.etag = '"1"'
        self.ranges = True

    def put(self, path: str, data: bytes) -> str:
        """Keep a file, and give its signed address."""
        self.files[path] = data
        return self.address(path)

    def address(self, path: str) -> str:
        return f"{self.proxy.url}/{path}{QUERY}"

    def answer(self, seen: Seen, forward: Forward) -> Reply:
        """What is asked for, whole or by ranges; a signature is good for GET only."""
        url = urlsplit(seen.path)
        path = url.path.removeprefix("/")
        if path not in self.files:
            return refuse(404)(seen, forward)
        if seen.method != "GET" or (f"?{url.query}" != QUERY.replace("'", "%27") and f"?{url.query}" != QUERY):
            return refuse(403)(seen, forward)
        if seen.if_match and seen.if_match != self.etag:
            return refuse(412)(seen, forward)
        return part(self.files[path], seen.range if self.ranges else "", self.etag)


def part(data: bytes, wanted: str, etag: str = '"1"') -> Reply:
    """The answer to a request for a range, or for all if none is wanted."""
    headers = {"Content-Type": "application/octet-stream"} | ({"ETag": etag} if etag else {})
    if not wanted:
        return Reply(200, headers, data)
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    start = int(first) if first else max(0, len(data) - int(last))
    stop = min(len(data), int(last) + 1) if first and last else len(data)
    if start >= stop:
        return Reply(416, {"Content-Range": f"bytes */{len(data)}"})
    return Reply(206, headers | {"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}"}, data[start:stop])


def redirecting(to: str, status: int = 302, path: str = "/moved") -> Fault:
    """One path leads elsewhere."""

    def fault(seen: Seen, forward: Forward) -> Reply:
        return Reply(status, {"Location": to}) if urlsplit(seen.path).path == path else forward()

    return fault
