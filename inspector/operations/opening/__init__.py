"""From a location to archives: opening, recognising, decoding, listing and reading them."""
