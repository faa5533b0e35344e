"""Tables with words, flags and empty cells: encoded by names, and a later table by the names of the model."""

import numpy as np
import polars
import pytest

from adanet_train import cli
from adanet_train.data import datasets
from adanet_train.data.encoding import encode
from adanet_train.data.features import FeatureMap
from adanet_train.model import model_file

TRAIN = """age;colour;new;kind of thing
3;red;true;a
;blue;false;b
5;red;true;a
7;;false;b
"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "train.csv").write_text(TRAIN)
    return datasets.load(tmp_path / "train.csv", label="kind of thing")


def test_words_flags_and_empty_cells(table):
    assert table.names == ("age", "age=?", "colour=blue", "colour=red", "colour=?", "new")
    assert table.classes == ("a", "b")
    assert table.values.tolist() == [
        [3, 0, 0, 1, 0, 1],
        [3, 1, 1, 0, 0, 0],
        [5, 0, 0, 1, 0, 1],
        [7, 0, 0, 0, 1, 0],
    ]


def test_a_later_table_is_encoded_as_the_model_was(table, tmp_path):
    features = table.feature_map()
    (tmp_path / "later.csv").write_text("colour,new,age\ngreen,true,9\nred,false,\n")
    text = (tmp_path / "later.csv").read_text().splitlines()
    (tmp_path / "later.csv").write_text("\n".join([text[0] + ",y", text[1] + ",0", text[2] + ",1"]))
    later = datasets.load(tmp_path / "later.csv")
    Psi = later.Psi(features)
    # green is in no column, nothing is missing of row 1; the empty age is at training's least value, with its mark
    assert Psi[0].tolist() == [1, 0, 0, 0, 0, 1, 1]
    assert Psi[1].tolist() == [0, 1, 0, 1, 0, 0, 1]


def test_parquet_is_the_same_table(table, tmp_path):
    columns = {"age": [3, None, 5, 7], "colour": ["red", "blue", "red", None], "new": [True, False, True, False]}
    polars.DataFrame(columns | {"kind of thing": ["a", "b", "a", "b"]}).write_parquet(tmp_path / "t.parquet")
    found = datasets.load(tmp_path / "t.parquet", label="kind of thing")
    assert found.names == table.names
    assert np.array_equal(found.values, table.values)
    (tmp_path / "bad.parquet").write_bytes(b"no table")
    with pytest.raises(ValueError, match="not a Parquet file"):
        datasets.load(tmp_path / "bad.parquet")


def test_what_cannot_be_encoded_is_refused():
    with pytest.raises(ValueError, match="row 3, column 'a' must be a number, got 'x'"):
        encode(["a"], [["1"], ["x"]])
    with pytest.raises(ValueError, match="row 2, column 'a' must be a number, got ''"):
        encode(["a"], [[""], [""]])
    with pytest.raises(ValueError, match="holds more than 100 different words"):
        encode(["a"], [[f"w{i}"] for i in range(101)])


def test_a_column_that_was_a_number_must_stay_one(tmp_path):
    (tmp_path / "words.csv").write_text("a,y\nlarge,0\nsmall,1\n")
    words = datasets.load(tmp_path / "words.csv")
    with pytest.raises(ValueError, match="column 'a' must be a number, as in training"):
        words.Psi(FeatureMap.known(["a"], 0, 1))


def test_training_and_testing_on_such_tables(tmp_path):
    draw = np.random.default_rng(0)
    lines = ["size,colour,label"]
    for _ in range(60):
        colour, size = draw.choice(["red", "blue", "green"]), draw.choice(["1", "2", ""])
        lines.append(f"{size},{colour},{'yes' if colour == 'red' else 'no'}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "few.csv").write_text("\n".join(["colour,size,label", "red,1,yes", "violet,2,no"]))
    output = str(tmp_path / "m.pt")
    options = ["--label", "label", "--set", "steps=100", "--rounds", "1", "--test-data", str(tmp_path / "few.csv")]
    assert cli.main([str(tmp_path / "t.csv"), "-o", output, *options]) == 0
    model = model_file.read(output)
    assert model.features.names == ("size", "size=?", "colour=blue", "colour=green", "colour=red")
    assert model.features.fitted_on_sample
