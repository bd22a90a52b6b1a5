"""Comparing two locations: their members, fields and bytes, and which side is right."""
