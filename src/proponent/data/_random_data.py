"""The warning of data that are others each time they are read."""


class RandomDataWarning(UserWarning):
    """Two readings of an item gave different ones."""
