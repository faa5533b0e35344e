"""The intervals of R_S and the confidence they claim: all layers hold together, and an exact value stays exact."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from adanet_theory.spec import NetworkSpec
from verify.measure import evidence
from verify.measure.layers import LayerComplexities, Sampling, complexities


def layers_of(n: tuple[int, ...], m: int, draws: int = 8, delta: float = 0.05) -> LayerComplexities:
    spec = NetworkSpec.layered(n, 1.0, 2.0)
    Psi = np.random.default_rng(0).normal(size=(m, n[0]))
    return complexities(spec, Psi, evidence.feature_sizes(Psi, 2.0), Sampling(delta, draws, 0, "cpu"))


def test_the_union_over_the_searched_layers_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two-sided δ/2 for R_S(H_1), and δ/4 shared by the three layers that are searched."""
    from verify.measure import ascent

    asked = []
    search = ascent.lower_complexities
    monkeypatch.setattr(ascent, "lower_complexities", lambda *a, **k: asked.append(k["confidence"]) or search(*a, **k))
    rows = layers_of((3, 2, 2, 2, 1), 40).rows
    assert asked == [pytest.approx(1 - 0.05 / 4 / 3, abs=1e-15)]
    assert [row.confidence for row in rows] == [pytest.approx(1 - 0.75 * 0.05, abs=1e-12)] * 4


def test_an_interval_without_drawn_signs_holds_surely() -> None:
    assert [row.confidence for row in layers_of((3, 2, 1), 4).rows] == [1.0, 1.0]
    assert [row.confidence for row in layers_of((2, 2, 2, 1), 10, draws=512).rows] == [1.0, 1.0, 1.0]
    rows = layers_of((2, 2, 2, 1), 10, draws=8).rows  # H_1 and H_2 exact, H_3 searched on drawn signs
    assert [row.confidence for row in rows] == [1.0, 1.0, pytest.approx(1 - 0.05 / 4)]


def test_a_random_lower_value_never_stands_above_an_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from verify.measure import ascent

    exact = layers_of((2, 2, 2, 1), 10).rows
    search = ascent.lower_complexities

    def lucky(*words: Any, **named: Any) -> list[ascent.LowerValue]:
        return [dataclasses.replace(value, lower=10 * value.mean) for value in search(*words, **named)]

    monkeypatch.setattr(ascent, "lower_complexities", lucky)
    for row, known in zip(layers_of((2, 2, 2, 1), 10).rows[:2], exact, strict=False):
        assert (row.lower, row.upper) == (known.lower, known.upper)
        assert row.lower <= row.upper


def test_a_delta_below_the_floats_is_not_claimed_for_the_search() -> None:
    """1 - 1e-30 is no float: the search is at 1 - 2^-52, and that is what is said."""
    rows = layers_of((3, 2, 2, 1), 40, delta=1e-30).rows
    assert all(row.confidence <= 1 - 3 * 2.0**-52 for row in rows)
