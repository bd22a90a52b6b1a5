"""How far two pictures are from each other: what moved, came or went counts, smooth edges of letters do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

BLOCK = 4
"""Pixels: the side of the squares whose average colours are compared."""
NEAR = 24
"""Of 255: how far the average colour of a square may be from what it was, in any channel."""
FEW = 12
"""How many squares may be farther than that; an icon of 16 pixels covers 16."""
STEP = 17
"""Of 255: between two steps of a colour that is kept."""

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.int16]]


def pixels(image: QImage) -> Pixels:
    """Height x width x 3 colours."""
    plain = image.convertToFormat(QImage.Format.Format_RGBX8888)
    shape = (plain.height(), plain.width(), 4)
    return np.frombuffer(plain.constBits(), np.uint8).reshape(shape)[:, :, :3].astype(np.int16)


def keep(drawn: Path, kept: Path) -> None:
    """Keep a picture in sixteen steps of each colour, which halves its size and is near enough."""
    steps = (pixels(QImage(str(drawn))) + STEP // 2) // STEP * STEP
    assert _image(steps.astype(np.uint8)).save(str(kept), "PNG", 0)


def far(one: Pixels, other: Pixels) -> np.ndarray:
    """Which squares of two pictures of the same size differ: rows x columns."""
    return np.abs(_blocks(one) - _blocks(other)).max(axis=2) > NEAR


def _blocks(picture: Pixels) -> np.ndarray:
    height, width = (side - side % BLOCK for side in picture.shape[:2])
    squares = picture[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3)
    return squares.mean(axis=(1, 3))


def marked(picture: Pixels, squares: np.ndarray) -> QImage:
    """A picture, pale, with the squares that differ in red."""
    shown = (picture // 3 + 168).astype(np.uint8)
    mask = squares.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
    shown[: mask.shape[0], : mask.shape[1]][mask] = (220, 0, 0)
    return _image(shown)


def _image(colours: np.ndarray) -> QImage:
    height, width = colours.shape[:2]
    return QImage(colours.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def difference(kept: Path, drawn: Path, marks: Path) -> str:
    """What is to be said of two pictures that should be the same, empty where they are; ``marks`` is a third one."""
    old, new = QImage(str(kept)), QImage(str(drawn))
    if old.isNull():
        return f"{kept} is not there; pytest --pictures makes it of {drawn}."
    if old.size() != new.size():
        return f"{drawn} has {new.width()} x {new.height()} pixels, {kept} {old.width()} x {old.height()}."
    before, now = pixels(old), pixels(new)
    squares = far(before, now)
    if squares.sum() <= FEW:
        return ""
    marked(now, squares).save(str(marks), "PNG")
    where = f"{squares.sum():,} squares of {BLOCK} x {BLOCK} pixels are not, red in {marks}"
    return f"{drawn} is not like {kept}: {where}. Where that is meant, pytest --pictures keeps what is drawn now."
