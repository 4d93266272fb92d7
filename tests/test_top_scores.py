import dataclasses

import numpy as np
import pytest

from proponent import Scores
from proponent.top_scores import TopScores, extremes_of, merged, ranking_of

RANDOM = np.random.default_rng(0)


def top_of(scores: Scores, k: int, size: int) -> TopScores:
    """Stream the scores in shards."""
    rankings = []
    for sign in (1, -1):
        kept = None
        for start in range(0, len(scores), size):
            new = extremes_of(sign * scores.values[start : start + size], start, k)
            kept = merged(kept, new, k) if kept else new
        rankings.append(ranking_of(kept, sign, scores.ids, scores.query_ids))
    return TopScores(*rankings, count=len(scores), method="TracIn")


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_streamed_rankings_are_those_of_all_scores_ties_included(size, k):
    values = RANDOM.integers(0, 6, (30, 70)).astype(float)
    scores = Scores(values, ids=RANDOM.permutation(30) + 100, query_ids=np.arange(70) * 2)
    top = top_of(scores, k, size)
    for name in ("proponents", "opponents"):
        whole, streamed = getattr(scores, name)(k), getattr(top, name)(k)
        np.testing.assert_array_equal(streamed.ids, whole.ids)
        np.testing.assert_array_equal(streamed.values, whole.values)
        np.testing.assert_array_equal(streamed.query_ids, scores.query_ids)
        np.testing.assert_array_equal(getattr(top, name)(1).ids, whole.ids[:, :1])


def test_it_says_what_it_is():
    top = top_of(Scores(RANDOM.normal(size=(9, 1))), 2, 4)
    assert repr(top) == (
        "TracIn scores, the 2 highest and lowest of 9 samples on 1 query in nats; "
        "positive: training on the sample lowered the query's loss"
    )
    assert "on 3 queries" in repr(top_of(Scores(RANDOM.normal(size=(9, 3))), 2, 4))


@pytest.mark.parametrize("k", [0, 3])
def test_more_than_was_kept(k):
    top = top_of(Scores(RANDOM.normal(size=(9, 2))), 2, 4)
    with pytest.raises(ValueError, match=f"`k` must be between 1 and the 2 samples that were kept, got {k}"):
        top.proponents(k)


def test_it_comes_back_from_a_file(tmp_path):
    ids = np.array([f"s{i}" for i in range(9)])
    scores = Scores(RANDOM.normal(size=(9, 3)), ids=ids, query_ids=np.array([7, 1, 4]))
    top = dataclasses.replace(top_of(scores, 2, 4), unit="squares", facts={"draws": 4}, meaning="it helps")
    frame = top.to_pandas()
    assert list(frame) == ["query", "rank", "id", "score", "side"]
    assert len(frame) == 2 * 3 * 2
    read = TopScores.load(top.save(tmp_path / "top.parquet"))
    for side in ("highest", "lowest"):
        for name in ("ids", "values", "query_ids"):
            np.testing.assert_array_equal(
                getattr(getattr(read, side), name), getattr(getattr(top, side), name)
            )
    assert (read.count, read.unit, read.method, read.facts) == (9, "squares", "TracIn", {"draws": 4})
    assert repr(read).endswith("in squares; it helps")


def test_files_that_hold_something_else(tmp_path):
    top = top_of(Scores(RANDOM.normal(size=(9, 2))), 2, 4)
    with pytest.raises(ValueError, match=r"go to a `.parquet` file, got `top.npy`"):
        top.save(tmp_path / "top.npy")
    with pytest.raises(FileNotFoundError, match="There are no scores at"):
        TopScores.load(tmp_path / "top.parquet")
    with pytest.raises(ValueError, match=r"holds all scores of its samples: read it by `Scores.load`"):
        TopScores.load(Scores(np.ones(3)).save(tmp_path / "all.parquet"))
    with pytest.raises(ValueError, match=r"holds the strongest scores alone: read it by `TopScores.load`"):
        Scores.load(top.save(tmp_path / "top.parquet"))
