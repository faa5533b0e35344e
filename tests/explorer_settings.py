"""Random settings of the explorer, and what the numeric modules say of them: the other entry of the double entry."""

import math
from random import Random
from typing import Any

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.complexity import rademacher
from adanet_theory.risk import generalization
from adanet_theory.risk.margin import ETA, MarginBound, margin_error, ramp_loss
from adanet_theory.risk.quantities import Quantities, evaluate
from adanet_theory.spec import NetworkSpec
from figures.explorer.content import ACTIVATIONS, DEPTHS, PROMISES

State = dict[str, Any]


def random_state(seed: int, *, of_model: bool = False) -> State:
    """A setting within what the fields take, defaults left open at random; `of_model` may leave the losses open too."""
    rng = Random(seed)
    if rng.random() < 0.05:
        return _tiny_delta(rng)
    l = rng.randint(1, DEPTHS)  # noqa: E741 - the paper's letter
    skips = rng.random() < 0.3
    scale = rng.choice([0.25, 1.0])

    def bound() -> float:
        return round(scale * rng.uniform(0.3, 1.2), 4)

    Lambda = [[bound()], *([bound() if skips or s == k - 1 else 0.0 for s in range(1, k)] for k in range(2, l + 1))]
    one = rng.choice(ACTIVATIONS)
    r_inf = round(10 ** rng.uniform(-1, 1), 3)
    error = None if of_model and rng.random() < 0.7 else round(rng.choice([0.0, rng.uniform(0, 0.6)]), 4)
    top = [0.0] * (l - 1) + [1.0]
    return {
        "m": round(10 ** rng.uniform(1, 9)),
        "rho": float(f"{10 ** rng.uniform(-2.5, 1):.3g}"),
        "delta": float(f"{10 ** rng.uniform(-6, -0.4):.3g}"),
        "p": rng.choice([1.0, 1.25, 2.0, 3.0, math.inf]),
        "n": [rng.choice([1, 5, 154]), *(rng.choice([1, 16, 40, 1000]) for _ in range(l))],
        "Lambda": Lambda,
        "w": rng.choice([top, [round(rng.uniform(0, 3), 3) for _ in range(l)]]),
        "phi": [rng.choice(ACTIVATIONS) if rng.random() < 0.2 else one for _ in range(l - 1)],
        "r_inf": r_inf,
        "r_sup": rng.choice([None, None, r_inf, round(2 * r_inf, 3)]),
        "r_rms": rng.choice([None, round(r_inf * rng.uniform(0.2, 1), 4)]),
        "margin_error": error,
        "ramp": None if error is None else rng.choice([None, round(error * rng.random(), 4)]),
        "B": rng.choice([None, round(rng.uniform(0.1, 9), 3)]),
        "d": rng.choice([None, rng.randint(0, l - 1)]),
        "C": rng.choice([2, 2, 3, 10, 1000]),
        "unmet": [id for id in PROMISES if rng.random() < 0.1],
    }


def _tiny_delta(rng: Random) -> State:
    """M = 1 and the complexity small beside it: at a tiny δ Theorem 1 does not follow from margin-bound, if ρ < M."""
    layers = {"n": [5, 16, 16], "Lambda": [[0.001], [1000.0]], "w": [1.0, 0.0], "phi": ["relu"], "p": 1.0}
    losses = {"margin_error": 0.0, "ramp": None, "B": None, "d": None, "C": 2, "unmet": []}
    sizes = {"r_inf": 1.0, "r_sup": None, "r_rms": None, "m": 1000, "rho": rng.choice([0.97, 1.03])}
    return {**layers, **losses, **sizes, "delta": float(f"{10 ** rng.uniform(-300, -2):.3g}")}


