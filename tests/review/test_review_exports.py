import json

import numpy as np
import pandas as pd
import pytest
from review_toys import SCRIPT, make_items

from proponent.review import Decision
from proponent.review._downloads import make_download
from proponent.review._exports import EXPORTS, image_folder
from proponent.review._table import column_name, rank_scores, review_table

ITEMS = make_items(4)
IDS = ITEMS.ids.tolist()
VERDICTS = {
    IDS[0]: Decision(1, IDS[0], "keep"),
    IDS[1]: Decision(2, IDS[1], "discard"),
    IDS[2]: Decision(3, IDS[2], "unsure"),
    "elsewhere": Decision(4, "elsewhere", "discard"),
}
SUFFIXES = {"parquet": "t.parquet", "csv": "t.csv", "labelstudio": "t.json", "folder": "pictures"}


def test_the_table_has_the_columns_of_cleanlab():
    table = review_table(ITEMS, VERDICTS)
    assert table["id"].tolist() == IDS
    assert table["verdict"].tolist() == ["keep", "discard", "unsure", ""]
    assert table["keep"].tolist() == [True, False, True, True]
    assert table["is_review_issue"].tolist() == [False, True, False, False]
    # Of four samples that rise, each has a quarter of the ranks; what a person said goes before.
    assert table["rising_score"].tolist() == [0.875, 0.625, 0.375, 0.125]
    assert table["review_score"].tolist() == [1.0, 0.0, 0.375, 0.125]
    assert table["rising"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert table.filter(like="_score").apply(lambda column: column.between(0, 1)).all(axis=None)
    assert table["is_review_issue"].dtype == bool


def test_scores_do_not_see_monotone_changes():
    ranking = np.random.default_rng(0).normal(size=50)
    np.testing.assert_array_equal(rank_scores(ranking), rank_scores(np.exp(3 * ranking)))
    assert rank_scores(np.array([np.inf, 0.0, -np.inf])).tolist() == pytest.approx([1 / 6, 1 / 2, 5 / 6])


def test_names_of_columns_are_never_taken_twice():
    rankings = {
        "Loss": np.arange(4.0),
        "loss!": np.arange(4.0),
        "review": np.arange(4.0),
        "?": np.arange(4.0),
    }
    table = review_table(make_items(4, rankings=rankings, default="Loss"), {})
    assert list(table.columns)[6:] == [
        *("loss_score", "loss", "loss_2_score", "loss_2"),
        *("review_2_score", "review_2", "ranking_score", "ranking"),
    ]
    assert column_name("keep", {"keep": 0, "keep_2": 0}) == "keep_3"


def test_parquet_and_csv_say_the_same(tmp_path):
    for name in ("parquet", "csv"):
        EXPORTS[name](ITEMS, VERDICTS, tmp_path / SUFFIXES[name])
    table = pd.read_csv(tmp_path / "t.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), table)


def test_label_studio_gets_pictures_and_annotations(tmp_path):
    EXPORTS["labelstudio"](ITEMS, VERDICTS, tmp_path / "t.json")
    tasks = json.loads((tmp_path / "t.json").read_text())
    assert [task["data"]["id"] for task in tasks] == IDS
    assert all(task["data"]["image"].startswith("data:image/png;base64,iVBOR") for task in tasks)
    assert tasks[1]["annotations"] == [
        {
            "result": [
                {
                    "from_name": "verdict",
                    "to_name": "image",
                    "type": "choices",
                    "value": {"choices": ["discard"]},
                }
            ]
        }
    ]
    assert "annotations" not in tasks[3]


def test_label_studio_gets_the_columns_of_rows(tmp_path):
    EXPORTS["labelstudio"](make_items(2, kind="rows"), {}, tmp_path / "t.json")
    tasks = json.loads((tmp_path / "t.json").read_text())
    assert tasks[1]["data"]["text"] == "size: 1.0\nname: photos/001.png"


def test_an_image_folder_holds_what_stays(tmp_path):
    EXPORTS["folder"](ITEMS, VERDICTS, tmp_path / "new" / "pictures")
    folder = tmp_path / "new" / "pictures"
    lines = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [IDS[0], IDS[2], IDS[3]]
    assert [line["verdict"] for line in lines] == ["keep", "unsure", ""]
    for line in lines:
        assert (folder / line["file_name"]).read_bytes().startswith(b"\x89PNG")
    assert len(list((folder / "images").iterdir())) == 3
    assert list(folder.parent.iterdir()) == [folder]


def test_hugging_face_reads_the_folder(tmp_path):
    datasets = pytest.importorskip("datasets")
    EXPORTS["folder"](ITEMS, VERDICTS, tmp_path / "pictures")
    data = datasets.load_dataset("imagefolder", data_dir=str(tmp_path / "pictures"))["train"]
    assert data["id"] == [IDS[0], IDS[2], IDS[3]]


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "pictures").mkdir()
    EXPORTS["folder"](ITEMS, {}, tmp_path / "pictures")
    assert (tmp_path / "pictures" / "metadata.jsonl").exists()


def test_a_name_leads_nowhere(tmp_path):
    hostile = ["../../evil.png", "/etc/passwd", SCRIPT, "a\nb"]
    EXPORTS["folder"](make_items(4, ids=hostile), {}, tmp_path / "a" / "b")
    files = sorted(path.relative_to(tmp_path / "a" / "b").as_posix() for path in tmp_path.rglob("*.*"))
    assert files == [*(f"images/{i:08d}.png" for i in range(4)), "metadata.jsonl"]
    lines = (tmp_path / "a" / "b" / "metadata.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == hostile


@pytest.mark.parametrize("name", EXPORTS)
def test_nothing_that_is_there_is_touched(tmp_path, name):
    place = tmp_path / SUFFIXES[name]
    if name == "folder":
        place.mkdir()
        (place / "mine.png").write_text("mine")
    else:
        place.write_text("mine")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(
        ValueError, match=r"is there already, and nothing of yours is overwritten\. Name another"
    ):
        EXPORTS[name](ITEMS, VERDICTS, place)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_link_to_nowhere_is_not_followed(tmp_path):
    (tmp_path / "t.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="is there already"):
        EXPORTS["csv"](ITEMS, VERDICTS, tmp_path / "t.csv")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("was_there", [False, True])
def test_an_image_folder_that_fails_leaves_what_was(tmp_path, was_there):
    if was_there:
        (tmp_path / "pictures").mkdir()

    def full(i):
        if i == 2:
            raise OSError("gone")
        return ITEMS.full(i)

    with pytest.raises(OSError, match="gone"):
        EXPORTS["folder"](make_items(4, full=full), {}, tmp_path / "pictures")
    assert list(tmp_path.iterdir()) == [tmp_path / "pictures"] * was_there


@pytest.mark.parametrize("kind", ["rows", "arrays"])
def test_only_images_make_an_image_folder(kind, tmp_path):
    with pytest.raises(ValueError, match=f"must be made of images, but these samples are {kind}"):
        image_folder(make_items(4, kind=kind), {})


def test_a_download_is_forgotten(tmp_path):
    made = make_download("csv", ITEMS, VERDICTS)
    assert made.path.exists()
    made.forget()
    assert not made.path.parent.exists()
