"""The committee as a builder: one module for the default learner and beside builders of one's own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from adanet_train import AdaNetClassifier, Config, load
from adanet_train.convex.labels import Classes, Signs
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate
from adanet_train.methods.adanet import train
from adanet_train.search import builder
from adanet_train.search.builder import CommitteeBuilder, CommitteeModule
from adanet_train.search.committee import Member, SplitSample
from adanet_train.search.context import Context
from adanet_train.search.growth import Growth, regrown
from adanet_train.subnetworks import measure
from adanet_train.subnetworks.committee import Committee
from adanet_train.subnetworks.conformance import check_builder
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.protocol import hidden
from adanet_train.subnetworks.train import EnsembleProblem, Subnetworks
from verify import verify_bounds

DIGITS, LABELS = (part[:400] for part in load_digits(return_X_y=True))
IMAGES = (DIGITS / 16).reshape(-1, 1, 8, 8).astype(np.float32)
K = 3
CONFIG = Config(rounds=2, width=4, learner="committee", members=K, steps=30, validation_fraction=0.25)
SMALL = Committee(width=4, members=K, config=Config(steps=30))


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def module_of(depth: int, previous: tuple[nn.Module, ...] = (), outputs: int = 2, n: int = 5) -> CommitteeModule:
    """With weights other than 0 on top too."""
    context = Context((n,), outputs, previous, len(previous) + 1, 100, drawn(len(previous)))
    module = CommitteeBuilder(depth, 4, CONFIG, constant=True).build(context)
    module.take([torch.randn(U.shape, generator=drawn(9 + len(previous))) for U in module.weights])
    return module


def by_hand(modules: list[CommitteeModule], x: Tensor) -> list[list[Tensor]]:
    """h_1, .., h_d of each member of the last one, a member and a unit at a time, from the weights alone."""
    x = torch.cat([x, torch.ones(len(x), 1)], 1)
    found = []
    for j in range(K):
        units: list[list[Tensor]] = []
        for module in modules:
            h = [x @ module.weights[0][j].T]
            for k, U in enumerate(module.weights[1:]):
                below = [earlier[k].relu() for earlier in units if k < len(earlier)]
                h.append(torch.cat([*below, h[-1].relu()], 1) @ U[j].T)
            units.append(h)
        found.append(units[-1])
    return found


@pytest.mark.parametrize("depths", [(1,), (2,), (3,), (2, 2), (3, 2, 3), (2, 3, 1)])
def test_the_module_is_the_mean_of_members_that_read_their_own_units(depths):
    modules: list[CommitteeModule] = []
    for depth in depths:
        modules.append(module_of(depth, tuple(modules)))
    x, last = torch.randn(7, 5, generator=drawn(3)), modules[-1]
    expected = by_hand(modules, x)
    torch.testing.assert_close(last(x), torch.stack([h[-1] for h in expected]).mean(0), rtol=1e-5, atol=1e-5)
    assert measure.depth(last) == depths[-1]
    if depths[-1] > 1:
        assert last.before is (modules[-2] if len(modules) > 1 else None)
        tops = [h[-2].relu() for h in expected]
        torch.testing.assert_close(hidden(last, x).view(7, K, -1)[..., -4:], torch.stack(tops, 1))


def test_the_search_sees_the_function_that_the_module_computes():
    """Of two committees, one on the other: the units taken apart for the search are those of forward."""
    first = module_of(2)
    second = module_of(3, (first,))
    x = torch.randn(6, 5, generator=drawn(4))
    Psi = torch.cat([x, torch.ones(6, 1)], 1).expand(K, 6, 6)
    h = second.existing.layers(Psi, 3)[0]
    torch.testing.assert_close(h[2].mean(0), second(x), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(h[1][..., :2].mean(0), first(x), rtol=1e-5, atol=1e-5)
    assert isinstance(second.earlier, Member)
    assert [U.shape[1] for U in second.earlier.U] == [4, 2]


def test_what_stands_between_is_no_committee_and_other_members_are_not_read():
    first = module_of(2)
    assert module_of(2, (first, nn.Linear(5, 2))).before is first
    fewer = CommitteeBuilder(2, 4, CONFIG.replace(members=2), constant=True)
    assert fewer.build(Context((5,), 2, (first,), 2, 100, drawn())).before is None


@pytest.mark.parametrize("C", [None, 3])
def test_the_default_learner_adds_the_units_of_the_module(C, monkeypatch):
    """In the second round too: what it proposes is the module's function, in proportion."""
    Psi = torch.rand(90, 5, generator=drawn(), dtype=torch.float64)
    Psi[:, -1] = 1
    y = torch.where(Psi[:, 0] > Psi[:, 1], 1.0, -1.0).double() if C is None else (3 * Psi[:, 0]).long()
    modules = []
    own = CommitteeBuilder.train

    def noted(self, module, *rest):
        modules.append(module)
        return own(self, module, *rest)

    monkeypatch.setattr(CommitteeBuilder, "train", noted)
    asked = CONFIG.replace(lam=0.0, candidates=((1, 4),), max_depth=3, least_decrease=0.0)
    trained = train(Psi, y, asked.replace(rounds=1, max_rounds=2))
    growth, labels = regrown(trained, Points(Psi)), Signs(surrogate("logistic")) if C is None else Classes(C)
    assert len(modules) == len(growth.parts) == 1
    split = SplitSample.split(growth.points, labels, y, None, asked, drawn())
    spec = asked.declared(5, labels.tops)
    for now in (Growth(Points(Psi), "relu", C), growth):
        proposal = builder.learn(now, split, 2, 4, spec, asked, drawn(1))
        h = now.outputs(proposal.block, [2])[2]
        w = labels.spread(proposal.mix)
        f, g = (h @ (w if C is None else w.T)).view(90, -1), modules[-1].double()(Psi)
        torch.testing.assert_close(f / f.norm(), g / g.norm(), rtol=1e-4, atol=1e-6)
    assert modules[-1].before is not None