class Reference:
    """The numbers of a state by the numeric modules; `margins` are those of a model's f/W."""

    def __init__(self, state: State, margins: list[float] | None = None) -> None:
        self.state, self.margins = state, margins
        l = len(state["n"]) - 1  # noqa: E741
        pairs = {(k, s): state["Lambda"][k - 1][s - 1] for k in range(2, l + 1) for s in range(1, k)}
        self.spec = NetworkSpec(state["n"], {(1, 0): state["Lambda"][0][0], **pairs}, state["p"], state["phi"])
        self.every = range(1, l + 1)
        self.r_sup = state["r_inf"] if state["r_sup"] is None else state["r_sup"]
        self.r_rms = state["r_inf"] if state["r_rms"] is None else state["r_rms"]
        self.M = rademacher.ranges(self.spec, r_sup=self.r_sup)
        self.W = math.fsum(state["w"])
        self.d = l - 1 if state["d"] is None else state["d"]
        self.error = self._error()
        self.fixed = {"rho": state["rho"], "m": state["m"], "delta": state["delta"]}

    def _error(self) -> float:
        if self.state["margin_error"] is None:
            assert self.margins is not None
            return margin_error(self.margins, self.state["rho"])
        return float(self.state["margin_error"])

    def ramp(self, rho: float) -> float:
        """The ramp at rho, or what stands for it: at a smaller rho it is no larger."""
        if self.state["ramp"] is not None:
            return float(self.state["ramp"])
        if self.state["margin_error"] is None:
            assert self.margins is not None
            return ramp_loss(self.margins, rho)
        return self.error

    # Layers

    def lemma_2(self, r: float) -> list[float]:
        return [rademacher.layered_complexity(self.spec, k, m=self.m, r_inf=r, literally=True) for k in self.every]

    @property
    def m(self) -> int:
        return int(self.state["m"])

    def peeled(self, r: float) -> list[float]:
        def at(k: int) -> float:
            try:
                return rademacher.peeled_complexity(self.spec, k, m=self.m, r_rms=r)
            except OutsideTheoryError:
                return rademacher.peeled_complexity_offset(self.spec, k, m=self.m, r_rms=r)

        return [at(k) for k in self.every]

    def upper(self) -> list[float]:
        values: list[float] = []
        for k, peeled in zip(self.every, self.peeled(self.r_rms), strict=True):
            if k == 1:
                other = rademacher.first_layer_closed(self.spec, m=self.m, r_rms=self.r_rms)
            else:
                other = rademacher.lemma_1_corrected(self.spec, k, values, m=self.m)
            values.append(min(peeled, other))
        return values

    def layers(self) -> dict[str, float]:
        columns = {"lemma-2": self.lemma_2(self.state["r_inf"]), "peeled": self.peeled(self.r_sup)}
        columns |= {"R_S": self.upper(), "M": self.M}
        return {f"{name} {k}": column[k - 1] for name, column in columns.items() for k in self.every}

    # Bounds

    def path_norm(self) -> float:
        if self.state["B"] is not None:
            return float(self.state["B"])
        reach = rademacher.ranges(self.spec, r_sup=1.0)
        return math.fsum(w / self.W * M for w, M in zip(self.state["w"], reach, strict=True))

    def scales(self) -> list[float]:
        """ρ_0 of margin-bound-uniform and of a-posteriori, both of f/W."""
        W_M = math.fsum(w * M for w, M in zip(self.state["w"], self.M, strict=True)) / self.W
        return [W_M, self.path_norm()]

    def index(self, scale: float) -> int:
        return math.ceil(math.log(scale / self.state["rho"]) / math.log1p(ETA))

    def bounds(self) -> dict[str, MarginBound]:
        """Every bound of the catalogue about so many classes, literally: whether it applies is another question."""
        by_name = {}
        for bound in catalogue.theory("many" if self.state["C"] > 2 else "two"):
            try:
                by_name[bound.id] = evaluate(bound, self.quantities(bound))
            except OutsideTheoryError:
                by_name[bound.id] = self.theorem_1_range(max(self.M), self.lemma_2(self.r_sup))
        return by_name

    def quantities(self, bound: Bound) -> Quantities:
        state, rho, j = self.state, self.state["rho"], None
        if bound.scale in ("W_M", "B"):
            scale = self.scales()[bound.scale == "B"]
            j = self.index(scale)
            rho = scale / (1 + ETA) ** j
        return Quantities(
            self.spec, state["w"], self.m, state["delta"], state["r_inf"], self.r_rms, self.r_sup, self.error,
            self.ramp(rho), state["rho"], j, self.upper(), self.M, self.path_norm(), self.d,
            max([phi.peeling for phi in self.spec.activations[: self.d]], default=1.0), state["C"],
        )  # fmt: skip

    def theorem_1_range(self, M: float, R: list[float]) -> MarginBound:
        """Its terms, also where it is refused: Theorem 1 at ρ/M, but for the complexity term, which keeps ρ."""
        scaled = {**self.fixed, "rho": self.state["rho"] / M}
        literal = generalization.theorem_1(self.error, self.state["w"], [x / M for x in R], literally=True, **scaled)
        return MarginBound("theorem-1-range", literal.terms, self.state["rho"])

    # Who applies

    def follows(self, M: float, R: list[float]) -> bool:
        try:
            generalization.theorem_1_range(self.error, self.state["w"], R, M=M, **self.fixed)
        except OutsideTheoryError:
            return False
        return True

    def fails(self) -> dict[str, bool]:
        """The assumptions that fail, whoever needs them; delta and fixed-in-advance differ from bound to bound."""
        phi, unmet = self.spec.activations, self.state["unmet"]
        return {
            "iid": "iid" in unmet,
            "lipschitz": any(a.lipschitz > 1 for a in phi),
            "phi-zero": any(a.at_zero != 0 for a in phi),
            "homogeneous": any(not a.is_homogeneous for a in phi[: self.d]),
            "membership": "membership" in unmet,
            "layered": not self.spec.is_layered,
            "range": max(self.M) > 1,
            "depth": self.spec.depth < 2,
            "r-sup": "r-sup" in unmet,
            "r-inf": self.state["r_inf"] < self.r_sup,
            "feature-map": "feature-map" in unmet,
        }

    def why_not(self, id: str, needs: dict[str, tuple[str, ...]]) -> list[str]:
        fails, unmet = self.fails(), self.state["unmet"]
        M, r = (max(self.M), self.r_sup) if id == "theorem-1-range" else (1.0, self.state["r_inf"])
        fails["delta"] = not self.follows(M, self.lemma_2(r))
        fails["fixed-in-advance"] = "family" in unmet or ("rho" in unmet and not id.endswith("margin-bound-uniform"))
        return [name for name, statements in needs.items() if id in statements and fails[name]]

    # Ceilings

    def near_a_jump(self) -> bool:
        """Whether a ceiling stands so close to its jump that rounding decides it."""
        rho, log_l = self.state["rho"], math.log(self.spec.depth)
        inside = [math.log(scale / rho) / math.log1p(ETA) for scale in self.scales()]
        if log_l > 0:
            inside += [4 / r**2 * math.log(r**2 * self.m / log_l) for r in (rho, rho / max(self.M))]
        inside += [-math.log(w / self.W) / math.log1p(ETA) for w in self.state["w"] if 0 < w < self.W]
        # beyond 1e12 one unit more or less does not show in 12 digits
        return any(abs(x) < 1e12 and abs(x - round(x)) < max(1e-6, 1e-13 * abs(x)) for x in inside)
