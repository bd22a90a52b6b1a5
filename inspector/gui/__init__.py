"""Operations in a window: the only home of PySide6."""
