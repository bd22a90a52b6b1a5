"""The hex view: rows of bytes with their structures, arrows, caret and selection; and the pane that holds it."""
