"""What would happen: an experiment over an overlay, and writes replayed one by one; no file is written."""
