"""The numbers of the paper's tables and protocols, stored once, as printed."""

from __future__ import annotations

# Table 1 (lines 814-838): accuracy and standard deviation over ten folds
ACCURACY: dict[str, dict[str, tuple[float, float]]] = {
    "deer-truck": {
        "AdaNet": (0.9372, 0.0082),
        "LR": (0.8997, 0.0066),
        "NN": (0.9213, 0.0065),
        "NN-GP": (0.9220, 0.0069),
    },
    "deer-horse": {
        "AdaNet": (0.8430, 0.0076),
        "LR": (0.7685, 0.0119),
        "NN": (0.8055, 0.0178),
        "NN-GP": (0.8060, 0.0181),
    },
    "automobile-truck": {
        "AdaNet": (0.8461, 0.0069),
        "LR": (0.7976, 0.0076),
        "NN": (0.8063, 0.0064),
        "NN-GP": (0.8056, 0.0138),
    },
    "cat-dog": {"AdaNet": (0.6924, 0.0129), "LR": (0.6664, 0.0099), "NN": (0.6595, 0.0141), "NN-GP": (0.6607, 0.0097)},
    "dog-horse": {
        "AdaNet": (0.8350, 0.0089),
        "LR": (0.7968, 0.0128),
        "NN": (0.8066, 0.0087),
        "NN-GP": (0.8087, 0.0109),
    },
}

# Table 2 (lines 1028-1051): average units of AdaNet's first and second layer, of NN and of NN-GP
UNITS: dict[str, tuple[int, int, int, int]] = {
    "deer-truck": (990, 0, 2048, 1050),
    "deer-horse": (1475, 0, 2048, 488),
    "automobile-truck": (2000, 0, 2048, 1595),
    "cat-dog": (1800, 25, 512, 155),
    "dog-horse": (1600, 0, 2048, 1273),
}

# Table 3 (lines 1054-1076), deer-truck
VARIANTS: dict[str, tuple[float, float]] = {
    "AdaNet.SD": (0.9309, 0.0069),
    "AdaNet.R": (0.9336, 0.0075),
    "AdaNet.P": (0.9321, 0.0065),
    "AdaNet.D": (0.9376, 0.0080),
}

# Table 4 (lines 1182-1200) and the split (lines 1151-1155)
CRITEO_ACCURACY = {"AdaNet": 0.7846, "NN": 0.7811}
CRITEO_TRAIN, CRITEO_HELD_OUT = 32_743_299, 6_548_659

# The protocol on CIFAR-10 (lines 935-1006)
FOLDS, POINTS = 10, 12_000  # two classes of 6,000 images
TRAIN_SIZE, TEST_SIZE = 9_600, 1_200
ADANET_GRID = {"lambda": 6, "B": 3, "eta": 4, "Lambda": 5}
NN_GRID = {"eta": 4, "l": 3, "n": 5, "lambda": 6}
BLOCKS = (100, 150, 250)  # B
GP_TRIALS, ROUNDS, STEPS = 500, 30, 10_000
