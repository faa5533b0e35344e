"""Tables read in batches are the tables read at once; a sample on the disk trains to the same network."""

import datetime
import itertools
import json
from decimal import Decimal

import numpy as np
import polars
import pytest

from adanet_train.app import cli
from adanet_train.app.inputs import Asked, read_inputs
from adanet_train.data import datasets, fields, images, tables
from adanet_train.data.disk import Some, is_on_disk
from adanet_train.data.features import FeatureMap
from adanet_train.model import model_file
from tests.refusals import refused
from verify import cli as verify_cli

M = 300


@pytest.fixture
def by_batches(monkeypatch):
    """Batches of a few rows, whatever the size of the file."""
    monkeypatch.setattr(tables, "STREAMED", 0)
    monkeypatch.setattr(tables, "BATCH", 7)
    monkeypatch.setattr(tables, "BLOCK", 100)


@pytest.fixture
def frame():
    draw = np.random.default_rng(0)
    columns = {f"x{j}": draw.normal(size=M) for j in range(3)}
    columns["y"] = (columns["x0"] * columns["x1"] > 0).astype(np.int64)
    return polars.DataFrame(columns)


def words(frame):
    """With columns of words, categories, flags and hours, of numbers with empty cells, and of decimals."""
    draw = np.random.default_rng(1)
    colours = [["red", "blue", None][i] for i in draw.integers(0, 3, M)]
    gaps = [None if hidden else float(x) for x, hidden in zip(frame["x2"], draw.random(M) < 0.1, strict=True)]
    flags = draw.random(M) < 0.5
    days = [datetime.time(1 + i % 20) for i in range(M)]
    kinds = polars.Series("kind", [f"k{i % 3}" for i in range(M)], dtype=polars.Categorical)
    price = polars.Series("price", [None if i % 9 == 0 else Decimal(i) / 4 for i in range(M)])
    return frame.with_columns(
        polars.Series("colour", colours),
        polars.Series("x2", gaps),
        polars.Series("new", flags.tolist()),
        polars.Series("day", days),
        kinds,
        price,
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("change", [lambda frame: frame, words], ids=["numbers", "words"])
def test_batches_make_the_same_table(frame, change, kind, tmp_path, monkeypatch, request):
    path = tmp_path / f"t.{kind}"
    getattr(change(frame), f"write_{kind}")(path)
    whole = datasets.load(path)
    request.getfixturevalue("by_batches")
    data = datasets.load(path)
    assert is_on_disk(data.values)
    assert not is_on_disk(whole.values)
    assert data.names == whole.names
    assert np.array_equal(data.values, whole.values)
    assert np.array_equal(data.y, whole.y)


def test_quoted_cells_with_a_line_in_them(tmp_path, by_batches):
    rows = [f'{i},"{"red" if i % 2 else "blue, or so"}",{i % 2}' for i in range(40)]
    rows[20] = '20,"two\nlines",0'
    (tmp_path / "t.csv").write_text("\n".join(["a,colour,y", *rows]) + "\n")
    data = datasets.load(tmp_path / "t.csv")
    assert data.names == ("a", "colour=blue, or so", "colour=red", "colour=two\nlines")
    assert data.values[20].tolist() == [20, 0, 0, 1]
    assert data.values.sum(0).tolist() == [780, 19, 20, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\n1,0\n2\n3,1\n", "row 3 has 1 cells, expected 2 as in the header"),
        ("a,b\n1,0\n", "no column 'y' for the labels"),
        ("a,y\n1,0\nx,1\n", "row 3, column 'a' must be a number, got 'x'"),
        ("a,y\n1,0\n2,\n", "row 3 has no label in column 'y'"),
        ("a,y\n", "expected a header and at least one row"),
        ('a,y\n"1",0\n"2"\n', "row 3 has 1 cells"),
    ],
)
def test_what_is_no_table_is_refused(text, message, tmp_path, by_batches):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        datasets.load(tmp_path / "t.csv")


