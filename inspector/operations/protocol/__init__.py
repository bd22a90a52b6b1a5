"""Values that cross between the window and its workers; nothing here decodes."""
