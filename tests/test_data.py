"""Samples by name and by file, and the map from X to Psi."""

import gzip
import io
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from adanet_train.data import datasets
from adanet_train.data.datasets import Dataset, load
from adanet_train.data.features import FeatureMap
from tests.refusals import refused, says

X = np.array([[1.0, 20.0], [3.0, 40.0], [2.0, 20.0]])
Y = np.array([1, -1, 1])


def refusal(source, **options) -> str:
    return refused(lambda: load(source, **options))


# X -> Psi

matrices = arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-1e150, 1e150))


@given(matrices, st.booleans(), st.data())
def test_psi_stays_in_the_unit_cube_on_the_whole_support(sample, bias, draw):
    features = FeatureMap.fitted(sample, bias=bias)
    anywhere = draw.draw(arrays.arrays(np.float64, (3, sample.shape[1]), elements=st.floats(-1e308, 1e308)))
    for Psi in (features(sample), features(anywhere)):
        assert Psi.shape[1] == features.n_0 == sample.shape[1] + bias
        assert ((Psi >= 0) & (Psi <= features.r_sup)).all()
        assert not bias or (Psi[:, -1] == 1).all()
    Psi = features(sample)[:, : sample.shape[1]]
    constant = sample.min(axis=0) == sample.max(axis=0)
    assert (Psi.min(axis=0) == 0).all()
    assert (Psi.max(axis=0) == np.where(constant, 0, 1)).all()


def test_the_map_is_linear_inside_the_range():
    features = FeatureMap.known(["a"], low=-2, high=6, bias=False)
    assert features([[-3.0], [-2.0], [0.0], [6.0], [7.0]]).ravel().tolist() == [0, 0, 0.25, 1, 1]
    assert not features.fitted_on_sample
    assert FeatureMap.fitted(X).fitted_on_sample


def test_the_identity_leaves_x_alone_and_knows_no_range():
    features = FeatureMap.identity(["a", "b"], bias=True)
    assert features([[-7.5, 1e9]]).tolist() == [[-7.5, 1e9, 1.0]]
    assert features.r_sup == np.inf


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, np.nan]], "X must be finite, got nan in row 0, column 1."),
        ([1.0, 2.0], r"X must be a matrix with one row per point, got shape \(2,\)."),
        (np.ones((3, 1, 2)), r"got shape \(3, 1, 2\): reshape it to \(m, -1\), or give subnetworks"),
        ([[1.0]], "X must have 2 columns, as in training, got 1."),
        ([["a", "b"]], "X must hold real numbers, got dtype <U1."),
        (np.ones((2, 2)) * 1j, "X must hold real numbers, got dtype complex128."),
    ],
)
def test_the_map_refuses_what_it_cannot_read(values, message):
    with pytest.raises(ValueError, match=message):
        FeatureMap.fitted(X)(values)


def test_a_range_that_overflows_is_refused():
    with pytest.raises(ValueError, match=r"high - low .*finite and >= 0.* inf .*'x0'"):
        FeatureMap.fitted([[-1e308], [1e308]])


# Files


@pytest.fixture
def table(tmp_path):
    def write(text: str):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return path

    return write


def test_a_csv_file(table):
    sample = load(table("\ufeffa, y ,b\n1,1,20\n3,-1,40\n\n2,1,20\n"))
    assert sample.values.tolist() == X.tolist()
    assert sample.y.tolist() == Y.tolist()
    assert (sample.names, sample.is_psi, sample.notes) == (("a", "b"), False, ())


