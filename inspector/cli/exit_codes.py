"""What the program ends with: its exit statuses. Imports nothing, because all that is started passes through here."""

from __future__ import annotations

FINE = 0
NOT_SOUND = 1
"""Something is wrong, or not all that was asked for is there or was done."""
UNREADABLE = 2
"""It could not be read or written, or was not understood."""
INTERRUPTED = 130
CUT_OFF = 141
"""What a shell gives for a program that a closed pipe has ended."""
