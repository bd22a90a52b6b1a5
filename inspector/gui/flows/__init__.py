"""Conversations of several steps: extract, write, save, upload, recover."""
