"""Replaying writes: what a writer does to an archive, write by write, and what each reader makes of a crash there."""
