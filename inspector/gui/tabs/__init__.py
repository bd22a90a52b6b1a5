"""Tabs that do not show an archive: audits, the S3 browser, checks of many archives, new archives."""
