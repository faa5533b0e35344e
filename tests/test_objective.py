"""The objective and its penalty: Γ = λ r + β with the widths of the declared family, and as a bound on the risk."""

import math

import pytest
import torch

from adanet_theory.complexity import estimates, rademacher
from adanet_theory.risk.generalization import objective_bound
from adanet_train.convex.labels import Signs
from adanet_train.core.config import DEFAULTS, HOMES, Config
from adanet_train.core.network import Network
from adanet_train.core.surrogates import surrogate
from adanet_train.core.training import Trained, begin, check_resume, check_sample
from adanet_train.search import objective
from adanet_train.search.complexity import penalty
from tests.refusals import refused

M, N_0 = 50, 4


def uniform(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


PSI = 0.9 * uniform(M, N_0) - 0.3
H = uniform(M, 3, seed=1)


def Gamma(k: int, **options) -> list[float]:
    config = Config(**{"rounds": 4, "width": 10, "lam": 1e-5} | options)
    return penalty(config, config.declared(N_0), PSI)(k, H).tolist()


def test_lemma_2_by_hand_at_the_maximal_widths():
    r_inf = PSI.abs().max().item()
    # n_1 = T B = 40 although no unit is there yet.
    r_2 = r_inf * (2 * 1.5) ** 2 * math.sqrt(N_0 * 40) * math.sqrt(math.log(2 * N_0) / (2 * M))
    assert Gamma(2, p=2.0, Lambda=1.5, lam=0.5, beta=0.25) == pytest.approx([0.5 * r_2 + 0.25] * 3, rel=1e-13)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_complexities_of_the_layer(k):
    config = Config(rounds=4, width=10)
    spec = config.declared(N_0)
    r_rms = PSI.square().mean(0).max().sqrt().item()
    peeled = rademacher.peeled_complexity(spec, k, m=M, r_rms=r_rms)
    assert Gamma(k, lam=1.0, complexity="lemma-2-peeled") == pytest.approx([peeled] * 3)
    assert Gamma(k, lam=1.0, complexity="sqrt-depth") == pytest.approx([math.sqrt(k)] * 3)
    lower = Gamma(k, lam=1.0, complexity="sampled")[0]
    assert lower < peeled


def test_sampled_complexity_is_near_the_exact_one():
    Psi = PSI[:12]
    config = Config(rounds=4, width=10, lam=1.0, complexity="sampled")
    spec = config.declared(N_0)
    exact = estimates.linear_complexity(Psi.numpy(), Config(max_depth=1).declared(N_0)).mean
    assert penalty(config, spec, Psi)(1, H).tolist() == pytest.approx([exact] * 3, rel=0.05)


def test_sd_and_a_function_of_ones_own():
    expected = H.std(0, correction=0).mul(0.5).add(0.1).tolist()
    assert Gamma(2, complexity="sd", lam=0.5, beta=0.1) == pytest.approx(expected)
    assert Gamma(2, variant="SD", lam=0.5, beta=0.1) == pytest.approx(expected)
    assert Gamma(3, complexity=lambda spec, k, Psi, H: k * len(Psi), lam=2.0) == [300.0] * 3
    refused(lambda: Gamma(1, complexity=lambda spec, k, Psi, H: math.nan), "r must be finite and >= 0")


def test_sigmoid_has_a_peeled_complexity_but_no_lemma_2():
    assert Gamma(2, complexity="lemma-2-peeled", activation="sigmoid")[0] > 0
    refused(lambda: Gamma(2, activation="sigmoid"), "phi-zero")


@pytest.mark.claim("objective-bound")
@pytest.mark.parametrize("complexity", ["lemma-2", "lemma-2-peeled"])
@pytest.mark.parametrize("largest_rho", [False, True])
@pytest.mark.parametrize("Phi", ["logistic", "exponential", "logistic2"])
def test_the_bound_objective_is_the_bound(complexity, largest_rho, Phi):
    config = Config(
        rounds=4, width=3, objective="bound", complexity=complexity, largest_rho=largest_rho, surrogate=Phi, max_depth=3
    )
    spec = config.declared(N_0)
    network = Network(
        (N_0, 3, 3, 3),
        {(1, 0): 0.1 * uniform(3, N_0), (2, 1): 0.2 * uniform(3, 3), (3, 2): uniform(3, 3)},
        {1: uniform(3, seed=2), 2: -uniform(3, seed=3), 3: uniform(3, seed=4)},
        ("relu", "relu"),
    )
    y = torch.where(uniform(M, seed=5) > 0.5, 1.0, -1.0).double()
    price = penalty(config, spec, PSI)
    F = objective.value(network, PSI, y, {k: price(k, H) for k in (1, 2, 3)}, Signs(surrogate(Phi)))

    w_norms = [network.output[k].abs().sum().item() for k in (1, 2, 3)]
    ranges = rademacher.ranges(spec, r_sup=1.0)
    if complexity == "lemma-2":
        R_m = [rademacher.layered_complexity(spec, k, m=M, r_inf=1.0) for k in (1, 2, 3)]
    else:
        R_m = [rademacher.peeled_complexity(spec, k, m=M, r_rms=1.0) for k in (1, 2, 3)]
    loss = surrogate(Phi).value(1 - y * network(PSI)).mean().item()
    rho = surrogate(Phi).rho_max if largest_rho else 1.0
    bound = objective_bound(loss, w_norms, R_m, m=M, delta=0.05, M=ranges, rho=rho)
    assert pytest.approx(sum(bound.terms.values()) - bound.terms["confidence"], rel=1e-12) == F


def test_the_bound_objective_refuses_what_is_not_a_bound():
    refused(lambda: Config(objective="bound", complexity="sampled"), "lemma-2")
    refused(lambda: Config(objective="bound", enforce=False), "enforce")
    refused(lambda: Gamma(1, objective="bound", r_sup=0.1), "r_sup")


def test_value_by_hand():
    network = Network((1, 2), {(1, 0): torch.tensor([[1.0], [-2.0]])}, {1: torch.tensor([0.5, -0.25])}, ())
    Psi, y = torch.tensor([[1.0], [-1.0]]), torch.tensor([1.0, 1.0])
    # f = ψ: 0.5 ψ + 0.5 ψ
    F = (math.log(1 + 1) + math.log(1 + math.e**2)) / 2 + 0.1 * 0.5 + 0.2 * 0.25
    assert objective.value(
        network, Psi, y, {1: torch.tensor([0.1, 0.2])}, Signs(surrogate("logistic"))
    ) == pytest.approx(F)


def test_penalties_come_back_from_the_history():
    records = [
        objective.record([2, 2], 0.5, {2: torch.tensor([0.1, 0.1])}),
        objective.record([1], 0.4, {1: torch.tensor([0.3])}),
        objective.record([1, 2], 0.3, {1: torch.tensor([0.3]), 2: torch.tensor([0.2, 0.4])}),
    ]
    assert records[0] == {"depth": 2, "units": [2, 2], "objective": 0.5, "Gamma": {"2": pytest.approx(0.1)}}
    history = [{"candidates": [record], "chosen": 0, "objective": 0.0} for record in records]
    history.append({"candidates": records, "chosen": -1, "objective": 0.0})
    output = {1: torch.zeros(4).double(), 2: torch.zeros(4).double()}
    network = Network((3, 4, 4), {}, output, ("relu",))
    Gamma = objective.penalties(Trained(network, None, history, Config()))
    assert Gamma[1].tolist() == pytest.approx([0, 0, 0.3, 0.3])
    assert Gamma[2].tolist() == pytest.approx([0.1, 0.1, 0.2, 0.4])


# The configuration


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0.5}, r"p must be in \[1, inf\], got p=0.5"),
        ({"p": math.nan}, "p must be"),
        ({"Lambda": 0.0}, "Lambda must be finite and > 0"),
        ({"lam": -1.0}, "lam must be finite and >= 0, got lam=-1.0"),
        ({"beta": math.inf}, "beta"),
        ({"rounds": 0}, "rounds must be an integer >= 1, got 0"),
        ({"width": 1.5}, "width"),
        ({"batch": 0}, "batch"),
        ({"seed": -1}, "seed"),
        ({"surrogate": "hinge"}, "surrogate"),
        ({"activation": "swish"}, "activation"),
        ({"complexity": "vc"}, "complexity must be one of"),
        ({"variant": "Q"}, "variant must be one of base, R, P, D, SD, got variant='Q'"),
        ({"outputs": "some"}, "outputs"),
        ({"step": "newton"}, "step"),
        ({"dropout": 1.0}, "dropout"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"rho": 0.0}, "rho"),
        ({"max_depth": 0}, "max_depth"),
        ({"candidates": ((0, 0),)}, "at least one unit"),
        ({"candidates": ((2, 5),)}, "max_depth"),
    ],
)
def test_config_says_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        Config(**options)