def test_users_may_check_it_as_they_check_theirs():
    for shape, outputs in (((3,), 1), ((1, 4, 4), 3)):
        check_builder(SMALL, shape=shape, outputs=outputs)
    check_builder(Committee(depth=1, members=2, config=Config(steps=10)), shape=(3,), after=SMALL)
    for wrong, told in (
        ({"depth": 0}, "depth must be >= 1"),
        ({"width": 0}, "width must"),
        ({"members": 0}, "members"),
    ):
        with pytest.raises(ValueError, match=told):
            Committee(**wrong)


def linear(context: Context) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, context.outputs))


def test_it_competes_with_other_builders_and_a_file_holds_it(tmp_path):
    given = Subnetworks([linear, SMALL], training=Fit(epochs=1), lam=0.0)
    clf = AdaNetClassifier(subnetworks=given, rounds=3).fit(IMAGES, LABELS)
    rows = clf.summary().rows
    committees = [t for t, row in enumerate(rows, start=1) if row["name"] == "committee"]
    assert len(committees) >= 2
    assert rows[committees[1] - 1]["reads"] == committees[:1]
    assert {one.measure for one in clf.ensemble_.reports} == {"path norm"}
    clf.save(tmp_path / "m.pt")
    back = load(tmp_path / "m.pt", subnetworks=given)
    assert np.array_equal(back.decision_function(IMAGES), clf.decision_function(IMAGES))
    assert verify_bounds(back, IMAGES, LABELS, draws=None).subject == "network"
    module, x = clf.to_torch(), torch.from_numpy(IMAGES[:9])
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(module, (x[:4],), dynamic_shapes=shapes).module()
    assert torch.allclose(program(x), module(x), atol=1e-6)


def test_points_of_a_dataset_give_the_same_bits_and_validation_points_are_left_alone():
    data = torch.utils.data.TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(LABELS))
    whole = AdaNetClassifier(subnetworks=[SMALL], rounds=1).fit(IMAGES, LABELS)
    streamed = AdaNetClassifier(subnetworks=[SMALL], rounds=1).fit(data)
    f = whole.decision_function(IMAGES)
    assert np.array_equal(f, streamed.decision_function(IMAGES))
    split = EnsembleProblem.of(IMAGES, torch.from_numpy(LABELS), Subnetworks([SMALL]), 0, "cpu", None).split
    other = LABELS.copy()
    other[split.validation] = (other[split.validation] + 1) % 10
    again = AdaNetClassifier(subnetworks=[SMALL], rounds=1).fit(IMAGES, other)
    modules = [clf.ensemble_.grown.reports[0] for clf in (whole, again)]
    assert modules[0].complexity == modules[1].complexity  # of the same weights


@pytest.mark.filterwarnings("ignore:subnetwork 'Sequential' is an instance")
def test_a_subnetwork_of_weight_zero_is_not_kept():
    """The weights of the old ones are minimised again, and F may fall by their rounding alone."""
    one = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    nn.init.zeros_(one[1].weight), nn.init.zeros_(one[1].bias)
    given = Subnetworks([linear], training=Fit(epochs=2))
    clf = AdaNetClassifier(subnetworks=given, rounds=1).fit(IMAGES, LABELS)
    problem = EnsembleProblem.of(IMAGES, torch.from_numpy(LABELS), given, 0, "cpu", None)
    here = problem.begin(clf.ensemble_.grown)
    before = problem.weighed(here.grown.chosen, here.H, 0.0)
    candidate = problem.named(one.eval().requires_grad_(False), here.grown, 2, 0)
    after = problem.added(candidate, before, 0.0, 2)
    assert after.chosen[-1].weight == 0
    lower = replace(after, validation=before.judged - 1e-6)
    assert not lower.helps_beside(before)
    weighted = (*lower.chosen[:-1], replace(lower.chosen[-1], weight=0.1))
    assert replace(lower, chosen=weighted).helps_beside(before)
