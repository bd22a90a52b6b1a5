"""What every worker of a tab needs, imported once in the process that they are forked from."""

from __future__ import annotations

import gc
from importlib import import_module

from inspector.core.limits import calculate_in_one_thread

calculate_in_one_thread()
for _name in ("inspector.operations.session.archive_session", "inspector.operations.worker.server", "numpy"):
    import_module(_name)
gc.freeze()  # else the first collection of each worker would copy all pages that it shares with the others
