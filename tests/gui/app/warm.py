"""Imported in the process that workers are forked from: what the first S3 client of a process reads, it has read."""

from __future__ import annotations

import os

from inspector.sources.s3.client import boto_client
from inspector.sources.s3.connection import Connection

# Workers are given the environment of the window; what this machine knows of S3 must not keep this from working.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(AWS_CONFIG_FILE="/nowhere", AWS_SHARED_CREDENTIALS_FILE="/nowhere", AWS_EC2_METADATA_DISABLED="true")
boto_client(Connection(endpoint="http://127.0.0.1", region="us-east-1", anonymous=True), 1).close()
