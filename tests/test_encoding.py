"""Tables with words, flags and empty cells: encoded by names, and a later table by the names of the model."""

import json

import numpy as np
import polars
import pytest

from adanet_train.app import cli
from adanet_train.data import datasets
from adanet_train.data.encoding import Encoder
from adanet_train.data.features import FeatureMap
from adanet_train.estimator import load
from adanet_train.model import model_file
from tests.refusals import refused

TRAIN = """age;colour;new;kind of thing
3;red;true;a
;blue;false;b
5;red;true;a
7;;false;b
"""


def encode(names, rows):
    """The columns as numbers, and their names."""
    encoder, columns = Encoder(names), [list(column) for column in zip(*rows, strict=True)]
    encoder.see(columns)
    return encoder(columns), encoder.names


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
    refused(lambda: datasets.load(tmp_path / "bad.parquet"), "not a Parquet file")


def test_what_cannot_be_encoded_is_refused():
    refused(lambda: encode(["a"], [["1"], ["x"]]), "row 3", "'a'", "number", "'x'")
    refused(lambda: encode(["a"], [[f"w{i}"] for i in range(101)]), "holds more than 100 different words")


def test_flags_are_words_where_other_words_are_among_them(tmp_path):
    cells = [["true"], ["False"], ["unknown"], ["NaN"]]
    X, names = encode(["f"], cells)
    assert names == ("f=False", "f=true", "f=unknown", "f=?")
    assert np.array_equal(X, np.eye(4)[[1, 0, 2, 3]])
    assert encode(["f"], [["true"], ["1"], ["FALSE"], [""]])[0].tolist() == [[1, 0], [1, 0], [0, 0], [0, 1]]
    # and a later table that holds flags alone is read as the words they were
    (tmp_path / "later.csv").write_text("f,y\ntrue,0\nfalse,1\n,1\n")
    features = FeatureMap.known(["f=false", "f=true", "f=unknown", "f=?"], 0, 1, bias=False)
    Psi = datasets.load(tmp_path / "later.csv").Psi(features)
    assert Psi.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_an_empty_column_says_that_it_is(tmp_path):
    X, names = encode(["a", "b"], [["", "1"], ["?", "2"]])
    assert names == ("a=?", "b")
    assert X.tolist() == [[1, 1], [1, 2]]
    # a column of numbers that is empty later is where training put an empty cell
    (tmp_path / "later.csv").write_text("a,b,y\n,5,0\nNA,6,1\n")
    Psi = datasets.load(tmp_path / "later.csv").Psi(
        FeatureMap.known(["a", "a=?", "b"], [2, 0, 0], [4, 1, 10], bias=False)
    )
    assert Psi.tolist() == [[0, 1, 0.5], [0, 1, 0.6]]


def test_a_word_with_an_equals_sign_that_is_missing_later(tmp_path):
    (tmp_path / "t.csv").write_text("c,y\na=b,0\nd,1\n")
    features = datasets.load(tmp_path / "t.csv").feature_map(bias=False)
    (tmp_path / "later.csv").write_text("c,y\nd,1\n")
    assert datasets.load(tmp_path / "later.csv").Psi(features).tolist() == [[0, 1]]


def test_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;y\n1,5;x;0\n;y,z;1\n-2,25e1;x;1\n")
    found = datasets.load(tmp_path / "t.csv")
    assert found.names == ("a", "a=?", "b=x", "b=y,z")
    assert found.values[:, 0].tolist() == [1.5, -22.5, -22.5]


def test_two_classes_that_are_other_numbers(tmp_path):
    """1 and 2, as statisticians write them: by their names, at training and later."""
    (tmp_path / "t.csv").write_text("a,y\n1,2\n2,1\n3,2\n")
    found = datasets.load(tmp_path / "t.csv", many=True)
    assert found.classes == ("1", "2")
    assert found.y.tolist() == [1, -1, 1]
    (tmp_path / "one.csv").write_text("a,y\n1,1\n")
    assert datasets.load(tmp_path / "one.csv", classes=found.classes).y.tolist() == [-1]


