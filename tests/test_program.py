"""The program and the formula: errors are the program's own, whatever exact arithmetic can decide."""

import json
import time
from fractions import Fraction

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from adanet_theory.certificates.vote import vote_b
from adanet_theory.certificates.vote_multiclass import classes_b
from adanet_theory.complexity.rademacher import peeled_complexity
from adanet_theory.risk.generalization import margin_bound, margin_bound_uniform_at
from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Network
from adanet_train.model.model_file import ModelFile, Sample
from adanet_train.reading.arithmetic import difference
from adanet_train.reading.trace import trace
from tests.refusals import says
from verify import verify_bounds
from verify.measure.arithmetic import ETA
from verify.measure.effort import Purse
from verify.measure.margins import margins
from verify.reading.program import ModuleProgram, NamedProgram, decided
from verify.reading.subject import _arithmetic, subject
from verify.records.question import Question
from verify.rows import report


def test_decisions_of_one_two_and_more_outputs_with_ties_and_nan():
    assert decided(np.array([[1.0], [-0.0], [np.nan], [-np.inf]])).tolist() == [1, 0, 0, -1]
    assert decided(np.array([[np.inf, np.inf], [0.0, 1e-300], [np.nan, 1.0]])).tolist() == [0, 1, 0]
    assert decided(np.array([[1.0, 2.0, 2.0], [np.nan, 1.0, 2.0], [-3.0, -1.0, -2.0]])).tolist() == [-1, -1, 1]


def test_a_module_runs_in_its_own_type_of_numbers():
    module = nn.Linear(1, 1, bias=False, dtype=torch.bfloat16)
    nn.init.ones_(module.weight)
    assert ModuleProgram(module).outputs(np.array([[1.001], [3.0]]))[:, 0].tolist() == [1.0, 3.0]


def test_names_become_decisions_and_unknown_ones_none():
    two = NamedProgram(lambda X: np.array(["b", "a", "c"]), ("a", "b"))
    assert two.predict(np.zeros((3, 1))).tolist() == [1, -1, 0]
    three = NamedProgram(lambda X: np.array([7, 9, 8, 1]), (7, 8, 9))
    assert three.predict(np.zeros((4, 1))).tolist() == [0, 2, 1, -1]


class _Swallowed(nn.Module):
    """In float32 the bias takes x with it, in float64 it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(1, 1), nn.Linear(1, 1)
        with torch.no_grad():
            for part, bias in ((self.up, 2.0**26), (self.down, -(2.0**26))):
                part.weight.fill_(1.0)
                part.bias.fill_(bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x))


def test_errors_of_a_float32_module_are_its_own():
    X = np.random.default_rng(0).choice([-1.0, 1.0], (60, 1)) + np.arange(60)[:, None] / 1e3
    y = np.sign(X[:, 0])
    answer = verify_bounds(_Swallowed().eval(), X[:40], y[:40], test=(X[40:], y[40:]), draws=None)
    assert answer.sample.train_error == 1
    assert answer.test.error == 1


@pytest.mark.parametrize("r_sup", [None, 2])
def test_nothing_said_of_the_formula_is_cited_for_a_program_that_is_not_tied_to_it(r_sup):
    """In real numbers f = x, in float32 f = 0: the citation was .25 for a program whose risk is 1."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], (4000, 1)) + np.arange(4000)[:, None] / 1e4
    answer = verify_bounds(_Swallowed().eval(), X, np.sign(X[:, 0]), draws=None, r_sup=r_sup)
    assert answer.cite is None
    assert "arithmetic" in answer.bounds["a-posteriori"].why_not
    rows = {row["id"]: row["about"] for row in json.loads(answer.to_json())["bounds"]}
    assert rows.pop("occam-certificate") == "program"  # it counts the program's own errors, which are all
    assert set(rows.values()) == {"formula"}
    assert answer.verdict == "holds"


def _classifier(dtype, inplace=False):
    """f = 8 relu(x_1) - 8 relu(-x_1): every margin of the points below is its path norm."""
    module = nn.Sequential(nn.Linear(3, 2, bias=False), nn.ReLU(inplace=inplace), nn.Linear(2, 1, bias=False))
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
        module[2].weight.copy_(torch.tensor([[4.0, -4.0]]))
    return module.to(dtype).eval()


