"""Bring your own CNN: AdaNet over CNNs of two widths, on digits or on the images you name (in $ADANET_DATA).

The command can use the same builders: adanet-train fashion --subnetworks bring_your_own_cnn:nets -o fashion.pt
"""

import sys

import numpy as np
from torch import nn

from adanet_train import AdaNetClassifier
from adanet_train.data import images
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.protocol import Context
from adanet_train.subnetworks.train import Subnetworks


class CNN:
    def __init__(self, width: int) -> None:
        self.width, self.name = width, f"cnn-{width}"

    def build(self, context: Context) -> nn.Module:
        channels, height, width = context.shape
        return nn.Sequential(
            *(nn.Conv2d(channels, self.width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(self.width, 2 * self.width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(2 * self.width * (height // 4) * (width // 4), 64), nn.ReLU(), nn.Linear(64, context.outputs)),
        )


def nets() -> Subnetworks:
    return Subnetworks([CNN(8), CNN(16)], training=Fit(epochs=10, batch=32, rate=3e-3))


if __name__ == "__main__":
    found = images.load(sys.argv[1] if len(sys.argv) > 1 else "digits")
    kept = np.arange(len(found.y)) % 5 > 0  # every fifth point is a test point
    clf = AdaNetClassifier(subnetworks=nets(), rounds=3, verbose=True).fit(found.X[kept], found.y[kept])
    print(clf.summary())
    print(f"test error {1 - clf.score(found.X[~kept], found.y[~kept]):.4f} on {int((~kept).sum())} points")
