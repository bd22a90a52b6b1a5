"""What bytes look like whatever their format says, and which structures they are in."""
