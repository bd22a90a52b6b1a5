"""Edits of archives in place: the TACO header, bytes, repairs."""
