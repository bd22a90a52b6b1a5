"""Experiments: steps that change an archive over an overlay, never in its file."""