def test_labels_are_mapped_and_said(table):
    zero_one = load(table("a,t\n1,1\n2,0\n"), label="t")
    assert zero_one.y.tolist() == [1, -1]
    says(*zero_one.notes, ["0 and 1", "-1 and +1"])
    named = load(table("a,y\n1,spam\n2,ham\n"))
    assert named.y.tolist() == [1, -1]
    assert named.classes == ("ham", "spam")
    says(*named.notes, ["'ham' and 'spam'", "-1 and +1"])
    assert load(table("a,y\n1,spam\n"), classes=("ham", "spam")).y.tolist() == [1]
    assert "as in training, got 'eggs'" in refusal(table("a,y\n1,eggs\n"), classes=("ham", "spam"))
    assert datasets.labels(np.array([True, False]))[0].tolist() == [1, -1]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ["header", "at least one row"]),
        ("a,y\n", ["header", "at least one row"]),
        ("a,b\n1,2\n", ["'y'", "--label COLUMN", "a, b."]),
        ("a,b,c,d,e,f,g,h,i,target\n" + "1," * 9 + "2\n", ["'y'", "--label COLUMN", "h, i, target."]),
        ("a,a,y\n1,2,1\n", ["twice", "a, a, y."]),
        ("a,y\n1,1\n2\n", ["row 3", "1 cells", "2 as in the header"]),
        (",a,y\n1,2,1\n", ["column has no name", ", a, y."]),
        ("a,b,y\n1,2,1\n1,x,1\n", ["row 3, column 'b'", "number", "'x'"]),
        ("a,y\n1,1\n1e400,1\n", ["row 3, column 'a'", "finite", "inf."]),
        ("a,b,y\n0,x,1\n2,-inf,1\n", ["row 3, column 'b'", "finite", "-inf."]),
        ('a,y\n"1,234",1\n', ["row 2, column 'a'", "number", "'1,234'", "comma"]),
        ("c=red,c,y\n1,red,1\n", ["column 'c=red'", "encoding", "rename"]),
        ("a,y\n1,2\n1,1\n", ["y ", "-1/+1 or 0/1", "1, 2."]),
        ("a,y\n1,nan\n1,1\n", ["row 2", "no label", "'y'"]),
        ("a,y\n1,x\n1,\n", ["row 3", "no label", "'y'"]),
        ("a,y\n1,x\n1,NA\n", ["row 3", "no label", "'y'"]),
        ("a,y\n1,p\n1,q\n1,r\n", ["y ", "two classes", "3: 'p', 'q', 'r'."]),
        ("y\n1\n", ["no column", "'y'."]),
        ('a,y\n"1,1\n', ["comma-separated", "UTF-8"]),
    ],
)
def test_an_unsound_csv_is_refused_in_one_line(table, text, tokens):
    path = table(text)
    says(refusal(path), [f"{path}: ", *tokens])


def test_npz_and_pt_files(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, y=Y)
    np.savez_compressed(tmp_path / "psi.npz", Psi=X.astype(np.float32), y=(Y > 0).astype(np.uint8))
    torch.save({"X": torch.tensor(X).bfloat16(), "y": torch.tensor(Y)}, tmp_path / "x.pt")
    for name, is_psi in [("x.npz", False), ("psi.npz", True), ("x.pt", False)]:
        sample = load(tmp_path / name)
        assert sample.values.dtype == np.float64
        assert sample.values.tolist() == X.tolist()
        assert sample.y.tolist() == Y.tolist()
        assert (sample.is_psi, sample.names) == (is_psi, ("x0", "x1"))
    assert load(tmp_path / "psi.npz").feature_map() is None


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ({"X": X}, ["expected y", "X or Psi", "has X."]),
        ({"X_train": X, "y_train": Y}, ["expected y", "X or Psi", "has X_train, y_train."]),
        ({"y": Y}, ["either X or Psi", "has y."]),
        ({"X": X, "Psi": X, "y": Y}, ["either X or Psi", "has X, Psi, y."]),
        ({"X": X, "y": Y[:2]}, ["y ", "(3,)", "one label for each point", "(2,)."]),
        ({"X": X, "y": X + 0.5}, ["y ", "(3,)", "(3, 2)", "not one-hot", "not several labels"]),
        ({"X": X, "y": Y + 0.5}, ["y ", "continuous", "1.5", "regression", "y > t"]),
        ({"X": X[:, 0], "y": Y}, ["X ", "one row per point", "(3,)."]),
        ({"X": X[:, :0], "y": Y}, ["X ", "at least one column", "(3, 0)."]),
        ({"X": X[:0], "y": Y[:0]}, ["X ", "at least one row", "m=0."]),
        ({"Psi": X * np.inf, "y": Y}, ["Psi ", "finite", "inf in row 0, column 0."]),
        ({"X": X, "y": Y * 1j}, ["y ", "numbers", "complex128."]),
    ],
)
def test_an_unsound_npz_is_refused_in_one_line(tmp_path, content, tokens):
    path = tmp_path / "x.npz"
    np.savez(path, **content)
    says(refusal(path), [f"{path}: ", *tokens])


