"""A process of its own for the server: says its port, and ends when its standard input does."""

from __future__ import annotations

import logging
import sys

from moto.server import ThreadedMotoServer

if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    print(server.get_host_and_port()[1], flush=True)
    sys.stdin.read()
