"""New archives, and archives that grow."""