def test_a_config_knows_its_names():
    refused(lambda: Config(round=3), "'round'", "'rounds'", error=TypeError)
    config = Config(rounds=3, lam=0.5)
    assert config.replace(lam=None) == Config(rounds=3) != config
    assert Config(**config.settings()) == config == eval(repr(config))
    assert config.changes() == {"rounds": 3, "lam": 0.5}
    assert HOMES.keys() == DEFAULTS.keys() == config.as_dict().keys()


SIGNS, INDICES = torch.tensor([1.0, -1.0]), torch.tensor([0, 1, 2])


@pytest.mark.parametrize(
    ("asked", "method", "y", "m", "filled_in"),
    [
        ({}, "adanet", SIGNS, 100, {"learner": "committee", "lam": None, "width": 50, "members": 8}),
        ({}, "adanet", INDICES, 20_000, {"learner": "committee", "lam": None, "width": 100, "members": 4}),
        ({}, "adanet", SIGNS, 200_000, {"learner": "committee", "width": 100, "members": 2}),
        ({"members": 8}, "adanet", SIGNS, 9, {"members": 4}),
        ({"variant": "P"}, "adanet", SIGNS, 100, {"learner": "gradient", "lam": 1e-5, "width": 100, "members": None}),
        ({"outputs": "all"}, "adanet", SIGNS, 100, {"learner": "gradient", "lam": 1e-5}),
        ({"corrective": True, "lam": 0.1}, "adanet", INDICES, 100, {"learner": "units", "lam": 0.1}),
        ({"learner": "gradient"}, "adanet", INDICES, 100, {"learner": "units", "lam": 1e-5}),
        ({"objective": "description"}, "adanet", SIGNS, 100, {"learner": "gradient", "lam": 1e-5, "width": None}),
        ({"objective": "vote"}, "adanet", SIGNS, 100, {"learner": "gradient", "rounds": 1, "max_depth": 1}),
        ({"objective": "vote"}, "adanet", INDICES, 100, {"learner": "units", "rounds": 1, "max_depth": 1}),
        ({}, "cvx", SIGNS, 100, {"learner": "gradient", "lam": 1e-5, "width": None, "step": "closed-form"}),
        ({}, "cvx-exact", SIGNS, 100, {"lam": 1e-5, "step": "exact"}),
        ({}, "nn", INDICES, 100, {"learner": "units", "lam": 1e-5}),
    ],
)
def test_resolve_fills_in_what_is_open(asked, method, y, m, filled_in):
    minimum = Config(**asked).resolve(method, y, m)
    assert {name: minimum[name] for name in filled_in} == filled_in
    assert minimum.resolve(method, y, m) == minimum
    open_again = minimum.opened(method, y, m)
    assert open_again.resolve(method, y, m) == minimum
    assert {"learner", "lam", "members"} & open_again.changes().keys() <= asked.keys() | {"learner"}


