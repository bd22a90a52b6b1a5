"""The digests that manifests name; one of them is chosen in the window and computed in a worker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A kind of digest: its name, how the tagged form spells it, and the suffixes of manifests, the usual one first.

    ``size`` is that of a digest in bytes, the largest one where it can be chosen (``chosen``).
    """

    name: str
    tag: str
    size: int
    suffixes: tuple[str, ...]
    chosen: bool = False

    def fits(self, size: int) -> bool:
        """Whether a digest may have so many bytes."""
        return 0 < size <= self.size if self.chosen else size == self.size


def _suffixes(*words: str) -> tuple[str, ...]:
    return tuple(f".{word}" for word in words)


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm("SHA-256", "SHA256", 32, _suffixes("sha256", "sha256sum")),
    Algorithm("SHA-512", "SHA512", 64, _suffixes("sha512", "sha512sum")),
    Algorithm("SHA-384", "SHA384", 48, _suffixes("sha384", "sha384sum")),
    Algorithm("SHA-224", "SHA224", 28, _suffixes("sha224", "sha224sum")),
    Algorithm("SHA-1", "SHA1", 20, _suffixes("sha1", "sha1sum")),
    Algorithm("MD5", "MD5", 16, _suffixes("md5", "md5sum")),
    Algorithm("BLAKE2b", "BLAKE2b", 64, _suffixes("b2", "b2sum", "blake2b"), chosen=True),
    Algorithm("BLAKE2s", "BLAKE2s", 32, _suffixes("blake2s"), chosen=True),
    Algorithm("XXH64", "XXH64", 8, _suffixes("xxh64", "xxhsum", "xxh", "xxh64sum")),
    Algorithm("XXH3", "XXH3", 8, _suffixes("xxh3", "xxh3sum")),
    Algorithm("XXH128", "XXH128", 16, _suffixes("xxh128", "xxh128sum")),
    Algorithm("XXH32", "XXH32", 4, _suffixes("xxh32", "xxh32sum")),
)
"""All algorithms that are known, the most usual one first."""
SUFFIXES: dict[str, Algorithm] = {suffix: known for known in ALGORITHMS for suffix in known.suffixes}
"""What is appended to the name of an archive to name its manifest."""
