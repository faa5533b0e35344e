"""The store, the folds, the tests of significance, and the choice of a setting."""

import json
import math
import statistics

import numpy as np
import pytest
import torch
from scipy import stats

from paper_notes import tables as paper
from verify.experiments.running import grids, selection, trials
from verify.experiments.running.significance import corrected_t_test, holm
from verify.experiments.running.store import Store, digest
from verify.experiments.running.trials import DataSource, Trial, split

# The store


def test_what_was_put_is_got(tmp_path):
    store = Store(tmp_path / "deep" / "store")
    trial = Trial("digits:3-8", "nn", 3, {"hidden": (16, 16), "lam": 1e-5})
    assert store.get(trial.description) is None
    store.put(trial.description, {"test": 0.1 + 0.2})
    assert store.get(trial.description) == {"test": 0.1 + 0.2}
    assert Store(tmp_path / "deep" / "store").get(trial.description) == {"test": 0.1 + 0.2}


def test_every_part_of_a_trial_counts():
    trial = Trial("digits:3-8", "nn", 3, {"lam": 1e-5}, seed=1)
    others = [
        Trial("digits:3-9", "nn", 3, {"lam": 1e-5}, seed=1),
        Trial("digits:3-8", "lr", 3, {"lam": 1e-5}, seed=1),
        Trial("digits:3-8", "nn", 4, {"lam": 1e-5}, seed=1),
        Trial("digits:3-8", "nn", 3, {"lam": 1e-6}, seed=1),
        Trial("digits:3-8", "nn", 3, {"lam": 1e-5, "batch": 10}, seed=1),
        Trial("digits:3-8", "nn", 3, {"lam": 1e-5}, seed=2),
    ]
    assert len({digest(one.description) for one in (trial, *others)}) == 7
    assert digest(Trial("d", "nn", 0, {"a": 1, "b": 2}).description) == digest(
        Trial("d", "nn", 0, {"b": 2, "a": 1}).description
    )


def test_the_name_of_a_trial_does_not_change_from_version_to_version():
    """Stored: a store of last year must still serve."""
    trial = Trial("cifar10:cat-dog", "adanet", 7, {"lam": 1e-5, "hidden": (100, 100)}, seed=0)
    assert digest(trial.description) == "fadb85379e698057b75760de269d8f08"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"trial": {}, "result": {"test": 1}}', '{"result": {"test": 1}}'])
def test_a_damaged_file_is_no_result(tmp_path, text):
    store, trial = Store(tmp_path), Trial("digits:3-8", "nn", 0)
    store.put(trial.description, {"test": 0.5})
    store.path(trial.description).write_text(text)
    assert store.get(trial.description) is None
    store.put(trial.description, {"test": 0.5})
    assert store.get(trial.description) == {"test": 0.5}


def test_no_nan_enters_the_store(tmp_path):
    with pytest.raises(ValueError):
        Store(tmp_path).put({"a": 1}, {"test": math.nan})


# The folds


def test_the_folds_are_the_papers():
    splits = [split(12_000, i, seed=0) for i in range(10)]
    for i, parts in enumerate(splits):
        assert (len(parts.train), len(parts.validation), len(parts.test)) == (paper.TRAIN_SIZE, 1200, paper.TEST_SIZE)
        everything = np.concatenate([parts.train, parts.validation, parts.test])
        assert np.array_equal(np.sort(everything), np.arange(12_000))
        assert np.array_equal(parts.validation, splits[(i + 1) % 10].test)
    tests = np.concatenate([parts.test for parts in splits])
    assert np.array_equal(np.sort(tests), np.arange(12_000))
    assert not np.array_equal(splits[0].test, split(12_000, 0, seed=1).test)


@pytest.mark.parametrize(("m", "i", "symbol"), [(100, 10, "fold"), (100, -1, "fold"), (9, 0, "m must be >= 10")])
def test_there_are_ten_folds(m, i, symbol):
    with pytest.raises(ValueError, match=symbol):
        split(m, i, seed=0)


def test_a_trial_tells_the_three_parts_apart():
    """Computed again from the points of the folds, for a network that has learned little: the three differ."""
    trial = Trial("digits:3-8", "lr", 2, {"steps": 3, "batch": 10, "check_every": 3}, seed=1)
    trial_result = trials.run(trial, DataSource())
    dataset = trials.sample("digits:3-8", DataSource())
    Psi, y = dataset.Psi(dataset.feature_map()), dataset.y
    network = trials.train(trial, trials.fold_of(trial, DataSource())).network
    parts = split(dataset.m, 2, seed=1)
    for name in ("train", "validation", "test"):
        rows = getattr(parts, name)
        margins = y[rows] * network(torch.from_numpy(Psi[rows])).numpy()
        assert trial_result[name] == pytest.approx((margins > 0).mean())
    assert len({trial_result[name] for name in ("train", "validation", "test")}) == 3


# Significance


