"""The tab that audits a folder or a prefix."""
