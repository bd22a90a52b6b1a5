"""The state of one open location, without widgets."""
