"""ZIP, for the formats that are ZIP archives (APPNOTE.TXT 6.3.10 by PKWARE).

``records`` has the layout of the records, ``headers`` and ``extra`` read them, ``eocd`` finds the end records,
``directory`` reads the central directory into columns, ``bulk`` does so for many ordinary members at once, ``decode``
puts all together; ``fields`` shows the bytes, ``members`` reads contents, ``check`` compares CRC-32 values, ``repair``,
``rebuild`` and ``salvage`` fix.
"""
