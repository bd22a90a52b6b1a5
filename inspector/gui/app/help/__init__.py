"""Help: what each part is, which commands there are, and what to send about a fault."""