def test_a_run_from_before_is_taken_up():
    """The file of an earlier version left width and members open; both are resolved before they are compared."""
    before = Config(learner="committee", lam=None, rounds=2)
    trained = Trained(Network.empty(N_0), None, [], before)
    y = torch.where(PSI[:, 0] > PSI[:, 0].median(), 1.0, -1.0)
    assert begin("adanet", PSI, y, Config(rounds=2), resume=trained)[2] == before.resolve("adanet", y, M)
    refused(lambda: begin("adanet", PSI, y, Config(rounds=2, width=51), resume=trained), "changed: width")


def test_config_survives_a_file():
    config = Config(p=math.inf, Lambda=(1.0, 2.0), max_depth=2, candidates=((0, 3), (1, 5)), hidden=(4, 5))
    assert Config.from_dict(config.as_dict()) == config
    named = Config(complexity=math.hypot).as_dict()["complexity"]
    assert named == "math:hypot"


@pytest.mark.parametrize(
    ("Psi", "y", "message"),
    [
        (torch.ones(3), torch.ones(3), "matrix"),
        (torch.ones(3, 0), torch.ones(3), "n_0=0"),
        (torch.ones(3, 2), torch.ones(2), "one label per row"),
        (torch.ones(1, 2), torch.ones(1), "m must be >= 2"),
        (torch.full((3, 2), math.nan), torch.tensor([1.0, -1, 1]), "Psi must be finite"),
        (torch.ones(3, 2), torch.tensor([0.0, 1, 1]), "y must be -1 or"),
        (torch.ones(3, 2), torch.tensor([1.0, 1, 1]), "both classes"),
    ],
)
def test_sample_says_what_is_wrong(Psi, y, message):
    with pytest.raises(ValueError, match=message):
        check_sample(Psi, y)


def test_resume_needs_the_same_config():
    trained = Trained(Network.empty(2), None, [], Config(lam=0.5))
    check_resume(trained, Config(lam=0.5, jobs=2))
    refused(lambda: check_resume(trained, Config(lam=0.25)), "changed: lam")
