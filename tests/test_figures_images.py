"""The figures look as they did: compared with pictures kept, by a tolerance that one wrong curve exceeds."""

import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from figures import gallery
from tests.figure_images import CURVES, NAMES, TOLERANCE, data, difference


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_looks_as_it_did(name):
    assert difference(name, gallery.module(name).draw(data(name))) <= TOLERANCE


def curves(figure):
    """Every line with an extent: those that only mark a value, or that the key needs, are no curves."""
    by_name = {line: np.asarray(line.get_ydata(), dtype=float) for axes in figure.axes for line in axes.lines}
    return [line for line, y in by_name.items() if len(np.unique(y[np.isfinite(y)])) > 2]


@pytest.mark.parametrize("name", CURVES)
def test_a_factor_3_2_on_any_one_curve_shows(name):
    figure = gallery.module(name).draw(data(name))
    assert curves(figure)
    for line in curves(figure):
        right = line.get_ydata()
        line.set_ydata(1.5 * np.asarray(right))
        assert difference(name, figure) > TOLERANCE
        line.set_ydata(right)
    assert difference(name, figure) <= TOLERANCE


def test_one_power_of_ten_more_in_any_map_shows():
    figure = gallery.module("vacuity-map").draw(data("vacuity-map"))
    for axes in figure.axes[:6]:
        mesh = next(part for part in axes.collections if isinstance(part, QuadMesh))
        right = mesh.get_array()
        mesh.set_array(right + 1)
        assert difference("vacuity-map", figure) > TOLERANCE
        mesh.set_array(right)


@pytest.mark.parametrize("place", range(10))
def test_one_missing_connection_shows(place):
    graph = data("architecture")
    fewer = {**graph, "edges": graph["edges"][:place] + graph["edges"][place + 1 :]}
    assert difference("architecture", gallery.module("architecture").draw(fewer)) > TOLERANCE
