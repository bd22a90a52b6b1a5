"""From a location to decoded archives and the bytes of their members."""
