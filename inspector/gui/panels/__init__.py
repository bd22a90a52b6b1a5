"""The panels around a document, one file each: they know the document, never each other."""
