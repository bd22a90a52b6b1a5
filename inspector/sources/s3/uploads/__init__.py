"""What is written to S3: changed and new objects, whole or not at all, and notes on what was begun."""
