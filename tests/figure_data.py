"""The quick data of every figure, computed once in a process, and a small trained model for those that need one."""

import atexit
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

from adanet_train.core.config import Config
from adanet_train.methods import adanet
from adanet_train.model import model_file
from adanet_train.model.trained import model_of
from figures import gallery, runs

NAMES = [*gallery.FIGURES, *gallery.OF_A_MODEL]


@cache
def folder():
    path = Path(tempfile.mkdtemp(prefix="figures-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@cache
def trained():
    """Three rounds of AdaNet, margin declared."""
    config = Config(learner="gradient", rounds=3, width=3, max_depth=3, steps=60, Lambda=2.0, lam=1e-4, rho=0.05)
    return adanet.train(*runs.board(), config)


@cache
def model_path():
    path = folder() / "model.pt"
    model_file.write(path, model_of(trained(), "adanet", features=None, sample=model_file.Sample.of(*runs.board())))
    return path


@cache
def quick(name):
    """compute(quick=True) of that figure, through the gallery and with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gallery.data(name, cache=folder() / "cache", quick=True, model=model_path())
