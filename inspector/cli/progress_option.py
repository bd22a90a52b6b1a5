"""Whether long work speaks where standard error is no terminal."""

from __future__ import annotations

import argparse

EVERY = 10.0
"""Seconds between two lines."""


def add_progress(command: argparse.ArgumentParser) -> None:
    """Add the option: without it, and without a terminal, nothing is said, as scripts expect."""
    command.add_argument(
        "--progress",
        action="store_const",
        const=EVERY,
        default=0.0,
        help="say how far it is every 10 seconds also where standard error is no terminal",
    )
