"""The hex view and its relatives: the map of the file, the legend and the data inspector."""
