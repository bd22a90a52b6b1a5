"""Changes of a file in place: locked and journaled, finished or rolled back after a crash, and undone."""
