"""Worker processes: the server loop, and the sessions that have no open archive."""
