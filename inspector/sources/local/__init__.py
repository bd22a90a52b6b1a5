"""Files and folders of this machine: reading, safe writing, journals, recovery."""
