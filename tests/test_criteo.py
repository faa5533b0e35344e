"""The Criteo reader against a plain loop over the rows, its refusals, and the embeddings."""

import csv
import gzip
import math
import sys
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from adanet_train.core.config import Config
from adanet_train.data.clicks import criteo, criteo_rows, embeddings
from adanet_train.data.clicks.criteo import CriteoPart, embedding_size, read
from adanet_train.data.clicks.embeddings import embed
from adanet_train.methods.adanet import train
from tests.refusals import refused

pytest.importorskip("polars", reason="Criteo is read with polars")


def some_rows(N: int = 210, seed: int = 0) -> list[list[str]]:
    """Random rows in the format, with what is odd in it: missing cells, zeros, a negative count, short digits."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(N):
        counts = ["" if rng.random() < 0.3 else str(int(rng.geometric(0.1) ** 2) - 2) for _ in range(13)]
        digits = ["" if rng.random() < 0.2 else f"{int(rng.geometric(0.4)) * 0x1F2E3D4:08x}" for _ in range(25)]
        rows.append([str(int(rng.random() < 0.3)), *counts, *digits, f"{int(rng.integers(9)):x}"])
    rows[3][1] = "4294967296000"
    rows[5][20] = "ffffffff"
    return rows


def write(path, rows, end: str = "\n", last: str = "\n"):
    content = (end.join("\t".join(row) for row in rows) + last).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def sample(tmp_path):
    return write(tmp_path / "train.txt", some_rows())


def plain(path, min_count: int, fit_rows: int | None = None):
    """The same rules row by row, with none of the reader's means."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    m = len(rows) - 2 * (len(rows) // 7)
    counts = [[0.0 if x == "" else math.copysign(math.log1p(abs(int(x))), int(x)) for x in row[1:14]] for row in rows]
    columns = []
    for column in list(zip(*rows, strict=True))[14:]:
        seen = Counter(int(value, 16) for value in column[: fit_rows or m] if value)
        kept = {value: i for i, value in enumerate(sorted(v for v, times in seen.items() if times >= min_count), 1)}
        columns.append([kept.get(int(value, 16), 0) if value else 0 for value in column])
    return counts, list(zip(*columns, strict=True)), [1.0 if row[0] == "1" else -1.0 for row in rows], m


def parts(data) -> tuple[list, list, list]:
    whole = (data.train, data.validation, data.test)
    counts, codes, y = ([getattr(part, name) for part in whole] for name in ("counts", "codes", "y"))
    return np.concatenate(counts), np.concatenate(codes).tolist(), np.concatenate(y).tolist()


# The reader


@pytest.mark.parametrize(("end", "last"), [("\n", "\n"), ("\n", ""), ("\r\n", "\r\n")])
@pytest.mark.parametrize("block", [1 << 24, 3000])
@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz"])
def test_the_reader_is_the_plain_loop(tmp_path, monkeypatch, name, block, end, last):
    monkeypatch.setattr(criteo_rows, "BLOCK", block)
    monkeypatch.setattr(criteo.Tally, "LEAST", 3)  # merge again and again
    path = write(tmp_path / name, some_rows(), end, last)
    data = read(path, min_count=20)
    expected_counts, expected_codes, expected_y, m = plain(write(tmp_path / "plain", some_rows()), 20)
    counts, codes, y = parts(data)
    np.testing.assert_allclose(counts, np.array(expected_counts), rtol=1e-6)
    assert codes == [list(row) for row in expected_codes]
    assert y == expected_y
    assert (data.train.m, data.validation.m, data.test.m) == (m, 30, 30)
    assert data.d == tuple(max(column) for column in zip(*expected_codes, strict=True))
    assert 0 < sum(data.d) < sum(len(set(column)) for column in zip(*some_rows(), strict=True))


def test_only_training_rows_decide_what_is_frequent(tmp_path):
    rows = some_rows()
    for row in rows[150:]:
        row[14] = "abcdef01"  # in every row of validation and test, and in no other
    data = read(write(tmp_path / "a.txt", rows), min_count=20)
    assert not np.concatenate([data.validation.codes, data.test.codes])[:, 0].any()
    rows[149][14] = "abcdef01"
    assert read(write(tmp_path / "b.txt", rows), min_count=1).test.codes[:, 0].all()


def test_the_rows_that_decide_may_be_fewer(sample):
    data = read(sample, min_count=5, fit_rows=60)
    assert parts(data)[1] == [list(row) for row in plain(sample, 5, fit_rows=60)[1]]
    assert data.d != read(sample, min_count=5).d


def test_a_value_is_kept_from_its_hundredth_time(tmp_path):
    rows = some_rows(700)
    for i, row in enumerate(rows):
        row[14], row[15] = ("aa" if i < 99 else ""), ("bb" if i < 100 else "")
    data = read(write(tmp_path / "train.txt", rows))
    assert data.d[:2] == (0, 1)
    assert data.vocabulary[1].tolist() == [0xBB]
    assert not data.train.codes[:, 0].any()


