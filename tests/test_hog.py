"""The histograms of gradients of 28x28 images, against a loop over cells and pixels."""

import math

import numpy as np

from adanet_train.data.pictures import hog
from tests.refusals import refused


def slow(image: np.ndarray) -> list[float]:
    grey = image.astype(int)
    values = []
    for top in range(0, 21, 4):
        for left in range(0, 21, 4):
            v = [0.0] * 8
            for i in range(top, top + 8):
                for j in range(left, left + 8):
                    dx = grey[i, j + 1] - grey[i, j - 1] if 0 < j < 27 else 0
                    dy = grey[i + 1, j] - grey[i - 1, j] if 0 < i < 27 else 0
                    after, share = divmod(math.degrees(math.atan2(dy, dx)) % 360 / 45, 1)
                    v[int(after) % 8] += (1 - share) * math.hypot(dx, dy) / 64
                    v[int(after + 1) % 8] += share * math.hypot(dx, dy) / 64
            values += [min(1.0, 3 * math.sqrt(x / (255 * math.sqrt(2)))) for x in v]
    return values


def test_the_features_are_those_of_the_loop():
    images = np.random.default_rng(0).integers(0, 256, (2, 28, 28), dtype=np.uint8)
    images[1, 5:20, 7:11] = 255
    np.testing.assert_allclose(hog.features(images), [slow(image) for image in images], atol=1e-6)
    assert len(hog.NAMES) == 288


def test_no_image_leaves_the_unit_interval():
    stripes = np.zeros((1, 28, 28), dtype=np.uint8)
    stripes[:, :, ::4] = stripes[:, :, 1::4] = 255
    assert hog.features(stripes).max() == 1
    assert hog.features(np.zeros((3, 28, 28), dtype=np.uint8)).max() == 0


def test_other_images_are_refused():
    refused(lambda: hog.features(np.zeros((1, 32, 32), dtype=np.uint8)), "uint8 of shape")
