"""The user's word on what runs that were killed have left."""

from __future__ import annotations

import argparse


def add_unfinished(command: argparse.ArgumentParser) -> None:
    """Add the option. Imports nothing, because the window's start passes through here too."""
    command.add_argument(
        "--remove-unfinished",
        action="store_true",
        help="remove what runs that were killed have left unfinished there",
    )
