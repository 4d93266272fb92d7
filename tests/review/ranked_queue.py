"""One ranking with a random control arm, ordered at once: what a queue that does not learn gives."""

import numpy as np

from proponent.review._decisions import standing
from proponent.review._entry import Entry


class RankedQueue:
    """At each place the next of the ranking, or, by chance, the next of a random order."""

    def __init__(self, ids, ranking, seed=0, control_share=0.1):
        self.ids = list(ids)
        random = np.random.default_rng([seed, len(self.ids)])
        by_chance = random.random(len(self.ids)) < control_share
        ranked, drawn = iter(np.argsort(-ranking, kind="stable")), iter(random.permutation(len(self.ids)))
        self.order, taken = [], set()
        for chance in by_chance:
            i = next(int(i) for i in (drawn if chance else ranked) if i not in taken)
            taken.add(i)
            self.order.append(Entry(i, "control" if chance else "queue"))

    def next(self, log, count, shown=()):
        stands = standing(log)
        left = [entry for entry in self.order if entry.i not in shown and self.ids[entry.i] not in stands]
        return left[:count]
