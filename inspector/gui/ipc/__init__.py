"""The window's end of worker processes, and of other starts of the program."""
