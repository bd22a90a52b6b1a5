"""One file a sub-command: its options and its `run`. Imported only when that sub-command is asked for."""
