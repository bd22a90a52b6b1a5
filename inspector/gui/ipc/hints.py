"""How the window calls what sentences point to: its actions, and the names of its fields. Light: workers load it."""

from __future__ import annotations

from inspector.core.hints import Way, Words

WORDS: Words = {
    Way.PROFILE: "File > Open Location",
    Way.REGION: "File > Open Location",
    Way.ENDPOINT: "File > Open Location",
    Way.UNSIGNED: "Do not sign requests, in File > Open Location",
    Way.AGAIN: "File > Reload",
    Way.OVERWRITE: "Replace existing files",
    Way.WHOLE: "Send All of It",
    Way.REMOVE_UNFINISHED: "Remove unfinished files of killed runs",
    Way.FIRST_KEY: "Number the files in order",
}
