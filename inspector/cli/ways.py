"""How the terminal calls what sentences point to: its options."""

from __future__ import annotations

from inspector.core.ways import Way, Words

WORDS: Words = {
    Way.PROFILE: "--profile NAME",
    Way.REGION: "--region NAME",
    Way.ENDPOINT: "--endpoint-url URL",
    Way.UNSIGNED: "--no-sign-request",
    Way.AGAIN: "",
    Way.OVERWRITE: "--overwrite",
    Way.REMOVE_UNFINISHED: "--remove-unfinished",
    Way.WHOLE: "--whole",
    Way.FIRST_KEY: "--first-key N",
}