def test_no_pickle_is_opened(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.array([[object()]], dtype=object), y=[1], allow_pickle=True)
    assert "allow_pickle=False" in refusal(tmp_path / "x.npz")
    torch.save({"X": X, "y": Y}, tmp_path / "x.pt")
    assert "expected plain values and tensors" in refusal(tmp_path / "x.pt")
    torch.save({"X": [[1.0]], "y": torch.ones(1)}, tmp_path / "x.pt")
    assert refusal(tmp_path / "x.pt") == f"{tmp_path / 'x.pt'}: X must be a tensor, got a list."
    torch.save(torch.ones(1), tmp_path / "x.pt")
    says(refusal(tmp_path / "x.pt"), ["dict", "X", "Psi", "y"])


def test_other_files_are_refused(tmp_path):
    for suffix in (".csv", ".npz", ".pt"):
        path = tmp_path / f"absent{suffix}"
        assert refusal(path) == f"{path}: no such file."
        path.write_bytes(b"\xff\xfe\x00")
        assert refusal(path).startswith(f"{path}: ")
    assert "one of breast-cancer, iris, wine, digits" in refusal("peas")
    says(refusal("irs"), ["DATA 'irs'", "did you mean 'iris'"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("X.npy", b"short")
    (tmp_path / "x.npz").write_bytes(buffer.getvalue())
    assert refusal(tmp_path / "x.npz").startswith(str(tmp_path / "x.npz"))


def test_a_model_reads_named_columns_in_its_own_order(table):
    features = load(table("a,b,y\n1,20,1\n3,40,-1\n")).feature_map(bias=False)
    other = load(table("b,id,a,y\n30,7,2,1\n"))
    assert other.Psi(features).tolist() == [[0.5, 0.5]]
    refused(lambda: load(table("b,c,y\n30,2,1\n")).Psi(features), "X", "'a'")
    assert Dataset(np.array([[2.0, 30.0]]), np.ones(1), ("x0", "x1")).Psi(features).tolist() == [[0.5, 0.5]]
    final = Dataset(np.array([[9.0]]), np.ones(1), ("x0",), is_psi=True)
    assert final.Psi(features).tolist() == [[9.0]]


def test_a_sample_to_train_on_has_two_points_of_two_classes(table):
    refused(load(table("a,y\n1,1\n")).require_trainable, "m ", ">= 2", "m=1")
    refused(load(table("a,y\n1,0\n2,0\n")).require_trainable, "y ", "both classes", "-1")
    load(table("a,y\n1,0\n2,1\n")).require_trainable()


# Names


def test_the_sets_that_ship_with_scikit_learn():
    cancer = load("breast-cancer")
    assert (cancer.values.shape, int((cancer.y == 1).sum()), cancer.known_range) == ((569, 30), 357, None)
    assert cancer.feature_map().fitted_on_sample
    digits = load("digits:3-8")
    assert (digits.values.shape, digits.notes) == ((357, 64), ("class 3 is -1 and class 8 is +1.",))
    assert int((digits.y == 1).sum()) == 174
    assert not digits.feature_map().fitted_on_sample
    assert digits.feature_map().high.tolist() == [16] * 64
    assert load("digits:8-3").y.tolist() == (-digits.y).tolist()


def test_odd_is_minus_one_and_even_plus_one():
    from sklearn.datasets import load_digits

    digits = load("digits:odd-even")
    assert digits.y.tolist() == [1.0 if digit % 2 == 0 else -1.0 for digit in load_digits().target]
    says(*digits.notes, ["1, 3, 5, 7, 9 is -1", "0, 2, 4, 6, 8 is +1"])
    assert "two different classes" in refusal("fashion:odd-even")


@pytest.mark.parametrize("name", ["digits:3-3", "digits:3", "digits:3-10", "digits:a-b", "fashion:coat-cat"])
def test_a_pair_is_two_different_classes(name):
    assert "needs two different classes 0 to 9" in refusal(name)


def test_sets_without_a_test_part():
    says(refusal("breast-cancer", test=True), ["breast-cancer", "--test-data"])


def idx(values: np.ndarray) -> bytes:
    return bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes() + values.tobytes()


IMAGES = np.arange(48, dtype=np.uint8).reshape(4, 3, 4)
DIGITS = np.array([0, 1, 7, 1], dtype=np.uint8)


def test_idx_files(tmp_path, monkeypatch):
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    (folder / "train-images-idx3-ubyte").write_bytes(idx(IMAGES))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(DIGITS)))
    (folder / "t10k-images.idx3-ubyte").write_bytes(idx(IMAGES[:2]))
    (folder / "t10k-labels.idx1-ubyte").write_bytes(idx(DIGITS[:2]))
    monkeypatch.setenv("ADANET_DATA", str(tmp_path))
    train, test = load("mnist:0-1"), load("mnist:0-1", test=True, data_dir=tmp_path)
    assert train.values.tolist() == IMAGES.reshape(4, 12)[[0, 1, 3]].tolist()
    assert train.y.tolist() == [-1, 1, 1]
    assert test.y.tolist() == [-1, 1]
    assert train.feature_map().high.tolist() == [255] * 12
    folder.rename(tmp_path / "fashion")
    says(*load("fashion:trouser-tshirt").notes, ["trouser is -1", "tshirt is +1"])
    assert load("fashion:1-0").y.tolist() == [1, -1, -1]
    missing = refusal("mnist:0-1")
    assert "no train-images-idx3-ubyte[.gz] in" in missing
    assert "ADANET_DATA" in missing


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected an idx file of bytes."),
        (b"\x00\x00\x0d\x01" + bytes(8), "expected an idx file of bytes."),
        (idx(IMAGES)[:-1], "47 bytes, expected 48 for the shape [4, 3, 4]."),
        (b"\x00\x00\x08\x03" + b"\xff" * 12, "expected at most"),
    ],
)
def test_a_damaged_idx_file_is_refused(tmp_path, content, message):
    (tmp_path / "mnist").mkdir()
    path = tmp_path / "mnist" / "train-images-idx3-ubyte"
    path.write_bytes(content)
    (tmp_path / "mnist" / "train-labels-idx1-ubyte").write_bytes(idx(DIGITS))
    assert refusal("mnist:0-1", data_dir=tmp_path).startswith(f"{path}: {message}")


def test_a_known_range_may_be_centred() -> None:
    dataset = load("digits:3-8")
    features = dataset.feature_map(center=True)
    Psi = dataset.Psi(features)
    assert (features.r_sup, features.clip, features.floor, features.fitted_on_sample) == (1.0, True, -1.0, False)
    beyond = features(np.array([[-1e3], [1e3]]) * np.ones((1, len(dataset.names))))
    assert beyond[:, :-1].min() == -1
    assert np.abs(beyond).max() == 1
    np.testing.assert_array_equal(Psi[:, :-1], dataset.values / 8 - 1)
    assert (Psi.min(), Psi.max()) == (-1, 1)
    refused(lambda: load("breast-cancer").feature_map(center=True), "--center", "range")