def _signs(m=20_000, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.uniform(-1, 1, (m, 3))
    X[:, 0] = np.sign(X[:, 0])
    return X, X[:, 0].copy()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_tied_program_is_cited_at_the_ramp_from_eta_rho_and_the_steeper_complexity(dtype):
    X, y = _signs()
    formula = verify_bounds(_classifier(torch.float64), X, y, draws=None, cite="a-posteriori")
    tied = verify_bounds(_classifier(dtype), X, y, draws=None, r_sup=1, cite="a-posteriori")
    eta = Fraction(ETA[str(dtype).removeprefix("torch.")])
    row, plain = tied.bounds["a-posteriori"], formula.bounds["a-posteriori"]
    assert (row.about, plain.about) == ("program", "formula")
    assert row.j == plain.j
    assert row.terms["complexity"] == pytest.approx(plain.terms["complexity"] / float(1 - eta), rel=1e-12)
    assert row.terms["confidence"] == plain.terms["confidence"]
    assert "r-sup" in tied.cite.assumes
    status = {row.id: row.status for row in tied.assumptions}["arithmetic"]
    assert status == ("holds" if dtype == torch.float64 else "assumed")
    assert ("arithmetic" in tied.cite.assumes) == (dtype == torch.float32)
    assert (tied.cite.about, formula.cite.about) == ("program", "formula")
    assert tied.cite.value == row.value >= plain.value


def test_a_float32_program_without_a_range_is_not_cited_and_one_in_float64_names_what_it_assumes():
    X, y = _signs()
    short = verify_bounds(_classifier(torch.float32), X, y, draws=None, cite="a-posteriori")
    assert short.cite is None
    assert {row.id: row.status for row in short.assumptions}["arithmetic"] == "open"
    double = verify_bounds(_classifier(torch.float64), X, y, draws=None, cite="a-posteriori")
    assert "arithmetic" in double.cite.assumes


def test_a_bfloat16_program_is_too_coarse_for_a_margin_that_needs_the_tie():
    module = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).to(torch.bfloat16).eval()
    X = np.random.default_rng(0).uniform(-1, 1, (300, 64))
    y = np.where(ModuleProgram(module).predict(X) > 0, 1.0, -1.0)
    answer = verify_bounds(module, X, y, draws=None, r_sup=1)
    assert answer.sample.train_error == np.mean(ModuleProgram(module).predict(X) != y)
    assert {row.about for id, row in answer.bounds.items() if id != "occam-certificate"} == {"formula"}
    assert answer.cite is None


def test_the_ramp_from_eta_rho_counts_points_below_it_as_errors():
    X, y = np.array([[1.0], [0.3], [0.6]]), np.ones(3)
    enclosed = margins(trace(_identity(), (1,)), X, y)
    assert enclosed.ramp(1.0) == pytest.approx((0 + 0.7 + 0.4) / 3)
    assert enclosed.ramp(1.0, 0.5) == pytest.approx((0 + 1 + 0.8) / 3)
    assert enclosed.ramp(1.0, 0.5) >= Fraction(0.4) / Fraction(1, 2) / 3


def _identity():
    module = nn.Linear(1, 1, bias=False, dtype=torch.float64)
    nn.init.ones_(module.weight)
    return module


# Every statement: its shift is proved, or it is about the formula


def _family(dtype, rho, r_sup=1):
    X, y = _signs(4000)
    spec = NetworkSpec.layered((3, 2, 1), (1.0, 8.0), p=1, activations="relu")
    return verify_bounds(_classifier(dtype), X, y, draws=None, r_sup=r_sup, declared=spec, rho=rho), spec


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_bounds_of_a_family_are_about_the_program_at_the_narrower_ramp(dtype):
    """margin-bound computed apart, at a ramp from ηρ to ρ: the margins are all 4, its width (1-η)ρ."""
    eta = ETA[str(dtype).removeprefix("torch.")]
    answer, spec = _family(dtype, rho="4.1")
    ramp = (1 - 4 / 4.1) / (1 - eta)
    R = [peeled_complexity(spec, k, m=4000, r_rms=1.0) for k in (1, 2)]
    message = margin_bound(ramp, [0.0, 1.0], R, rho=(1 - eta) * 4.1, m=4000, delta=0.05, M=8.0)
    row = answer.bounds["margin-bound"]
    assert row.about == "program"
    assert row.rho == 4.1
    assert row.raw == pytest.approx(message.total, rel=1e-9)
    uniform = answer.bounds["margin-bound-uniform"]
    ramp = min(1.0, max(0.0, (1 - 4 / uniform.rho) / (1 - eta)))
    plain = margin_bound_uniform_at(uniform.j, ramp, [0.0, 1.0], R, m=4000, delta=0.05, M=[1.0, 8.0])
    assert uniform.about == "program"
    for name in ("complexity", "depth"):
        assert uniform.terms[name] == pytest.approx(plain.terms[name] / (1 - eta), rel=1e-9)
    every = {
        row.id: row for row in answer.bounds.values() if row.group in ("paper", "corrected") and row.raw is not None
    }
    assert {row.about for row in every.values()} == {"program"}
    assert every["theorem-1-range"].terms["margin_error"] == 1


