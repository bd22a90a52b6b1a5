"""The panels that change an archive, or show what changes would make of it."""
