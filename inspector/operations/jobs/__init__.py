"""The ground of long work: process pool, shared progress, locks, what was left unfinished."""
