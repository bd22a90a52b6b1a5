"""Watching a reader read: its steps, its reads in order, and what every reader makes of the archive."""
