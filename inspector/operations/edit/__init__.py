"""Changes in place: the TACO header, bytes, repairs."""
