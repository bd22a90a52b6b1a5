"""What bytes look like whatever their format says: entropy and classes, runs of zeros, repeats."""
