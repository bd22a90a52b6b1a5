"""A process of its own for the server: says its port, and ends when its standard input does."""

from __future__ import annotations

import logging
import sys
from threading import Thread

from moto.moto_server.werkzeug_app import MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # S3 alone: to tell for which of its 200 services a request is, moto lists its own folders each time.
    server = make_server("127.0.0.1", 0, create_backend_app("s3"), threaded=True, request_handler=MotoRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    print(server.port, flush=True)
    sys.stdin.read()
