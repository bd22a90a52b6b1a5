"""See what every byte of an archive means."""
