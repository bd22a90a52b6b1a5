"""One open location: its layers, members, fields, edits and jobs."""