def test_bounds_of_a_family_are_about_the_formula_without_a_range_and_do_not_apply_in_float32():
    for dtype in (torch.float64, torch.float32):
        answer, _ = _family(dtype, rho="3.9", r_sup=None)
        row = answer.bounds["unbounded-empirical"]
        assert row.about == "formula"
        assert ("arithmetic" in row.why_not) == (dtype == torch.float32)


def _linear_module(dtype):
    module = nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
    return module.to(dtype).eval()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_vote_certificate_is_about_the_program_with_b_at_its_shift(dtype):
    X, y = _signs(4000)
    answer = verify_bounds(_linear_module(dtype), X, y, draws=None, r_sup=1, cite="vote-certificate")
    row = answer.bounds["vote-certificate"]
    e = difference(trace(_linear_module(dtype), (3,), fold=False), 1.0, dtype)
    b = vote_b(int(row.terms["N"]), int(row.terms["k"]), e)  # B' = 1
    assert row.about == answer.cite.about == "program"
    assert row.terms["b"] == pytest.approx(b, rel=1e-9)
    assert "r-sup" in answer.cite.assumes
    if dtype != torch.float64:
        assert b < vote_b(int(row.terms["N"]), int(row.terms["k"])) * (1 - 1e-9)


def test_vote_certificate_of_classes_is_about_the_program_with_b_at_its_shift():
    X, _ = _signs(400)
    y = np.where(X[:, 0] > 0, 2, np.where(X[:, 1] > 0, 1, 0))
    module = nn.Linear(3, 3, bias=False).to(torch.float32).eval()
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [2.0, 0.0, 0.0]]))
    row = verify_bounds(module, X, y, draws=None, r_sup=1).bounds["vote-certificate-multiclass"]
    e = 2 * difference(trace(module, (3,), fold=False), 1.0, torch.float32)
    N, k = int(row.terms["N"]), int(row.terms["k"])
    shifted = [classes_b(p, N, k, e / B) for p, B in (([2 / 6] * 3, 6), ([1 / 5, 2 / 5, 2 / 5], 5))]
    assert row.about == "program"
    assert min(abs(row.terms["b"] / b - 1) for b in shifted) < 1e-9


def test_a_network_that_is_cited_for_its_formula_says_so():
    X, y = _signs(4000)
    answer = verify_bounds(_linear_module(torch.float64), X, y, draws=None, cite="a-posteriori")
    assert answer.cite.about == "formula"
    assert json.loads(answer.to_json())["cite"]["about"] == "formula"
    says(" ".join(str(answer).split()), ["risk", "network's formula"])
    tied = verify_bounds(_linear_module(torch.float64), X, y, draws=None, r_sup=1, cite="a-posteriori")
    assert tied.cite.about == "program"
    assert "network's formula" not in " ".join(str(tied).split())


def test_a_model_file_is_tied_on_its_range():
    X, y = _signs(2000)
    weights = {(1, 0): torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)}
    network = Network((3, 1), weights, {1: torch.ones(1, dtype=torch.float64)}, ())
    model = ModelFile(network, sample=Sample.of(torch.from_numpy(X), torch.from_numpy(y)))
    answer = report.build(model, Question(r_sup=1, draws=None))
    assert {row.id: row.status for row in answer.assumptions}["arithmetic"] == "holds"
    assert answer.cite.about == "program"
    assert report.build(model, Question(draws=None)).cite.about == "formula"


