"""The members of what is open: numbered across its archives, filtered and sorted, as a table and as a tree."""
