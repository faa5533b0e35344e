"""NN-GP: the hyperparameters of a network by a Gaussian process (optuna's GPSampler), in the paper's ranges.

Trial n depends only on the seed, on n and on the trials before it, and its parameters are in the store like any result:
a search that was killed continues as if it had not stopped.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from verify.experiments.running.grids import Setting, Space
from verify.experiments.running.selection import Choice, Result, best
from verify.experiments.running.store import Store

if TYPE_CHECKING:
    from optuna import Study

Evaluate = Callable[[Setting], Sequence[Result]]
"""The results of a setting, one per fold."""


def search(space: Space, evaluate: Evaluate, store: Store, label: Mapping[str, Any], seed: int) -> Choice:
    """The best of space.trials settings; `label` tells this search from others in the store."""
    try:
        import optuna
    except ImportError:
        raise ValueError("nn-gp needs optuna: pip install 'adanet-theory[experiments]'.") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize")
    settings: list[Setting] = []
    results: list[Sequence[Result]] = []
    ranges = {name: value for name, value in asdict(space).items() if name != "trials"}
    for number in range(space.trials):
        description = {"search": "gp", **label, "seed": seed, "space": ranges, "number": number}
        parameters = store.get(description)
        if parameters is None:
            parameters = suggest(study, space, seed, number)
            store.put(description, parameters)
        setting = setting_of(parameters, space)
        scored = evaluate(setting)
        study.add_trial(
            optuna.trial.create_trial(
                params=parameters,
                distributions=distributions(space),
                value=statistics.fmean(result["validation"] for result in scored),
            )
        )
        settings.append(setting)
        results.append(scored)
    return best(settings, results)


def distributions(space: Space) -> dict[str, Any]:
    from optuna.distributions import FloatDistribution, IntDistribution

    return {
        "lam": FloatDistribution(*space.lam, log=True),
        "learning_rate": FloatDistribution(*space.learning_rate, log=True),
        "layers": IntDistribution(*space.layers),
        "units": IntDistribution(*space.units, log=True),
    }


def suggest(study: Study, space: Space, seed: int, number: int) -> dict[str, Any]:
    """What a sampler made for this trial alone proposes after the trials that the study holds."""
    from optuna.exceptions import ExperimentalWarning
    from optuna.samplers import GPSampler
    from optuna.trial import TrialState

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        study.sampler = GPSampler(
            seed=1000 * seed + number, n_startup_trials=space.random, deterministic_objective=False
        )
    probe = study.ask(distributions(space))
    study.tell(probe, state=TrialState.FAIL)  # it only served to ask
    return dict(probe.params)


def setting_of(parameters: Mapping[str, Any], space: Space) -> Setting:
    return {
        **space.fixed,
        "lam": parameters["lam"],
        "learning_rate": parameters["learning_rate"],
        "hidden": (parameters["units"],) * parameters["layers"],
    }
