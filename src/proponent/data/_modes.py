"""Colour modes: any picture becomes grey or red, green and blue in 8 bits, on white."""

import numpy as np
from PIL import Image

from proponent.data._left_aside import UnusableError


def to_eight_bits(image: Image.Image) -> Image.Image:
    """Bring a picture to one of the modes L, LA, RGB and RGBA.

    16-bit grey keeps its upper 8 bits. Grey of 32 bits or floats is taken as it is where it lies within 8
    bits, floats within 0 and 1, or 16 bits; else it is stretched from its smallest to its largest value.

    Args:
        image: A decoded picture.

    Raises:
        UnusableError: Its floats aren't finite.
    """
    if image.mode in ("L", "LA", "RGB", "RGBA"):
        if "transparency" in image.info and image.mode in ("L", "RGB"):
            return image.convert("LA" if image.mode == "L" else "RGBA")
        return image
    if image.mode == "1":
        return image.convert("L")
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode in ("PA", "RGBa"):
        return image.convert("RGBA")
    if image.mode == "La":
        return image.convert("LA")
    if image.mode[0] in "IF":
        return _stretched(image)
    return image.convert("RGB")


def on_white(image: Image.Image) -> Image.Image:
    """Lay what is transparent on white."""
    if image.mode not in ("LA", "RGBA"):
        return image
    mode = image.mode[:-1]
    ground = Image.new(mode, image.size, "white")
    ground.paste(image.convert(mode), mask=image.getchannel("A"))
    return ground


def _stretched(image: Image.Image) -> Image.Image:
    grey = np.asarray(image)
    if not np.isfinite(grey).all():
        raise UnusableError("its numbers are not all finite")
    low, high = float(grey.min()), float(grey.max())
    if image.mode.startswith("I;16") or (image.mode == "I" and low >= 0 and 255 < high < 65536):
        scaled = grey.astype(np.uint16) >> 8
    elif image.mode == "F" and low >= 0 and high <= 1:
        scaled = np.rint(grey * 255)
    elif low >= 0 and high <= 255:
        scaled = np.rint(grey)
    else:
        scaled = np.rint((grey.astype(np.float64) - low) * (255 / (high - low or 1)))
    return Image.fromarray(scaled.astype(np.uint8))