@pytest.mark.parametrize("kind", ["logistic", "pipeline"])
def test_an_estimator_is_within_the_proved_distance_of_its_formula(kind):
    """The scaler takes away 1e8, where the weights that were read add it: they differ by what float64 loses there."""
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, (300, 4)) + (1e8 if kind == "pipeline" else 0)
    y = X[:, 0] > X[:, 1]
    learner = {
        "logistic": LogisticRegression(),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    }[kind].fit(X, y)
    given = subject(learner, X, y)
    e = given.arithmetic.difference(float(np.abs(X).max()))
    formula = _exactly(given.model, X)
    worst = np.abs(learner.decision_function(X) - formula).max()
    assert worst <= e
    assert e < 1e-3
    if kind == "pipeline":
        assert worst > 1e-10
    answer = verify_bounds(learner, X, y, draws=None, r_sup=2e8)
    assert {row.id: row.status for row in answer.assumptions}["arithmetic"] == "holds"


def _exactly(model, X):
    """The formula in rational numbers, of one layer."""
    (dense,) = (node.operation for node in model.graph.nodes)
    w, (b,) = [Fraction(v) for v in dense.W[0].tolist()], dense.b.tolist()
    return np.array(
        [float(Fraction(b) + sum(a * Fraction(x) for a, x in zip(w, row, strict=True))) for row in X.tolist()]
    )


