"""Sub-commands in the terminal: text, JSON, exit statuses. Never imports PySide6."""
