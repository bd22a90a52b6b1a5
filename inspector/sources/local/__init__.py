"""Files and folders of this machine: reading, writing new ones whole or not at all, and what was left unfinished."""
