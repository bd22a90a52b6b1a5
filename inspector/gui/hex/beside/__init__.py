"""What stands beside the hex view: the map of the file, the byte bands, the legend and the data inspector."""
