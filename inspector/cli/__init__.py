"""Operations in a terminal: text, JSON, exit codes. Never imports PySide6."""
