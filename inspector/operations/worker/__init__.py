"""The loops of worker processes that serve sessions to a window."""