def in_parts(frame, folder):
    """Twelve parts of unequal length: part-9 comes before part-10."""
    edges = [*range(0, 11 * 20, 20), 230, M]
    for i, (first, last) in enumerate(itertools.pairwise(edges)):
        part = frame[first:last]
        np.save(folder / f"part-{i}.npy", part.to_numpy())
        part.write_parquet(folder / f"part-{i}.parquet")
        part.select(reversed(part.columns) if i == 1 else part.columns).write_csv(folder / f"part-{i}.csv")


@pytest.mark.parametrize("streamed", [False, True])
def test_parts_are_one_table(frame, streamed, tmp_path, request):
    whole = words(frame)
    in_parts(frame, tmp_path)
    for i in range(12):
        (tmp_path / f"part-{i}.csv").rename(tmp_path / f"number-{i}.csv")
    for i, first in enumerate(range(0, M, 50)):
        whole[first : first + 50].write_csv(tmp_path / f"part-{i}.csv")
        whole[first : first + 50].write_parquet(tmp_path / f"word-{i}.parquet")
    if streamed:
        request.getfixturevalue("by_batches")
    for pattern, expected in (("number-*.csv", frame), ("part-*.npy", frame), ("part-*.parquet", frame)):
        data = datasets.load(tmp_path / pattern)
        assert np.array_equal(data.values, expected.drop("y").to_numpy())
        assert np.array_equal(data.y, 2.0 * expected["y"].to_numpy() - 1)
        assert is_on_disk(data.values) == (streamed or pattern.endswith("npy"))
    for pattern, kind in (("part-*.csv", "csv"), ("word-*.parquet", "parquet")):
        getattr(whole, f"write_{kind}")(tmp_path / f"t.{kind}")
        expected = datasets.load(tmp_path / f"t.{kind}")
        data = datasets.load(tmp_path / pattern)
        assert data.names == expected.names
        assert np.array_equal(data.values, expected.values)


def test_parts_of_images_with_labels_of_their_own(tmp_path):
    draw = np.random.default_rng(0)
    X, y = draw.random((7, 1, 2, 3)), np.array([0, 1, 2, 0, 1, 2, 2])
    for i, rows in enumerate((slice(0, 3), slice(3, 7))):
        np.save(tmp_path / f"X-{i}.npy", X[rows])
        np.save(tmp_path / f"y-{i}.npy", y[rows])
    data = images.load(str(tmp_path / "X-*.npy"), label=str(tmp_path / "y-*.npy"))
    assert is_on_disk(data.X)
    assert data.X.shape == (7, 1, 2, 3)
    assert np.array_equal(np.asarray(data.X), X)
    assert np.array_equal(data.X[np.array([6, 0, 3])], X[[6, 0, 3]])
    assert data.y.tolist() == y.tolist()


