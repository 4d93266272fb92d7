import io
import shutil
from contextlib import closing

import numpy as np
import pytest
from PIL import Image

import proponent as pp
from proponent.review import Decisions, apply, items_of
from proponent.review._features import features_of, leading_components
from proponent.review._from_run import _is_ranked, encoded, ready_run
from proponent.runs._telling import bars, silent

RANDOM = np.random.default_rng(0)
SMALL = {"latent_dim": 3, "steps": 20, "checkpoints": 2, "batch_size": 8, "device": "cpu"}
N = 24


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run on a folder of pictures, ranked, with a repeated picture."""
    place = tmp_path_factory.mktemp("review-run")
    for i in range(N):
        picture = Image.fromarray(RANDOM.integers(0, 255, (70, 90, 3), dtype=np.uint8))
        (place / "photos" / f"{i % 3}").mkdir(parents=True, exist_ok=True)
        picture.save(place / "photos" / f"{i % 3}" / f"<b>{i:02d}.png")
    first = place / "photos" / "0" / "<b>00.png"
    shutil.copy(first, first.with_name("copy.png"))
    folder = pp.runs.train(place / "photos", place / "run", pp.runs.Settings(**SMALL), size=8)
    pp.runs.rank(folder, pairs=0, own=False, draws=2)
    return folder.path


@pytest.fixture
def run(made, tmp_path):
    """The same, to write into."""
    shutil.copytree(made, tmp_path / "run")
    return pp.runs.open_run(tmp_path / "run")


def opened(picture):
    return Image.open(io.BytesIO(picture[0]))


def test_items_are_those_of_the_run(run):
    items = items_of(run)
    assert items.ids.tolist() == run.data.ids.tolist()
    assert "0/<b>00.png" in items.ids
    assert (items.kind, items.title, items.default) == ("images", "run", "loss")
    assert {"loss", "reconstruction", "gradient norm"} <= set(items.rankings)
    assert set(items.features) == {"pixels", "latents", "residuals"}


def test_pictures_are_the_originals(run):
    items = items_of(run)
    assert opened(items.full(3)).size == (90, 70)
    assert max(opened(items.thumbnail(3)).size) <= 128
    copied = items.ids.tolist().index("0/copy.png")
    assert items.details(copied)["exact copies"] == 2
    assert "exact copies" not in items.details(1)


def test_pictures_that_changed_or_went_are_said_to_have(made, tmp_path):
    data = tmp_path / "photos"
    shutil.copytree(made.parent / "photos", data)
    run = pp.runs.open_run(made, data)
    items = items_of(run)
    changed, gone = 1, 2
    Image.new("RGB", (9, 9)).save(data / items.ids[changed])
    (data / items.ids[gone]).unlink()
    with pytest.raises(OSError, match="is another one than when the data were read"):
        items.full(changed)
    with pytest.raises(FileNotFoundError, match="can't be read any more"):
        items.full(gone)
    assert max(opened(items.thumbnail(gone)).size) == 8  # what the model saw


def test_features_are_kept(run, capsys):
    features = features_of(run)
    assert features["latents"].shape == (N + 1, 3)
    assert features["pixels"].shape[0] == features["residuals"].shape[0] == N + 1
    assert features["residuals"].shape[1] == 16
    kept = list((run.folder.path / "jobs").glob("features-*/tasks/features.npz"))
    assert len(kept) == 1
    stamp = kept[0].stat().st_mtime_ns
    again = features_of(run)
    assert kept[0].stat().st_mtime_ns == stamp
    for name, block in features.items():
        np.testing.assert_array_equal(again[name], block)


@pytest.mark.parametrize("likelihood", ["bernoulli", "squared-error", "gaussian", "gaussian-learned"])
def test_residuals_are_what_decoding_leaves(tmp_path, likelihood):
    import torch

    from proponent.review._features import _residuals

    np.save(tmp_path / "x.npy", RANDOM.random((12, 5), dtype=np.float32))
    settings = pp.runs.Settings(**SMALL | {"steps": 4}, likelihood=likelihood)
    run = pp.runs.open_run(pp.runs.train(tmp_path / "x.npy", tmp_path / "run", settings))
    codes = np.zeros((12, 3))
    with torch.no_grad():
        outputs = run.model.decode(torch.zeros(1, 3))[0].numpy()
    expected = {
        "bernoulli": 1 / (1 + np.exp(-outputs)),
        "squared-error": 1 / (1 + np.exp(-outputs)),
        "gaussian": outputs,
        "gaussian-learned": outputs[:5],
    }[likelihood]
    left = _residuals(run, codes, np.array([3, 7]))
    np.testing.assert_allclose(left, run.samples[[3, 7]] - expected, rtol=1e-5, atol=1e-6)


def test_components_are_those_of_all_samples():
    x = RANDOM.normal(size=(300, 8)) * np.arange(8, 0, -1)
    found = leading_components(lambda which: x[which], 300, 3)
    _, _, directions = np.linalg.svd(x - x.mean(0), full_matrices=False)
    expected = (x - x.mean(0)) @ directions[:3].T
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-4, atol=1e-4)


def test_components_of_what_is_the_same_are_none():
    assert leading_components(lambda which: np.ones((len(which), 4)), 20, 3).shape == (20, 0)


@pytest.mark.parametrize(
    ("mode", "size", "use", "kind"),
    [
        ("L", (8, 8), "small", "image/png"),
        ("RGB", (128, 96), "small", "image/jpeg"),
        ("RGB", (200, 200), "large", "image/png"),
        ("RGB", (600, 400), "large", "image/jpeg"),
        ("RGBA", (600, 400), "large", "image/jpeg"),
        ("P", (8, 8), "small", "image/png"),
    ],
)
def test_pictures_are_sent_as_suits_them(mode, size, use, kind):
    picture = encoded(Image.new(mode, size), use)
    assert picture[1] == kind
    assert opened(picture).size == size


def test_a_table_can_be_reviewed(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\n" + "".join(f"r{i},{i % 5},{i * i % 7}\n" for i in range(20)))
    folder = pp.runs.train(tmp_path / "t.csv", tmp_path / "run", pp.runs.Settings(**SMALL | {"steps": 4}))
    pp.runs.rank(folder, pairs=0, own=False, draws=2)
    items = items_of(pp.runs.open_run(folder))
    assert items.kind == "rows"
    assert items.ids[3] == "r3"
    assert items.details(3)["a"] == 3.0
    assert opened(items.thumbnail(3)).size[0] <= 128


def test_rankings_of_other_samples_are_refused(run):
    rankings = pp.evaluation.Rankings.load(run.folder.rankings)
    columns = {name: values[1:] for name, values in rankings.columns.items()}
    pp.evaluation.Rankings(rankings.ids[1:], columns, rankings.default).save(run.folder.rankings)
    with pytest.raises(ValueError, match=r"ranks other samples than the run has\. Rank them again"):
        items_of(run)


def test_a_run_without_rankings_is_refused(run):
    run.folder.rankings.unlink()
    with pytest.raises(FileNotFoundError, match="There are no scores"):
        items_of(run)


def test_a_run_that_is_ready_is_taken_as_it_is(run):
    before = run.folder.rankings.stat().st_mtime_ns
    ready = ready_run(run.folder.path, None, None, silent, bars)
    assert ready.folder.path == run.folder.path
    assert run.folder.rankings.stat().st_mtime_ns == before


def test_a_run_that_is_not_ranked_is(run):
    run.folder.rankings.unlink()
    told = []
    ready_run(run.folder.path, None, None, told.append, bars)
    assert told
    assert _is_ranked(run)


def test_rankings_count_if_they_are_of_this_training(run):
    assert _is_ranked(run)
    rankings = pp.evaluation.Rankings.load(run.folder.rankings)
    other = pp.evaluation.Rankings(rankings.ids, rankings.columns, "loss", {"trajectory": "other"})
    other.save(run.folder.rankings)
    assert not _is_ranked(run)
    run.folder.rankings.write_text("broken")
    assert not _is_ranked(run)
    run.folder.rankings.unlink()
    assert not _is_ranked(run)


def test_options_of_the_other_are_refused(run, made):
    with pytest.raises(ValueError, match=r"`--out` is for data, but .* is a run already"):
        ready_run(run.folder.path, run.folder.path, None, silent, bars)
    with pytest.raises(ValueError, match=r"`--data` is for a run, but .* is none"):
        ready_run(made.parent / "photos", None, made, silent, bars)


def test_apply_writes_what_stays(run, tmp_path):
    with closing(Decisions(run.folder.review)) as decisions:
        decisions.append("0/<b>00.png", "discard")
        decisions.append("not/there.png", "discard")
    counts = apply(run.folder.path, tmp_path / "clean.txt")
    assert counts == {"keep": 0, "discard": 1, "unsure": 0, "left": N}
    assert (tmp_path / "clean.txt").read_text("utf-8").split("\n")[:-1] == [
        id_ for id_ in run.data.ids if id_ != "0/<b>00.png"
    ]
    assert apply(run.folder, tmp_path / "clean.txt") == counts


def test_apply_needs_a_review(run, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Nobody has reviewed .* yet. Begin with `proponent review"):
        apply(run.folder.path, tmp_path / "clean.txt")
    assert not run.folder.review.exists()
