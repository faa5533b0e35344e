"""9 planes of 7x7 numbers of a 28x28 grey image: how much its strokes run in 8 directions, and its grey itself.

The pixels are divided by 255 and blurred by (1, 2, 1)/4 along both axes; g are central differences, and beyond the
border all is 0. Plane u = 0..7 is |g| relu(cos(angle of g - 45° u))^3, plane 8 the grey. Each is averaged with
triangular weights that reach 4 pixels to both sides of the centres 1.5, 5.5, .., 25.5, multiplied by 8 (the grey by 2),
and put on a grid of 1/64. Before that, `upright` images are sheared along their rows until their second moment μ11 is
0, and moved so that their centre of mass is the centre of the image (bilinear). Nothing here is fitted to a sample.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from adanet_theory.checks import check

SIDE, CELLS, DIRECTIONS = 28, 7, 8
PLANES = DIRECTIONS + 1
GRID = 64
STEEPEST = 1.0
"""Largest shear, in columns a row."""
CHUNK = 2000


def features(images: Any, *, upright: bool = False) -> Tensor:
    """The planes [m, 9, 7, 7] of images [m, 28, 28] of bytes, in float32."""
    images = np.asarray(images)
    sound = images.dtype == np.uint8 and images.shape[1:] == (SIDE, SIDE)
    check(sound, f"images must be uint8 of shape (m, 28, 28), got {images.dtype} of shape {images.shape}.")
    parts = [torch.zeros(0, PLANES, CELLS, CELLS)]
    for start in range(0, len(images), CHUNK):
        grey = torch.from_numpy(images[start : start + CHUNK].astype(np.float32)) / 255
        parts.append(planes(stand(grey) if upright else grey))
    return torch.cat(parts)


def stand(grey: Tensor) -> Tensor:
    """Images [m, 28, 28] sheared upright and centred; one without ink stays as it is."""
    at = torch.arange(SIDE, dtype=torch.float32)
    mass = grey.sum(dim=(1, 2)).clamp(min=1e-6)
    row, column = (grey.sum(dim=axis) @ at / mass for axis in (2, 1))
    down, right = at - row[:, None], at - column[:, None]
    down_2 = (grey.sum(dim=2) * down**2).sum(dim=1)
    both = torch.einsum("mij,mi,mj->m", grey, down, right)
    shear = (both / down_2.clamp(min=1e-6)).clamp(-STEEPEST, STEEPEST)
    middle = (SIDE - 1) / 2
    ink = (grey.sum(dim=(1, 2)) > 0).float()
    i = at + (ink * (row - middle))[:, None]
    j = (
        at[None, None, :]
        + (ink * (column - middle))[:, None, None]
        + (ink * shear)[:, None, None] * (at - middle)[:, None]
    )
    place = torch.stack([j, i[:, :, None].expand_as(j)], dim=-1) / middle - 1
    return functional.grid_sample(grey[:, None], place, padding_mode="zeros", align_corners=True)[:, 0]


def planes(grey: Tensor) -> Tensor:
    """The planes of images [m, 28, 28] with numbers in [0, 1]."""
    blur = torch.tensor([1.0, 2.0, 1.0]) / 4
    soft = functional.conv2d(grey[:, None], torch.outer(blur, blur)[None, None], padding=1)
    across = functional.pad(soft, (1, 1))[..., 2:] - functional.pad(soft, (1, 1))[..., :-2]
    down = functional.pad(soft, (0, 0, 1, 1))[:, :, 2:] - functional.pad(soft, (0, 0, 1, 1))[:, :, :-2]
    square = (across**2 + down**2).clamp(min=1e-12)
    angles = torch.arange(DIRECTIONS) * (2 * math.pi / DIRECTIONS)
    along = across * angles.cos()[:, None, None] + down * angles.sin()[:, None, None]
    strokes = along.clamp(min=0) ** 3 / square
    triangle = 1 - (torch.arange(8) - 3.5).abs() / 4
    weights = torch.outer(triangle, triangle)
    weights = weights / weights.sum()
    every = torch.cat([8 * strokes, 2 * soft], dim=1)
    pooled = functional.conv2d(every, weights.expand(PLANES, 1, 8, 8), padding=2, stride=4, groups=PLANES)
    return (pooled * GRID).round() / GRID
