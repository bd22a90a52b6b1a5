"""ZIP structures, shared by the formats that are ZIP archives: APPNOTE.TXT 6.3.10 of PKWARE."""
