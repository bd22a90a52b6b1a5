"""A report to hand over: what an archive is, what is wrong with it and what can be done, as one page."""

RENDER_PDF = "--render-pdf"
"""What starts the program as a process that reads a page from standard input and writes a PDF to standard output."""
