"""Numbers as people read them."""


def signed(value: float) -> str:
    """Write a score with its sign and three significant digits.

    >>> signed(0.01234), signed(-12.0), signed(0.0), signed(123456.0)
    ('+0.0123', '−12.0', '0', '+1.23e5')
    """
    return ("+" if value > 0 else "") + plain(value)


def plain(value: float) -> str:
    """Write a number with three significant digits.

    >>> plain(0.5), plain(-1234.5), plain(0.00001), plain(99.96)
    ('0.500', '−1234', '1.00e-5', '100')
    """
    if value == 0:
        return "0"
    size = float(f"{abs(value):.2e}")  # rounded first, since rounding may add a digit
    if size >= 1e5 or size < 1e-3:
        mantissa, exponent = f"{abs(value):.2e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        digits = len(str(int(size))) if size >= 1 else 1 - _leading_zeros(size)
        text = f"{abs(value):.{max(3 - digits, 0)}f}"
    return ("−" if value < 0 else "") + text


def count(value: float) -> str:
    """Write a count, with a decimal only where ties made it a fraction.

    >>> count(12.0), count(12.5)
    ('12', '12.5')
    """
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _leading_zeros(size: float) -> int:
    """Zeros before the first digit of a number under 1, the one before the point included."""
    zeros = 1
    while size < 0.1:
        size, zeros = size * 10, zeros + 1
    return zeros
