"""What other readers make of an archive: each step of one, and a line about each."""
