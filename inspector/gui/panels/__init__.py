"""The panels around a document, one file each with its table model; a panel knows the document, not other panels."""
