"""The diagram panel: the shape of the archive as boxes and links, in step with its bytes."""
