"""Objects and prefixes on S3, read by ranges. ``client`` alone loads boto3; import it when there is such a location."""
