"""A review in the formats of other tools; each goes to a new place, and no file that is there is touched."""

import base64
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from proponent.review._decisions import Decision
from proponent.review._items import Encoded, ReviewItems
from proponent.review._table import rank_scores, review_table, verdict_columns
from proponent.storage import whole_file

Verdicts = Mapping[str, Decision]

_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "image/svg+xml": ".svg",
}


def write_parquet(items: ReviewItems, verdicts: Verdicts, path: Path) -> None:
    """Write the table of `review_table` as Parquet.

    Raises:
        ValueError: There is such a file already.
    """
    from proponent.scores import write_table

    check_free(path)
    write_table(path, review_table(items, verdicts), {"kind": "review", "title": items.title})


def write_csv(items: ReviewItems, verdicts: Verdicts, path: Path) -> None:
    """Write the table of `review_table` as CSV; ids stand as they are, so read them as text.

    Raises:
        ValueError: There is such a file already.
    """
    check_free(path)
    with whole_file(path) as temporary:
        review_table(items, verdicts).to_csv(temporary, index=False)


def write_label_studio(items: ReviewItems, verdicts: Verdicts, path: Path) -> None:
    """Write tasks that Label Studio imports; what was decided comes as annotations.

    Each task has a small picture inside it, so nothing has to be served; that of a row has its columns as
    ``text``, too. The labelling interface is::

        <View>
          <Image name="image" value="$image"/>
          <Choices name="verdict" toName="image">
            <Choice value="keep"/><Choice value="discard"/><Choice value="unsure"/>
          </Choices>
        </View>

    Raises:
        ValueError: There is such a file already.
    """
    check_free(path)
    scores = rank_scores(items.rankings[items.default]).tolist()
    with whole_file(path) as temporary, temporary.open("w", encoding="ascii") as file:
        for i, id_ in enumerate(items.ids.tolist()):
            data = {
                "image": _data_uri(items.thumbnail(i)),
                "id": str(id_),
                "caption": str(items.captions[i]),
                "review_score": scores[i],
            }
            if items.kind == "rows":
                data["text"] = "\n".join(f"{name}: {value}" for name, value in items.details(i).items())
            task: dict[str, Any] = {"data": data}
            if id_ in verdicts:
                chosen = {"choices": [verdicts[id_].verdict]}
                result = {"from_name": "verdict", "to_name": "image", "type": "choices", "value": chosen}
                task["annotations"] = [{"result": [result]}]
            file.write(("[\n" if i == 0 else ",\n") + json.dumps(task))
        file.write("\n]\n")


def write_image_folder(items: ReviewItems, verdicts: Verdicts, folder: Path) -> None:
    """Write the pictures that stay, with `metadata.jsonl`, as Hugging Face's `imagefolder` reads them.

    Raises:
        ValueError: The samples are no images, or something is there already.
    """
    files = image_folder(items, verdicts)
    folder = Path(folder)
    is_empty = folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())
    if not is_empty:
        check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        whole = Path(temporary) / "whole"
        for name, content in files:
            (whole / name).parent.mkdir(parents=True, exist_ok=True)
            (whole / name).write_bytes(content)
        if is_empty:
            folder.rmdir()
        whole.rename(folder)


def image_folder(items: ReviewItems, verdicts: Verdicts) -> Iterator[tuple[str, bytes]]:
    """The files of an image folder: every picture that was not discarded, then `metadata.jsonl`.

    A picture is named after its position, whatever its id is.

    Raises:
        ValueError: The samples are no images.
    """
    if items.kind != "images":
        raise ValueError(
            f"An image folder must be made of images, but these samples are {items.kind}. "
            "Use `parquet` or `csv`."
        )
    return _image_files(items, verdicts)


def _image_files(items: ReviewItems, verdicts: Verdicts) -> Iterator[tuple[str, bytes]]:
    columns = verdict_columns(items.ids, verdicts)
    scores = rank_scores(items.rankings[items.default]).tolist()
    lines = []
    for i, (id_, verdict, keep) in enumerate(zip(*columns.values(), strict=True)):
        if keep:
            content, media_type = items.full(i)
            name = f"images/{i:08d}{_SUFFIXES[media_type]}"
            lines.append({"file_name": name, "id": id_, "verdict": verdict, "review_score": scores[i]})
            yield name, content
    yield "metadata.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode("ascii")


def check_free(path: Path) -> None:
    """Refuse a place where something is.

    Raises:
        ValueError: Something is there.
    """
    if path.exists() or path.is_symlink():
        raise ValueError(
            f"`{path}` is there already, and nothing of yours is overwritten. Name another place."
        )


def _data_uri(picture: Encoded) -> str:
    content, media_type = picture
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


EXPORTS: Mapping[str, Callable[[ReviewItems, Verdicts, Path], None]] = {
    "parquet": write_parquet,
    "csv": write_csv,
    "labelstudio": write_label_studio,
    "folder": write_image_folder,
}