def test_a_column_that_was_a_number_must_stay_one(tmp_path):
    (tmp_path / "words.csv").write_text("a,y\nlarge,0\nsmall,1\n")
    words = datasets.load(tmp_path / "words.csv")
    refused(lambda: words.Psi(FeatureMap.known(["a"], 0, 1)), "'a'", "number", "training")


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
    # and predictions on a table as it is, without labels, with columns that the model does not read
    (tmp_path / "new.csv").write_text(
        "id,colour,size\n" + "".join(f"u{i},{'red' if i % 2 else 'blue'},2\n" for i in range(200))
    )
    fitted = load(output)
    words = fitted.predict(tmp_path / "new.csv")
    assert words.tolist() == ["no", "yes"] * 100
    for frame in (polars.read_csv(tmp_path / "new.csv"), polars.read_csv(tmp_path / "new.csv").to_pandas()):
        assert np.array_equal(fitted.decision_function(frame), fitted.decision_function(str(tmp_path / "new.csv")))
    with pytest.raises(ValueError, match=r"^X .*'size'"):
        fitted.predict(polars.DataFrame({"colour": ["red"]}))


# Columns that number the rows, and the columns that training read


@pytest.fixture
def patients(tmp_path):
    """A table with an id, a code for each row, a day, and the labels in a column of their own name."""
    draw, lines = np.random.default_rng(0), ["id,code,visit,age,dose,state"]
    for i in range(60):
        age, dose = draw.normal(size=2)
        lines.append(f"{900 - 7 * i},c{i},{i % 9},{age:.3f},{dose:.3f},{'ill' if age + dose > 0 else 'well'}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return str(tmp_path / "t.csv")


def test_columns_of_another_value_in_every_row_are_named_with_the_remedy(patients, tmp_path):
    notes = datasets.load(patients, label="state").notes
    assert [note.partition("--drop ")[2].partition(" ")[0] for note in notes[1:]] == ["code", "id"]
    assert len(datasets.load(patients, label="state", drop=("id", "code")).notes) == 1
    assert len(datasets.load(patients, label="state", only=("age", "id")).notes) == 1  # the model chose them
    lines = (tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:19]))
    assert len(datasets.load(tmp_path / "few.csv", label="state").notes) == 1


def test_the_estimators_warn_of_an_id_in_a_data_frame():
    pandas = pytest.importorskip("pandas")
    from adanet_train import AdaNetClassifier, certify
    from adanet_train.core.config import Config

    draw = np.random.default_rng(0)
    frame = pandas.DataFrame({"id": np.arange(40.0), "x": draw.normal(size=40), "age": draw.integers(0, 30, 40)})
    y = frame["x"] > 0
    quick = {"rounds": 1, "width": 2, "learner": "gradient", "config": Config(steps=5)}
    with pytest.warns(UserWarning, match=r"'id'.*X\.drop\(columns='id'\)"):
        AdaNetClassifier(**quick).fit(frame, y)
    with pytest.warns(UserWarning, match="'id'"):
        certify("lr", frame, y, K=0)
    AdaNetClassifier(**quick).fit(frame.drop(columns="id"), y)
    AdaNetClassifier(**quick).fit(frame.to_numpy(), y)  # without names there is nothing to say


def test_verify_bounds_reads_the_columns_that_training_read(patients, tmp_path, capsys):
    from verify import cli as verifying

    path = str(tmp_path / "m.pt")
    quick = ["--set", "steps=5", "--width", "2", "--rounds", "1", "--method", "lr"]
    given = [patients, "--label", "state", "--drop", "id", "--drop", "code", "-o", path, *quick]
    assert cli.main(given) == 0
    capsys.readouterr()
    model = model_file.read(path)
    assert (model.label, model.dropped) == ("state", ("id", "code"))
    assert verifying.main([path, "--data", patients, "--no-estimates"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "as in training, the labels are in column 'state' and id, code are left out" in told
    assert verifying.main([path, "--data", patients, "--no-estimates", "--label", "visit"]) == 2
    assert "got 0, 1, 2, 3" in capsys.readouterr().err


def test_verify_bounds_leaves_out_a_column_of_a_table(patients, tmp_path, capsys):
    from torch import nn, save

    from verify import cli as verifying

    save(nn.Linear(3, 1).state_dict(), tmp_path / "net.pt")
    given = [str(tmp_path / "net.pt"), "--data", patients, "--label", "state", "--activation", "relu", "--no-estimates"]
    assert verifying.main(given) == 2
    assert verifying.main([*given, "--drop", "id", "--drop", "code"]) == 0


def test_a_pair_of_a_name_keeps_its_names_in_the_report(tmp_path, capsys):
    from verify import cli as verifying

    path = str(tmp_path / "m.pt")
    assert cli.main(["digits:3-8", "--holdout", "0.2", "--method", "lr", "-o", path, "--set", "steps=5"]) == 0
    capsys.readouterr()
    assert verifying.main([path, "--no-estimates", "--json"]) in (0, 1)
    report = json.loads(capsys.readouterr().out)
    assert [*report["class_errors"], *report["test"]["class_errors"]] == ["3", "8", "3", "8"]
