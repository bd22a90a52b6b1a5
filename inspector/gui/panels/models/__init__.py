"""Qt models of the rows that panels show; the worker holds the facts."""