def test_parts_that_do_not_fit_together_are_refused(tmp_path):
    (tmp_path / "a-0.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "a-1.csv").write_text("z,y\n1,0\n")
    np.save(tmp_path / "a-0.npy", np.ones((2, 3)))
    np.save(tmp_path / "a-1.npy", np.ones((2, 4)))
    np.save(tmp_path / "l-0.npy", np.ones(4))
    for pattern, label, message in (
        ("a-*.csv", None, r"a-1\.csv: expected the columns of a-0\.csv, 'x' is in one of them only"),
        ("b-*.csv", None, r"b-\*\.csv: no file has such a name"),
        ("a-*.npy", None, r"a-1\.npy: expected rows of shape \(2,\) as in a-0\.npy, got \(3,\)"),
        ("a-*.npy", "l-*.npy", r"l-\*\.npy: expected as many files of labels as .*, 2, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            datasets.load(tmp_path / pattern, label=None if label is None else str(tmp_path / label))


def test_labels_of_npy(frame, tmp_path):
    X, y = frame.drop("y").to_numpy(), frame["y"].to_numpy()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "names.npy", np.where(y == 1, "yes", "no"))
    np.save(tmp_path / "last.npy", np.column_stack([X, y]))
    np.save(tmp_path / "inside.npy", np.column_stack([X[:, :1], y, X[:, 1:]]))
    beside = datasets.load(tmp_path / "X.npy", label=str(tmp_path / "y.npy"))
    named = datasets.load(tmp_path / "X.npy", label=str(tmp_path / "names.npy"))
    assert named.classes == ("no", "yes")
    assert np.array_equal(named.y, beside.y)
    for name, label in (("last", None), ("last", "3"), ("inside", "1")):
        data = datasets.load(tmp_path / f"{name}.npy", label=label)
        assert is_on_disk(data.values)
        assert np.array_equal(data.values, X)
        assert np.array_equal(data.y, beside.y)
    with pytest.raises(ValueError, match=r"--label .*0\.\.3.*\.npy.* 'y'"):
        datasets.load(tmp_path / "last.npy", label="y")
    (tmp_path / "bad.npy").write_bytes(b"no numbers")
    refused(lambda: datasets.load(tmp_path / "bad.npy"), "not a .npy file of numbers")
    np.save(tmp_path / "nan.npy", np.array([[1.0, 0.0], [np.nan, 1.0]]))
    refused(lambda: datasets.load(tmp_path / "nan.npy"), "X ", "finite", "nan", "row 1, column 0")


def test_points_kept_aside_stay_on_the_disk(frame, tmp_path):
    np.save(tmp_path / "t.npy", frame.to_numpy())
    data = read_inputs(str(tmp_path / "t.npy"), Asked(holdout=0.1))
    assert isinstance(data.points.values, Some)
    both = np.concatenate([data.points.whole().numpy(), data.holdout[0].whole().numpy()])
    whole = read_inputs(str(tmp_path / "t.npy"), Asked()).points
    low, high = data.features.low, data.features.high
    assert {tuple(row) for row in (both[:, :3] * (high - low) + low).round(9).tolist()} <= {
        tuple(row) for row in frame.drop("y").to_numpy().clip(low, high).round(9).tolist()
    }
    assert len(both) == len(whole) == M


def test_the_same_network_and_the_same_report(frame, tmp_path, capsys, monkeypatch):
    """From .npy, .npz and .parquet, in one file or in parts, on the disk or in memory, in the model file or not."""
    X, y = frame.drop("y").to_numpy(), frame["y"].to_numpy()
    np.savez(tmp_path / "t.npz", X=X, y=y)
    np.save(tmp_path / "t.npy", frame.to_numpy())
    frame.write_parquet(tmp_path / "t.parquet")
    in_parts(frame, tmp_path)
    options = ["--rounds", "2", "--width", "5", "--set", "members=2", "--set", "steps=40"]
    models = {}
    for kind, data in {"npz": "t", "npy": "t", "parts": "part-*", "parquet": "t"}.items():
        if kind == "parquet":
            monkeypatch.setattr(tables, "STREAMED", 0)
        monkeypatch.setattr(fields, "KEPT", 0 if kind != "npz" else fields.KEPT)
        suffix = "npy" if kind == "parts" else kind
        assert cli.main([str(tmp_path / f"{data}.{suffix}"), "-o", str(tmp_path / f"{kind}.pt"), *options]) == 0
        models[kind] = model_file.read(tmp_path / f"{kind}.pt")
    for kind in ("npy", "parts", "parquet"):
        assert models[kind].sample.Psi is None
        assert models[kind].sample.sha256 == models["npz"].sample.sha256
        assert all(bool((models["npz"].network.hidden[p] == U).all()) for p, U in models[kind].network.hidden.items())
    capsys.readouterr()
    reports = []
    for name, file in (
        ("npz", ""),
        ("npy", "t.npy"),
        ("npy", "t.parquet"),
        ("npy", "part-*.npy"),
        ("npz", "part-*.csv"),
    ):
        data = ["--data", file] if file else []
        given = [str(tmp_path / part) if "." in part else part for part in data]
        assert verify_cli.main([str(tmp_path / f"{name}.pt"), *given, "--json", "--no-estimates"]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    bounds = [[(row["id"], row["raw"]) for row in report["bounds"]] for report in reports]
    assert all(bounds[0] == other for other in bounds[1:])
    assert not any("is not the sample" in note for note in reports[1]["notes"])


def test_a_frame_without_rows_is_refused():
    features = FeatureMap.known(("a", "b=x"), 0, 1)
    table = polars.DataFrame({"a": [1.0], "b": ["x"]})
    assert len(datasets.table_points(table, features)) == 1
    refused(lambda: datasets.table_points(table[:0], features), "at least one row")
