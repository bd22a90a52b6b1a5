"""A tab that lists what lies on S3."""
