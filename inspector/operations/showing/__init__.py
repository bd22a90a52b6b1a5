"""What a face is shown of open archives, by pages of plain values."""
