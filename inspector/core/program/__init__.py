"""What every running program needs: progress, ordered parallel maps, hints, logs and crash reports."""