def test_a_float32_state_dict_runs_in_float32():
    """The chain of _Swallowed: its errors were those of its float64 copy, and .25 was cited at risk 1."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], (4000, 1)) + np.arange(4000)[:, None] / 1e4
    y = np.sign(X[:, 0])
    state = _Swallowed().state_dict()
    for r_sup in (None, 2):
        answer = verify_bounds(state, X, y, activation="identity", draws=None, r_sup=r_sup)
        assert answer.sample.train_error == 1
        assert answer.cite is None
    double = {name: value.double() for name, value in state.items()}
    assert verify_bounds(double, X, y, activation="identity", draws=None).sample.train_error == 0


def test_a_float32_state_dict_is_tied_and_a_file_of_one_too(tmp_path):
    X, y = _signs(4000)
    torch.save(_classifier(torch.float32).state_dict(), tmp_path / "net.pt")
    for given in (_classifier(torch.float32).state_dict(), tmp_path / "net.pt"):
        answer = verify_bounds(given, X, y, activation="relu", draws=None, r_sup=1, cite="a-posteriori")
        assert answer.cite.about == "program"
        assert {"arithmetic", "chain", "r-sup"} <= set(answer.cite.assumes)
        assert verify_bounds(given, X, y, activation="relu", draws=None, cite="a-posteriori").cite is None


@pytest.mark.parametrize("link", [nn.Sigmoid, nn.Softmax])
def test_a_module_that_ends_in_probabilities_is_compared_by_its_decisions(link):
    X, y = _signs(2000)
    outputs = 1 if link is nn.Sigmoid else 2
    body = nn.Linear(3, outputs, bias=False)
    with torch.no_grad():
        body.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]] if outputs == 1 else [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    module = nn.Sequential(body, nn.Sigmoid() if outputs == 1 else nn.Softmax(1)).eval()
    answer = verify_bounds(module, X, y, draws=None, r_sup=1, cite="a-posteriori")
    assert answer.cite.about == "program"
    graph = trace(module, (3,))
    with torch.no_grad():
        body.weight.neg_()  # now the program decides otherwise than the graph that was read
    program = ModuleProgram(module, 0.5 if outputs == 1 else 0.0)
    assert "decide otherwise at 2,000 points" in _arithmetic(program, graph, X).why


def test_a_probability_that_rounds_to_one_half_is_an_error_of_the_program():
    X, y = _signs(500)
    module = nn.Sequential(nn.Linear(3, 1, bias=False), nn.Sigmoid()).eval()
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1e-9, 0.0, 0.0]]))
    assert verify_bounds(module, X, y, draws=None, r_sup=1).sample.train_error == 1


# Deep networks, within the budget


class _Block(nn.Module):
    def __init__(self, before: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip
        plain = stride == 1 and before == width
        shorter = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))
        self.skip = nn.Identity() if plain else shorter
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.body(x)
        out += self.skip(x)
        return self.relu(out)


def _residual(widths, channels, outputs):
    """A residual network with BatchNorm, its running statistics those of the last batches."""
    torch.manual_seed(0)
    first = [nn.Conv2d(channels, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True)]
    pairs = zip([widths[0], *widths], widths, strict=False)
    blocks = [_Block(before, width, 1 if before == width else 2) for before, width in pairs]
    network = nn.Sequential(*first, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], outputs))
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = 0.5
    return network


def test_a_deep_residual_network_on_digits_has_its_own_errors_and_says_what_is_undecided():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    kept = y < 2
    X, y = (X[kept] / 16).reshape(-1, 1, 8, 8).astype(np.float32), y[kept]
    module = _residual([16] * 12, 1, 2)
    steps = torch.optim.Adam(module.parameters(), 3e-3)
    for _ in range(10):
        steps.zero_grad()
        nn.functional.cross_entropy(module(torch.from_numpy(X[:250])), torch.from_numpy(y[:250])).backward()
        steps.step()
    module.eval()
    with torch.no_grad():
        wrong = (module(torch.from_numpy(X)).argmax(1).numpy() != y).astype(int)
    answer = verify_bounds(module, X[:250], y[:250], test=(X[250:], y[250:]), budget=0.3)
    assert answer.sample.train_error == wrong[:250].mean()
    assert answer.test.error == wrong[250:].mean()
    assert answer.undecided > 0
    assert json.loads(answer.to_json())["undecided"] == answer.undecided
    said = f"{answer.undecided} of 250 margins undecided at this depth, counted as errors by the bounds that need exact"
    assert said in " ".join(str(answer).split())


def test_the_purse_of_exact_margins_is_never_overdrawn_and_what_it_does_not_pay_for_counts():
    X = np.array([[1.0], [2.0], [3.0]])
    graph = trace(_cancelling(), (1,))
    rich, poor = (margins(graph, X, np.ones(3), Purse(seconds)) for seconds in (10.0, 0.0))
    assert (rich.count(Fraction(0)), rich.undecided()) == (0, 0)
    assert (poor.count(Fraction(0)), poor.undecided()) == (3, 3)
    assert 0 <= rich.purse.left < 10


def _cancelling():
    """1e20 x - 1e20 x + x: what floats cannot decide and balls can."""
    module = nn.Sequential(nn.Linear(1, 3, bias=False), nn.Linear(3, 1, bias=False)).double()
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1e20], [-1e20], [1.0]]))
        module[1].weight.fill_(1.0)
    return module


def test_a_resnet_18_stays_within_its_budget_beside_reading():
    """11 million weights: the exact margins of ten points alone would take far longer."""
    module = _residual([64, 64, 128, 128, 256, 256, 512, 512], 3, 10).eval()
    assert 11e6 < sum(weight.numel() for weight in module.parameters()) < 11.4e6
    X = np.random.default_rng(0).standard_normal((10, 3, 8, 8)).astype(np.float32)
    y = np.arange(10)
    start = time.process_time()
    trace(module, (3, 8, 8))
    answer = verify_bounds(module, X, y, budget=1.0)
    spent = time.process_time() - start
    assert answer.undecided > 0
    assert spent < 40


class Autocast(nn.Module):
    """float32 weights whose products torch takes in bfloat16; deep, so that a proof for float32 has room for it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        layers = [part for _ in range(8) for part in (nn.Linear(16, 16, bias=False), nn.ReLU())]
        self.inner = nn.Sequential(*layers, nn.Linear(16, 1, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.inner(x)


def test_a_program_under_autocast_is_not_tied_as_one_of_float32():
    X = np.random.default_rng(0).uniform(-1, 1, (60, 16))
    module = Autocast().eval()
    with torch.no_grad():
        y = module(torch.tensor(X).float())[:, 0].float().numpy() > 0
    answer = {row.id: row for row in verify_bounds(module, X, y, r_sup=1, draws=None).assumptions}["arithmetic"]
    assert answer.status in ("open", "fails")
    if answer.status == "open":
        says(answer.detail, ["bfloat16", "torch.autocast"])
    plain = {row.id: row for row in verify_bounds(module.inner, X, y, r_sup=1, draws=None).assumptions}
    assert "within" in plain["arithmetic"].detail


@pytest.mark.parametrize("place", ["matmul", "conv"])
def test_backends_that_shorten_products_leave_no_tie_and_no_traceback(place):
    backend = getattr(torch.backends.mkldnn, place)
    before = backend.fp32_precision
    backend.fp32_precision = "bf16"
    try:
        answer = verify_bounds(Autocast().inner, np.eye(16), np.arange(16) % 2, r_sup=1, draws=None).assumptions
    finally:
        backend.fp32_precision = before
    assert "shorter numbers in its sums" in {row.id: row for row in answer}["arithmetic"].detail
