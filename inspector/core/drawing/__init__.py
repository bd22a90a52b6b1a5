"""What bytes look like: their classes, colours, sizes, the diagram. No Qt: the terminal draws with them too."""
