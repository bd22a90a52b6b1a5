"""Files at ``http://`` and ``https://`` addresses, read by ranges as objects are: only the requests differ."""
