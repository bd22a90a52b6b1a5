"""Interactions of several steps with one document: extract, write, save, upload, recover."""
