"""The state of one open location in the window; no widgets."""
