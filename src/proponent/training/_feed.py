"""What the steps are fed with: the members' streams side by side, as positions in the data."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from proponent.training._stream import Stream


class Feed:
    """The positions and the noise of steps in a row.

    Args:
        streams: One for each member; their batches and noise are of one shape.
        subsets: For each member, which samples of the data are its own, or none where all are.
        stacked: Whether there is an axis of members.
    """

    def __init__(self, streams: Sequence[Stream], subsets: Sequence[Tensor | None], stacked: bool) -> None:
        self.streams, self.subsets, self.stacked = streams, subsets, stacked
        self.length = streams[0].block_length
        self._number = -1
        self._block: tuple[Tensor, Tensor | None]

    def steps(self, first: int, end: int) -> Iterator[tuple[int, Tensor, Tensor | None]]:
        """The steps from `first` to before `end`, in pieces that lie within one block of the streams.

        Yields:
            The first step of a piece of k steps, positions ``[k, n]`` or ``[k, members, n]``, and noise
            ``[k, ...]`` or ``[k, members, ...]``.
        """
        while first < end:
            number, row = divmod(first, self.length)
            positions, noise = self._drawn(number)
            rows = slice(row, row + min(end - first, self.length - row))
            yield first, positions[rows], None if noise is None else noise[rows]
            first += rows.stop - row

    def _drawn(self, number: int) -> tuple[Tensor, Tensor | None]:
        if number != self._number:
            self._number, self._block = number, self._draw(number)
        return self._block

    def _draw(self, number: int) -> tuple[Tensor, Tensor | None]:
        blocks = [stream.block(number) for stream in self.streams]
        positions = [
            chosen if subset is None else subset[chosen]
            for (chosen, _), subset in zip(blocks, self.subsets, strict=True)
        ]
        noises = [noise for _, noise in blocks if noise is not None]
        if not self.stacked:
            return positions[0], noises[0] if noises else None
        return torch.stack(positions, 1), torch.stack(noises, 1) if noises else None
