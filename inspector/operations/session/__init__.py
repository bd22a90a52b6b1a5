"""One open location: its snapshot, layers, members, navigation, checks and edits."""
