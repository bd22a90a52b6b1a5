"""Windows that ask for something; nothing waits for any of them."""
