"""From a location to decoded archives, the bytes of their members, places in them, and what bytes look like."""
