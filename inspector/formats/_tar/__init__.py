"""Tar, for the formats that are tar archives.

``reading`` probes, decodes and reads; ``walk`` goes from header to header, ``fast_walk`` does so for many regular
members at once, ``resync`` continues where there is no header, with ``search``; ``swallowed`` finds headers inside
members; ``header`` and ``extension`` parse, ``fields`` shows the bytes, ``check`` and ``repair`` fix.
"""
