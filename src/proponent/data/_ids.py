"""Sample ids: the source's own keys, else content hashes, made unique."""

import unicodedata
from collections.abc import Sequence

_HASH_DIGITS = 16


def make_ids(keys: Sequence[str], hashes: Sequence[str]) -> list[str]:
    """Name every sample: by its key, or by its content where it has none; a repeated name gets a number.

    >>> make_ids(["a", "", "a"], ["00", "11", "22"])
    ['a', 'sha256:11', 'a-2']

    Args:
        keys: What the source calls them, empty where it doesn't.
        hashes: Their contents' hashes.
    """
    names = [key or f"sha256:{content[:_HASH_DIGITS]}" for key, content in zip(keys, hashes, strict=True)]
    if len(set(names)) == len(names):
        return names
    own, taken = set(names), set[str]()
    repeats: dict[str, int] = {}
    unique = []
    for wanted in names:
        name = wanted
        while name in taken or (name != wanted and name in own):
            repeats[wanted] = repeats.get(wanted, 1) + 1
            name = f"{wanted}-{repeats[wanted]}"
        taken.add(name)
        unique.append(name)
    return unique


def storable(name: str) -> str:
    r"""Write a file's name so that it can be stored as text: bytes that are no UTF-8 as ``\xff``.

    >>> storable("a\udcff.png")
    'a\\xff.png'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def printable(name: str) -> str:
    r"""Write a name for a person: control characters, and those that turn the writing around, as escapes.

    >>> printable("a\nb\u202egpj.exe")
    'a\\nb\\u202egpj.exe'
    """
    if name.isprintable():
        return name
    return "".join(
        letter
        if unicodedata.category(letter)[0] != "C"
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in name
    )
