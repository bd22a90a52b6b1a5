"""What a user can do, once: the window and the command line are two faces of it."""
