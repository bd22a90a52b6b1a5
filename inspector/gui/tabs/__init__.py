"""Tabs that are not one archive: audits, buckets, checks of many, new archives."""
