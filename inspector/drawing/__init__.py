"""What bytes look like: their classes, colours, the diagram. No Qt: the terminal draws with them too."""
