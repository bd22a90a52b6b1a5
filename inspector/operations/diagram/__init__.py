"""Diagrams of an archive's shape: what its format declares, filled with what it holds, and drawn as SVG."""