def test_the_corrected_test_is_students_with_another_variance():
    draw = np.random.default_rng(0)
    differences = draw.normal(0.01, 0.02, size=10).tolist()
    plain = stats.ttest_1samp(differences, 0.0)
    test_of = corrected_t_test(differences, train=9600, test=1200)
    assert test_of.difference == pytest.approx(statistics.fmean(differences))
    # 1/10 becomes 1/10 + 1/8
    assert test_of.t == pytest.approx(plain.statistic * math.sqrt(0.1 / 0.225), rel=1e-12)
    assert test_of.p == pytest.approx(2 * stats.t.sf(abs(test_of.t), 9), rel=1e-12)
    # without overlap (no test points to speak of) it is the plain test
    assert corrected_t_test(differences, train=10**15, test=1).p == pytest.approx(plain.pvalue, rel=1e-9)


def test_the_papers_own_table_passes_holm_as_the_audit_says():
    """Audit C73: with uncorrelated folds of the printed spread, the largest p is .0152, and all 15 pass at 5 %."""
    p = []
    for methods in paper.ACCURACY.values():
        ours, ours_sd = methods["AdaNet"]
        for name in ("LR", "NN", "NN-GP"):
            theirs, their_sd = methods[name]
            spread = math.hypot(ours_sd, their_sd)
            scores = np.array([-1.0, 1.0] * 5)
            differences = ours - theirs + spread * scores / scores.std(ddof=1)
            p.append(corrected_t_test(differences.tolist(), train=paper.TRAIN_SIZE, test=paper.TEST_SIZE).p)
    assert max(p) == pytest.approx(0.0152, abs=5e-5)
    assert max(holm(p)) < 0.05


def test_equal_differences_have_no_t():
    assert corrected_t_test([0.0, 0.0], train=8, test=1).p == 1
    assert corrected_t_test([0.5, 0.5], train=8, test=1).p == 0
    with pytest.raises(ValueError, match="two folds"):
        corrected_t_test([0.1], train=8, test=1)


def test_holm_against_its_definition():
    p = [0.001, 0.2, 0.01, 0.03, 0.03]
    for level in np.linspace(0.001, 0.5, 300):
        rejected = set()
        for rank, j in enumerate(sorted(range(5), key=p.__getitem__)):
            if p[j] > level / (5 - rank):
                break
            rejected.add(j)
        assert {j for j, adjusted in enumerate(holm(p)) if adjusted <= level} == rejected


# Selection and grids


def test_the_validation_folds_choose_and_the_test_folds_report():
    def result(validation, test):
        return {"validation": validation, "test": test, "train": 1.0, "n": [4, 8, 1], "rounds": 1, "seconds": 2.0}

    good_test = [result(0.6, 1.0), result(0.6, 1.0)]
    good_validation = [result(0.9, 0.5), result(0.5, 0.7)]
    row = selection.scores(selection.best([{"lam": 0.0}, {"lam": 1.0}], [good_test, good_validation]))
    assert row.setting == {"lam": 1.0}
    assert row.accuracy == pytest.approx(0.6)
    assert row.sd == pytest.approx(0.1 * math.sqrt(2))
    assert (row.tried, row.seconds, row.units, row.top) == (2, 8.0, [8], 1)


def test_the_full_grid_has_the_papers_size():
    grid = grids.grid("full")
    assert len(grid.adanet) == math.prod(paper.ADANET_GRID.values()) == 360
    assert len(grid.nn) == math.prod(paper.NN_GRID.values()) == 360
    assert len(grid.lr) == 24
    assert grid.nn_gp.trials == paper.GP_TRIALS
    assert {setting["width"] for setting in grid.adanet} == set(paper.BLOCKS)
    assert {(setting["rounds"], setting["steps"]) for setting in grid.adanet} == {(paper.ROUNDS, paper.STEPS)}


def test_the_count_is_by_who_trains():
    """Progress hears of the trials of NN-GP as those of NN."""
    grid = grids.grid("full")
    assert grids.count(grid, ["adanet", "nn", "nn-gp"], range(10)) == {"adanet": 3600, "nn": 8600}
    assert grids.count(grid, ["lr"], range(2)) == {"lr": 48}


@pytest.mark.parametrize("name", grids.GRIDS)
def test_every_variant_is_a_config(name):
    variants = grids.variants(name)
    assert tuple(variant.name for variant in variants) == grids.VARIANTS
    for variant in variants:
        assert variant.settings
        for setting in variant.settings:
            config = Trial("digits:3-8", variant.method, 0, setting).config
            assert config.search.variant == (variant.name if variant.name in ("R", "P", "D", "SD") else "base")
    lams = {variant.name: {setting["lam"] for setting in variant.settings} for variant in variants}
    assert lams["R"] == lams["P"] == lams["D"] == lams["base"]
    assert lams["SD"] == {100 * lam for lam in lams["base"]}  # standard deviations are that much smaller than bounds


@pytest.mark.parametrize("name", grids.GRIDS)
def test_every_setting_is_a_config(name):
    grid = grids.grid(name)
    for method in ("adanet", "lr", "nn"):
        for setting in getattr(grid, method):
            config = Trial("digits:3-8", method, 2, setting, seed=3).config
            assert config.goal.lam == setting["lam"]
            assert config.run.seed == 32
    json.dumps(grids.described(grid), allow_nan=False)
    with pytest.raises(ValueError, match="grid must be one of"):
        grids.grid("huge")
