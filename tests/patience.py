"""How long tests wait for what other processes and threads do; where it is done, waiting long costs nothing."""

from __future__ import annotations

PATIENCE = 240.0
"""Seconds after which something that has not come to pass on a busy machine has failed."""
