"""The band that shows which keys the ranges of a dataset cover."""
