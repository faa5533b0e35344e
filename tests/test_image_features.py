"""The 154 features: against scikit-image, against Python's own hue, on images made by hand, and their range."""

import colorsys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from skimage.feature import hog

from adanet_train.data.pictures.image_features import NAMES, features, gradient_histograms, hue_histograms, planes
from tests.refusals import refused

any_images = arrays.arrays(np.uint8, st.tuples(st.integers(0, 3), st.just(32), st.just(32), st.just(3)))


def some_images(m: int = 45) -> np.ndarray:
    """Smooth, flat and noisy ones, and grey ones, where all channels tie."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (m, 32, 32, 3))
    images[::3] = images[::3, :1, :1] + np.arange(32)[:, None, None] * rng.integers(-3, 4, (len(images[::3]), 1, 1, 3))
    images[1::3] = images[1::3, ..., :1]
    return images.clip(0, 255).astype(np.uint8)


def test_the_gradients_are_those_of_scikit_image():
    """Cell by cell in its order, up to its division by the cell's sum plus 1e-5; it adds in float32."""
    images = some_images()
    v = gradient_histograms(planes(images)).reshape(len(images), 16, 9)
    ours = v / (v.sum(axis=2, keepdims=True) + 1e-5)
    options = {"orientations": 9, "pixels_per_cell": (8, 8), "cells_per_block": (1, 1), "block_norm": "L1"}
    theirs = [hog(image.astype(np.float64), channel_axis=-1, **options) for image in images]
    np.testing.assert_allclose(ours.reshape(len(images), -1), theirs, rtol=1e-6, atol=1e-9)


def test_a_vertical_edge_has_a_horizontal_gradient_in_two_columns_of_pixels():
    image = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    image[:, :, 12:, 1] = 200  # the central difference meets the edge from columns 11 and 12, both in the second cells
    v = gradient_histograms(planes(image)).reshape(4, 4, 9)
    expected = np.zeros((4, 4, 9))
    expected[:, 1, 0] = 200 * 2 / 8
    assert v.tolist() == expected.tolist()
    turned = gradient_histograms(planes(image.transpose(0, 2, 1, 3))).reshape(4, 4, 9)
    expected = np.zeros((4, 4, 9))
    expected[1, :, 4] = 200 * 2 / 8  # 90 degrees lie in the middle of the fifth bin
    assert turned.tolist() == expected.tolist()
    X = features(image)[0, :144].reshape(4, 4, 9)
    assert X[2, 1, 0] == pytest.approx(2 * np.sqrt(50 / (255 * np.sqrt(2))))


def test_an_edge_and_its_negative_are_one():
    images = some_images()
    negative = features(255 - images)
    np.testing.assert_allclose(negative[:, :144], features(images)[:, :144], rtol=1e-12)


def test_the_channel_with_the_largest_gradient_counts():
    image = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    image[:, :, 12:, 0] = 90
    image[:, 20:, :, 2] = 100
    v = gradient_histograms(planes(image)).reshape(4, 4, 9)
    assert v[2, 1, 4] == 100 * 2 / 8
    assert v[2, 1, 0] == 90 * 2 * 6 / 64  # but for the two rows where the blue edge is the larger one


def test_a_flat_image_has_no_gradient_and_a_grey_one_no_hue():
    assert not features(np.full((1, 32, 32, 3), 77, dtype=np.uint8)).any()
    coloured = np.full((1, 32, 32, 3), (77, 80, 12), dtype=np.uint8)
    assert features(coloured)[0].nonzero()[0].tolist() == [144 + 1]


@pytest.mark.parametrize(
    ("colour", "bin"),
    [
        ((255, 0, 0), 0),
        ((250, 150, 0), 1),  # 36 degrees, the first hue of its bin
        ((250, 149, 0), 0),
        ((5, 3, 0), 1),
        ((255, 0, 102), 9),
        ((255, 0, 103), 9),
        ((0, 9, 0), 3),
        ((0, 7, 7), 5),
        ((0, 0, 1), 6),
        ((9, 0, 1), 9),
        ((255, 254, 254), 0),
    ],
)
def test_one_hue_fills_one_bin(colour, bin):
    image = np.full((1, 32, 32, 3), colour, dtype=np.uint8)
    assert hue_histograms(planes(image))[0].tolist() == [float(i == bin) for i in range(10)]


def test_the_hues_are_those_of_colorsys():
    """On colours whose hue is no border of bins, where its rounding would decide."""
    image = np.random.default_rng(1).integers(0, 256, (1, 32, 32, 3), dtype=np.uint8)
    hues = [10 * colorsys.rgb_to_hsv(*pixel)[0] for pixel in image.reshape(-1, 3).tolist()]
    off = np.array([abs(hue - round(hue)) > 1e-9 for hue in hues])
    image.reshape(-1, 3)[~off] = 128  # grey
    expected = np.bincount([int(hue) for hue, kept in zip(hues, off, strict=True) if kept], minlength=10) / 1024
    assert off.mean() > 0.9
    assert hue_histograms(planes(image))[0].tolist() == expected.tolist()


@given(any_images)
def test_every_image_there_can_be_has_features_in_the_unit_cube(images):
    X = features(images)
    assert X.shape == (len(images), 154)
    assert ((X >= 0) & (X <= 1)).all()
    assert (np.square(X[:, 144:]).sum(axis=1) <= 1 + 1e-12).all()


def test_the_range_is_reached_where_every_pixel_of_a_cell_has_the_steepest_gradient():
    """|g| = 255 √2 in all of a cell: white and black stripes along a diagonal, two pixels wide."""
    i, j = np.indices((32, 32))
    image = np.repeat(np.where((i + j) // 2 % 2 == 0, 255, 0)[None, ..., None], 3, axis=3).astype(np.uint8)
    v = gradient_histograms(planes(image)).reshape(4, 4, 9)
    assert v[1, 1, 2] == pytest.approx(255 * np.sqrt(2), rel=1e-14)
    assert features(image).max() == 1


def test_each_image_by_itself_and_a_name_for_each_feature():
    images = some_images()
    X = features(images)
    assert features(images[7:8]).tolist() == X[7:8].tolist()
    assert features(images[::-1]).tolist() == X[::-1].tolist()
    assert (len(set(NAMES)), NAMES[9], NAMES[36], NAMES[-1]) == (154, "hog_0_1_0", "hog_1_0_0", "hue_9")


def test_other_images_are_refused():
    for images in (np.zeros((1, 32, 32, 3)), np.zeros((1, 28, 28), dtype=np.uint8)):
        refused(lambda images=images: features(images), "images", "uint8", "(m, 32, 32, 3)", "got")
