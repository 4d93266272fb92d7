"""Decoding a picture that nobody vouches for: nothing is executed, and nothing outgrows the memory."""

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

from PIL import ExifTags, Image, UnidentifiedImageError

from proponent.data._left_aside import UnusableError

# None that runs a program (EPS), is a document, or has no mark of its own (TGA), so that noise passes for it.
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "DIB", "WEBP", "TIFF", "PPM", "JPEG2000", "AVIF")
_LARGEST_FILE = 512 << 20
# Of pictures with more pixels only one is decoded at a time, for the sake of memory.
_LARGE = 1 << 24
_ONE_LARGE = threading.Lock()
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


@contextmanager
def quiet_decoding() -> Iterator[None]:
    """Keep the decoder's remarks on damaged files from being printed; what matters becomes a reason.

    Filters of warnings belong to the whole process, so this goes round the work of many threads.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def check_file_size(size: int) -> None:
    """Refuse a file that is empty, or too large for a picture.

    Raises:
        UnusableError: It is.
    """
    if size == 0:
        raise UnusableError("an empty file")
    if size > _LARGEST_FILE:
        raise UnusableError(f"a file of {size / 2**20:,.0f} MiB; pictures may have {_LARGEST_FILE >> 20}")


def opened(content: bytes) -> Image.Image:
    """Read a picture's head.

    Args:
        content: The encoded picture.

    Raises:
        UnusableError: It is no picture of a known format, or has too many pixels to be decoded.
    """
    check_file_size(len(content))
    try:
        image = Image.open(io.BytesIO(content), formats=_known_formats())
    except UnidentifiedImageError as error:
        raise UnusableError(
            f"not a picture that can be read; it begins with {_beginning(content)}"
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnusableError(f"too many pixels: {error}") from error
    except Exception as error:  # decoders raise nearly anything at what they don't expect
        raise UnusableError(_in_words(error)) from error
    check_pixels(image)
    return image


def check_pixels(image: Image.Image) -> None:
    """Refuse a picture with more pixels than `PIL.Image.MAX_IMAGE_PIXELS`.

    Raises:
        UnusableError: It has more.
    """
    width, height = image.size
    if width < 1 or height < 1:
        raise UnusableError(f"no pixels: {width} x {height}")
    most = Image.MAX_IMAGE_PIXELS
    if most is not None and width * height > most:
        raise UnusableError(f"too many pixels: {width} x {height}, over the limit of {most:,}")


def loaded(image: Image.Image) -> Image.Image:
    """Decode a picture whose head was read.

    Raises:
        UnusableError: It is damaged, or was cut short.
    """
    width, height = image.size
    try:
        with _ONE_LARGE if width * height > _LARGE else nullcontext():
            image.load()
    except Exception as error:
        raise UnusableError(_in_words(error)) from error
    return image


def turn(image: Image.Image) -> Image.Transpose | None:
    """How a decoded picture has to be turned to stand upright, as its camera wrote down."""
    try:
        return _UPRIGHT.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:  # damaged notes of a camera don't make a picture unreadable
        return None


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Height and width of a picture whose head was read, when it stands upright."""
    turned = turn(image)
    width, height = image.size
    sideways = (
        turned is not None and turned >= Image.Transpose.ROTATE_90 and (turned != Image.Transpose.ROTATE_180)
    )
    return (width, height) if sideways and image.format != "TIFF" else (height, width)


def has_frames(image: Image.Image) -> bool:
    """Whether a file holds more than one picture."""
    return bool(getattr(image, "is_animated", False))


@cache
def _known_formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def _beginning(content: bytes) -> str:
    return repr(content[:16])[1:]


def _in_words(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return f"can't be decoded: {text}"
