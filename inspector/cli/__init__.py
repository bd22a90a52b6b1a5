"""The terminal: one parser, output and exit statuses; the sub-commands are in `commands`. Never imports PySide6."""
