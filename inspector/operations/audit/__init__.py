"""Checks of very many archives, with results that are kept."""
