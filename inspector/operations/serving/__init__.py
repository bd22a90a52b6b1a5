"""The processes in which operations run for a window or beside one another."""
