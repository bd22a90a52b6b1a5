"""The window's texts for the hints in messages: its actions and fields. Workers import it: keep it light."""

from __future__ import annotations

from inspector.core.hints import Hint, HintTexts

HINT_TEXTS: HintTexts = {
    Hint.PROFILE: "File > Open Location",
    Hint.REGION: "File > Open Location",
    Hint.ENDPOINT: "File > Open Location",
    Hint.UNSIGNED: "Do not sign requests, in File > Open Location",
    Hint.AGAIN: "File > Reload",
    Hint.OVERWRITE: "Replace existing files",
    Hint.WHOLE: "Send All of It",
    Hint.REMOVE_UNFINISHED: "Remove unfinished files of killed runs",
    Hint.FIRST_KEY: "Number the files in order",
}