def test_the_arrays_may_lie_on_the_disk(tmp_path, sample):
    seen = []
    kept = read(sample, min_count=20, folder=tmp_path / "out", progress=lambda *step: seen.append(step))
    assert isinstance(kept.train.counts, np.memmap)
    for ours, theirs in zip(parts(kept), parts(read(sample, min_count=20)), strict=True):
        assert np.array_equal(ours, theirs)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["codes.npy", "counts.npy", "y.npy"]
    assert seen == [(150, 360), (360, 360)]


@given(st.lists(st.lists(st.integers(-1, 6), max_size=12), max_size=8), st.integers(1, 4))
def test_a_tally_counts(blocks, least):
    tally = criteo.Tally()
    tally.LEAST = 2
    for block in blocks:
        tally.add(np.array(block, dtype=np.int64))
    seen = Counter(value for block in blocks for value in block if value >= 0)
    assert tally.frequent(least).tolist() == sorted(value for value, times in seen.items() if times >= least)


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        (0, "2", "rows 1 to 210: a label that is not 0 or 1."),
        (0, "", "rows 1 to 210: a label that is not 0 or 1."),
        (4, "many", "expected whole numbers and hexadecimal digits."),
        (14, "xyz", "expected whole numbers and hexadecimal digits."),
        (14, "123456789", "rows 1 to 210: a category of more than 8 digits."),
        (14, "-5", "rows 1 to 210: a category of more than 8 digits."),
        (39, "a\tb", "row 9 has 41 cells, expected 40 separated by tabs."),
        (39, "a\nb", "row 10 has 1 cells, expected 40 separated by tabs."),
    ],
)
def test_unsound_rows_are_refused_in_one_line(tmp_path, column, cell, message):
    rows = some_rows()
    rows[8][column] = cell
    path = write(tmp_path / "train.txt", rows)
    with pytest.raises(ValueError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: row")
    assert said.endswith(message)
    assert "\n" not in said


def test_rows_without_labels_are_refused(tmp_path):
    path = write(tmp_path / "test.txt", [row[1:] for row in some_rows()])
    refused(lambda: read(path), "test.txt: row 1", "39 cells", "40")


def test_a_row_that_lacks_its_last_cell_is_not_filled_up(tmp_path):
    rows = some_rows()
    rows[9] = rows[9][:-1]
    refused(lambda: read(write(tmp_path / "train.txt", rows)), "train.txt: row 10", "39 cells", "40")


def test_one_row_longer_and_one_shorter_are_not_taken_for_two_good_ones(tmp_path):
    rows = some_rows()
    rows[8] = [*rows[8], "a"]
    rows[9] = rows[9][:-1]
    refused(lambda: read(write(tmp_path / "train.txt", rows)), "train.txt: row 9", "41 cells", "40")


def test_files_that_are_none(tmp_path, sample, monkeypatch):
    refused(lambda: read(tmp_path / "absent"), "absent: no such file.")
    refused(lambda: read(write(tmp_path / "short", some_rows()[:6])), "6 rows, expected at least 7.")
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(sample.read_bytes())[:-500])
    refused(lambda: read(packed), "cut.gz: Compressed file ended before")
    (tmp_path / "endless").write_bytes(b"1" * 5000)
    monkeypatch.setattr(criteo_rows, "BLOCK", 1000)
    refused(lambda: read(tmp_path / "endless"), "endless", "1000 bytes")


def test_unsound_arguments_and_a_missing_polars(sample, monkeypatch):
    refused(lambda: read(sample, min_count=0), "min_count must be >= 1, got min_count=0.")
    refused(lambda: read(sample, fit_rows=151), "fit_rows", "1 to 150", "fit_rows=151")
    monkeypatch.setitem(sys.modules, "polars", None)
    refused(lambda: read(sample), "polars", "pip install 'adanet-theory[experiments]'")


# The embeddings


@given(st.integers(0, 10**9))
@example(25)
@example(26)
def test_the_size_of_an_embedding(d):
    k = embedding_size(d)
    assert k == d if d <= 25 else k**4 <= 6**4 * d < (k + 1) ** 4


