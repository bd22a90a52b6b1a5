"""Changes of existing archives: repairs, patches, the TACO header, checksums."""
