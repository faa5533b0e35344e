"""Baseline pictures of a few figures; `python -m tests.figure_images` makes them anew after a change that was meant.

They are drawn without text, keys and a layout that depend on fonts, so that only what the data show is compared.
"""

from pathlib import Path

import numpy as np
from matplotlib import image

from figures import architecture, gallery
from tests.figure_data import quick

FOLDER = Path(__file__).parent / "images"
CURVES = ("bounds-against", "sigmoid-counterexample", "closed-form-step", "training-rounds")
NAMES = (*CURVES, "architecture", "vacuity-map")
# 255 is black against white. Equal data differ by 0; the least of the changes in test_figures_images makes 1.15.
TOLERANCE = 0.8


def data(name):
    """The quick data; for a network and a history, whose weights depend on the machine's rounding, fixed ones."""
    return {"architecture": NETWORK, "training-rounds": ROUNDS}.get(name) or quick(name)


NETWORK = {
    "n": [2, 3, 2],
    "shown": [[0, 1], [0, 1, 2], [0, 1], [0]],
    "edges": [
        [1, 0, 0, 0, 1.0],
        [1, 1, 0, 0, -0.5],
        [1, 1, 0, 1, 0.7],
        [1, 2, 0, 1, -1.0],
        [2, 0, 1, 0, 0.8],
        [2, 0, 1, 2, -0.8],
        [2, 1, 1, 1, 0.4],
        [3, 0, 1, 0, 0.3],
        [3, 0, 2, 0, 1.0],
        [3, 0, 2, 1, -0.6],
    ],
    "connections": 14,
    "activation": "relu",
}
ROUNDS = {
    "rounds": [
        {
            "objective": F,
            "depth": depth,
            "chosen": chosen,
            "candidates": [
                {"deeper": False, "depth": depth, "objective": same},
                {"deeper": True, "depth": depth + 1, "objective": deeper},
            ],
        }
        for F, depth, chosen, same, deeper in [
            (1.0, 2, 1, 1.2, 1.0),
            (0.8, 2, 0, 0.8, 0.95),
            (0.5, 3, 1, 0.7, 0.5),
            (0.5, 3, -1, 0.5, 0.52),
        ]
    ],
    "model": None,
}


def pixels(figure):
    """The drawing at 80 dots an inch, rows by columns by colours, 0 to 255."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    figure.set_layout_engine("none")
    figure.set_dpi(80)
    canvas = FigureCanvasAgg(figure)
    for part in (*figure.findobj(Text), *figure.findobj(Legend)):
        part.set_visible(False)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(float)


def baseline(name):
    return 255 * image.imread(FOLDER / f"{name}.png")[..., :3].astype(float)


def difference(name, figure):
    """The root mean square over all pixels and colours; inf where the sizes differ."""
    drawn, kept = pixels(figure), baseline(name)
    return float(np.sqrt(np.mean((drawn - kept) ** 2))) if drawn.shape == kept.shape else np.inf


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        figure = (architecture if name == "architecture" else gallery.module(name)).draw(data(name))
        image.imsave(FOLDER / f"{name}.png", pixels(figure).astype(np.uint8), metadata={"Software": None})


if __name__ == "__main__":
    main()