def draw(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def telling_part(m: int = 2000) -> CriteoPart:
    """The label is told by the categories alone, and only by two of them together."""
    rng = np.random.default_rng(1)
    codes = np.zeros((m, 26), dtype=np.int32)
    codes[:, 2], codes[:, 7] = rng.integers(0, 5, m), rng.integers(0, 41, m)
    y = np.where((codes[:, 2] > 2) == (codes[:, 7] > 20), 1.0, -1.0)
    return CriteoPart(rng.exponential(2, (m, 13)).astype(np.float32), codes, y)


D = tuple({2: 4, 7: 40}.get(f, 0) for f in range(26))


def psi(embedding, part) -> torch.Tensor:
    return torch.from_numpy(embedding.dataset(part).Psi(embedding.feature_map()))


def test_an_embedding_is_learned_and_its_network_with_it():
    part = telling_part()
    embedding, network = embed(part, D, draw(), hidden=(32,), steps=120, batch=100, learning_rate=2e-2)
    assert (part.y * network(psi(embedding, part)).numpy() > 0).mean() > 0.97
    other = embed(part, D, draw(), hidden=(32,), steps=0)
    assert (part.y * other[1](psi(other[0], part)).numpy() > 0).mean() < 0.7


def test_the_network_is_the_one_that_was_trained(monkeypatch):
    """Scaling the tables to [-1, 1] and the weights back changes nothing."""
    kept = []
    fixed = embeddings._fixed
    monkeypatch.setattr(embeddings, "_fixed", lambda *state: (kept.extend(state), fixed(*state))[1])
    part = telling_part(300)
    embedding, network = embed(part, D, draw(), hidden=(8, 4), steps=20)
    scale, table, U, _ = kept
    counts = torch.from_numpy(part.counts / scale).float()
    raw = embeddings._forward(
        torch.cat([counts, table.pick(table.numbers[table.rows(part.codes)]), torch.ones(300, 1)], dim=1), U
    )
    np.testing.assert_allclose(network(psi(embedding, part)).numpy(), raw.numpy(), rtol=1e-4, atol=1e-5)


def test_psi_lies_in_the_cube_and_zero_is_the_zero_vector():
    part = telling_part()
    embedding, network = embed(part, D, draw(), hidden=(8,), steps=30)
    assert embedding.names[:2] + embedding.names[12:15] + embedding.names[-1:] == (
        *("I1", "I2", "I13", "C3_0", "C3_1"),
        f"C8_{embedding_size(40) - 1}",
    )
    X = embedding(CriteoPart(part.counts * 5, part.codes, part.y))
    assert X.shape == (2000, 13 + 4 + 15)
    assert network.n == (13 + 4 + 15 + 1, 8, 1)
    assert np.abs(X[:, :13]).max() == 1
    for first, last in ((13, 17), (17, 32)):
        assert np.abs(X[:, first:last]).max() == 1
    assert not X[part.codes[:, 2] == 0, 13:17].any()
    assert X[part.codes[:, 2] == 1, 13:17].any(axis=1).all()
    assert not X[part.codes[:, 7] == 0, 17:].any()
    for f in (2, 7):
        assert embedding.tables[f].shape == (D[f] + 1, embedding_size(D[f]))


def test_the_same_seed_gives_the_same_bits():
    part = telling_part(300)
    first, again, other = (embed(part, D, draw(seed), hidden=(8,), steps=10)[0](part) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_map_that_has_seen_the_sample_says_so():
    part = telling_part(300)
    embedding, _ = embed(part[:100], D, draw(), hidden=(8,))
    same, later = embedding.dataset(part[:100]), embedding.dataset(part[100:], fitted_on_sample=False)
    assert same.feature_map().fitted_on_sample
    assert not later.feature_map().fitted_on_sample
    assert (later.feature_map(bias=False).n_0, later.feature_map().n_0, later.feature_map().r_sup) == (32, 33, 1.0)
    refused(lambda: same.feature_map(center=True), "--center needs features whose range is known")


def test_adanet_trains_on_it(sample):
    data = read(sample, min_count=20)
    embedding, _ = embed(data.train, data.d, draw(), hidden=(8,), steps=5)
    part = data.train
    trained = train(
        psi(embedding, part), torch.from_numpy(part.y), Config(learner="gradient", rounds=1, width=3, steps=20)
    )
    assert trained.network.n[0] == len(embedding.names) + 1
    assert torch.isfinite(trained.network(psi(embedding, data.test))).all()


def test_no_rows_and_no_values():
    part = telling_part(50)
    refused(lambda: embed(part[:0], D, draw()), "part", "one row", "m=0")
    nothing = CriteoPart(np.zeros_like(part.counts), np.zeros_like(part.codes), part.y)
    embedding, network = embed(nothing, (0,) * 26, draw(), hidden=(), steps=3)
    assert embedding(nothing).shape == (50, 13)
    assert network.n == (14, 1)


def test_points_are_computed_when_they_are_asked_for(sample):
    data = criteo.read(sample, min_count=2)
    embedding, _ = embed(data.train, data.d, torch.Generator().manual_seed(0), hidden=(4,), steps=5)
    points, whole = embedding.points(data.train), embedding.dataset(data.train)
    assert torch.equal(points.whole(), torch.from_numpy(whole.Psi(whole.feature_map())))
    some = torch.tensor([5, 2])
    assert torch.equal(points.rows(some), points.whole()[some])
    assert len(points) == data.train.m
