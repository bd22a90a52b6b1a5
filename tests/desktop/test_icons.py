"""The pictures for desktops are the program's drawing; ``pytest tests/desktop/test_icons.py --golden`` draws them anew.

They are kept, because whoever installs a program for a user need not have the window's libraries.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from inspector.gui.kit.icons import coloured
from inspector.resources import DESKTOP_ID, resource

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
PICTURES = resource("desktop", "share", "icons", "hicolor")
NEAR = 4
"""Of 255: how far a colour may be from what another version of the library draws, on the average."""


def place(size: int) -> Path:
    return PICTURES / f"{size}x{size}" / "apps" / f"{DESKTOP_ID}.png"


def pixels(image: QImage) -> np.ndarray:
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888_Premultiplied)
    return np.frombuffer(plain.constBits(), np.uint8).astype(int)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("qtbot")
def test_a_picture_is_the_drawing(size: int, request: pytest.FixtureRequest) -> None:
    drawn = coloured("archive-inspector", "#1d2733", (size,)).pixmap(size, size).toImage()
    if request.config.getoption("--golden"):
        place(size).parent.mkdir(parents=True, exist_ok=True)
        assert drawn.save(str(place(size)), "PNG")
    kept = QImage(str(place(size)))

    assert (kept.width(), kept.height()) == (size, size)
    assert np.abs(pixels(kept) - pixels(drawn)).mean() < NEAR


def test_there_are_no_other_pictures() -> None:
    assert sorted(PICTURES.rglob("*.png")) == sorted(map(place, SIZES))
