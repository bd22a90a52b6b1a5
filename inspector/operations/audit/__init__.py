"""Checks of very many archives with stored results."""
