"""See what every byte of an archive means."""

__version__ = "0.1.0"
