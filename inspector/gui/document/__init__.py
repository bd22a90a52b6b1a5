"""The state of one open location, and the bars about what goes on outside of it."""
