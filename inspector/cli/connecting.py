"""The options that say how S3 is reached. Keys are never among them: others can see what is typed."""

from __future__ import annotations

import argparse

from inspector.sources.s3.connection import Connection


def add_connecting(command: argparse.ArgumentParser) -> None:
    """Add the options to a sub-command that takes a location."""
    group = command.add_argument_group("for s3:// locations")
    group.add_argument("--profile", metavar="NAME", default="", help="the profile of the AWS configuration")
    group.add_argument("--region", metavar="NAME", default="", help="the region of the bucket")
    group.add_argument("--endpoint-url", metavar="URL", default="", help="a server that is not Amazon's")
    group.add_argument("--no-sign-request", action="store_true", help="anonymously, for what is public")
    group.add_argument(
        "--request-payer", choices=("requester",), help="accept to be charged for what another's bucket sends"
    )


def connection_of(options: argparse.Namespace) -> Connection:
    """How S3 is reached, as the options say."""
    return Connection(
        options.profile,
        options.region,
        options.endpoint_url,
        options.no_sign_request,
        bool(options.request_payer),
    )
