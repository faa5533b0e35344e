"""One record per statement on a risk: its names, the numbers it reads, what it needs, and where its proof is.

The report, the figures, the explorer and the tables go over these records, in this order; what more than one of them
has to know of a bound stands here and nowhere else. A record only names the numeric form and, by its id, the symbolic
twin (`twins.symbolic.STATEMENTS[id]`): the two are written apart. `quantities` puts numbers into the numeric form.

A bound of one's own: register(Bound("mine", "My bound", "user", my_function, needs=("feature-map",))).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, get_args

from adanet_theory.checks import check, check_choice

Group = Literal["paper", "corrected", "certificate", "held-out", "context", "user"]
Loss = Literal["margin_error", "ramp", "other"]
Complexity = Literal["lemma-2", "lemma-2-peeled", "R_S"]
Radius = Literal["r_inf", "r_sup", "r_rms"]
Scale = Literal["rho", "W_M", "B"]
Classes = Literal["two", "many"]

_KINDS: dict[str, Any] = {
    "group": Group,
    "loss": Loss,
    "complexity": Complexity,
    "at": Radius,
    "scale": Scale,
    "classes": Classes,
}

ASSUMPTIONS = (
    "iid",
    "lipschitz",
    "phi-zero",
    "homogeneous",
    "membership",
    "layered",
    "linear",
    "tree",
    "range",
    "depth",
    "normalised",
    "r-sup",
    "r-inf",
    "delta",
    "fixed-in-advance",
    "feature-map",
    "untouched",
)
"""What a statement may need, in the order in which a report goes through it."""


@dataclass(frozen=True)
class Bound:
    """One statement on the risk of f.

    `function` is the numeric form, itself or as "module:name"; the names of its parameters say what it reads.
    `complexity` says which upper value stands for R_m(H_k) or R_S(H_k), `at` which size of Ψ is in it (or in the bound
    itself): r_inf of the sample, its r_rms, or r_sup, known beforehand. "R_S" is the least value known above R_S(H_k).
    `scale` is that of the margin: "rho", fixed, of f/W; or the ρ_0 of a grid of margins of f, "W_M" or "B".
    `range` says whether M is the largest of the ranges ("M") or all of them ("M_k"); None where the bound reads none.
    `needs` are ids of ASSUMPTIONS; `assumes` says in words what nothing here can check. `classes` says whether the
    margin is y f(x), or f(x, y) - max f(x, y') of a network with an output for each class.
    """

    id: str
    title: str
    group: Group
    function: str | Callable[..., Any]
    loss: Loss = "other"
    complexity: Complexity | None = None
    at: Radius | None = None
    scale: Scale | None = None
    range: Literal["M", "M_k"] | None = None
    needs: tuple[str, ...] = ()
    reference: str = ""
    assumes: str = ""
    classes: Classes = "two"
    quoted: bool = True
    """Whether a report may quote it as the least of all; else only where it is named beforehand."""

    def __post_init__(self) -> None:
        check(
            re.fullmatch(r"[a-z0-9][a-z0-9-]*", self.id) is not None, f"id must be like my-bound, got id={self.id!r}."
        )
        for name, kinds in _KINDS.items():
            value, known = getattr(self, name), get_args(kinds)
            is_default = value is None and name in ("complexity", "at", "scale")
            if not is_default:
                check_choice(name, value, known)
        named = isinstance(self.function, str) and re.fullmatch(r"[\w.]+:\w+", self.function) is not None
        check(callable(self.function) or named, f"function must be one, or 'module:name', got {self.function!r}.")
        check(not isinstance(self.needs, str), f"needs must be several ids, got the text {self.needs!r}.")
        for id in self.needs:
            check(id in ASSUMPTIONS, f"needs must be of {', '.join(ASSUMPTIONS)}, got {id!r}: say it in `assumes`.")

    @property
    def is_printed(self) -> bool:
        return self.group == "paper"

    @property
    def is_claim(self) -> bool:
        """Whether it claims something of the network where its assumptions hold."""
        return self.group != "context"

    @property
    def numeric(self) -> Callable[..., Any]:
        return self.function if callable(self.function) else _imported(self.function)

    @property
    def reads(self) -> frozenset[str]:
        """The names of the parameters of the numeric form."""
        return _parameters(self.numeric)


@lru_cache
def _imported(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


@lru_cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


# The statements

_FAMILY = ("iid", "membership", "r-sup", "fixed-in-advance", "feature-map")
_LEMMA_2 = ("lipschitz", "phi-zero", "layered", "delta")
_PRINT = (*_LEMMA_2, "range", "depth", "r-inf")
_HERE = "adanet_theory.risk.generalization:"
_CLASSES = "adanet_theory.risk.multiclass:"
_PROOFS = "paper_notes/derivations.md#"

_BUILT_IN = (
    Bound(
        "theorem-1",
        "Theorem 1, printed",
        "paper",
        _HERE + "theorem_1",
        loss="margin_error",
        complexity="lemma-2",
        at="r_inf",
        scale="rho",
        needs=(*_FAMILY, *_PRINT, "normalised"),
        reference="Cortes et al., ICML 2017, Theorem 1",
    ),
    Bound(
        "corollary-1",
        "Corollary 1, printed",
        "paper",
        _HERE + "corollary_1",
        loss="margin_error",
        complexity="lemma-2",
        at="r_inf",
        scale="rho",
        needs=(*_FAMILY, *_PRINT, "normalised"),
        reference="Cortes et al., ICML 2017, Corollary 1",
    ),
    Bound(
        "theorem-1-range",
        "Theorem 1, range mended",
        "corrected",
        _HERE + "theorem_1_range",
        loss="margin_error",
        complexity="lemma-2",
        at="r_sup",
        scale="rho",
        range="M",
        needs=(*_FAMILY, *_LEMMA_2, "normalised"),
        reference=_PROOFS + "theorem-1-range",
    ),
    Bound(
        "margin-bound",
        "margin-bound",
        "corrected",
        _HERE + "margin_bound",
        loss="ramp",
        complexity="lemma-2-peeled",
        at="r_sup",
        scale="rho",
        range="M",
        needs=(*_FAMILY, "normalised"),
        reference=_PROOFS + "margin-bound",
    ),
    Bound(
        "margin-bound-uniform",
        "margin-bound-uniform",
        "corrected",
        _HERE + "margin_bound_uniform_at",
        loss="ramp",
        complexity="lemma-2-peeled",
        at="r_sup",
        scale="W_M",
        range="M_k",
        needs=_FAMILY,
        reference=_PROOFS + "margin-bound-uniform",
    ),
    Bound(
        "margin-bound-empirical",
        "margin-bound-empirical",
        "corrected",
        _HERE + "margin_bound_empirical",
        loss="ramp",
        complexity="R_S",
        at="r_rms",
        scale="rho",
        range="M_k",
        needs=(*_FAMILY, "normalised"),
        reference=_PROOFS + "margin-bound-empirical",
    ),
    Bound(
        "margin-bound-unbounded",
        "margin-bound-unbounded",
        "corrected",
        "adanet_theory.risk.unbounded:margin_bound_unbounded",
        loss="ramp",
        complexity="lemma-2-peeled",
        at="r_sup",
        scale="rho",
        needs=(*_FAMILY, "normalised"),
        reference=_PROOFS + "margin-bound-unbounded-unbounded-empirical",
    ),
    Bound(
        "unbounded-empirical",
        "unbounded-empirical",
        "corrected",
        "adanet_theory.risk.unbounded:unbounded_empirical",
        loss="ramp",
        complexity="R_S",
        at="r_rms",
        scale="rho",
        needs=("iid", "membership", "fixed-in-advance", "feature-map", "normalised"),
        reference=_PROOFS + "margin-bound-unbounded-unbounded-empirical",
    ),
    Bound(
        "a-posteriori",
        "a-posteriori",
        "corrected",
        "adanet_theory.risk.posterior:a_posteriori_at",
        loss="ramp",
        at="r_rms",
        scale="B",
        needs=("iid", "lipschitz", "homogeneous", "feature-map"),
        reference=_PROOFS + "a-posteriori-a-posteriori-bounded",
    ),
    Bound(
        "a-posteriori-bounded",
        "a-posteriori-bounded",
        "corrected",
        "adanet_theory.risk.posterior:a_posteriori_bounded_at",
        loss="ramp",
        at="r_sup",
        scale="B",
        needs=("iid", "lipschitz", "homogeneous", "r-sup", "feature-map"),
        reference=_PROOFS + "a-posteriori-a-posteriori-bounded",
    ),
    Bound(
        "multiclass-margin-bound",
        "multiclass-margin-bound",
        "corrected",
        _CLASSES + "multiclass_margin_bound",
        loss="ramp",
        complexity="lemma-2-peeled",
        at="r_sup",
        scale="rho",
        range="M",
        needs=(*_FAMILY, "normalised"),
        reference=_PROOFS + "multiclass-margin-bound",
        classes="many",
    ),
    Bound(
        "multiclass-margin-bound-uniform",
        "multiclass-margin-bound-uniform",
        "corrected",
        _CLASSES + "multiclass_margin_bound_uniform_at",
        loss="ramp",
        complexity="lemma-2-peeled",
        at="r_sup",
        scale="W_M",
        range="M_k",
        needs=_FAMILY,
        reference=_PROOFS + "multiclass-margin-bound",
        classes="many",
    ),
    Bound(
        "multiclass-a-posteriori",
        "multiclass-a-posteriori",
        "corrected",
        _CLASSES + "multiclass_a_posteriori_at",
        loss="ramp",
        at="r_rms",
        scale="B",
        needs=("iid", "lipschitz", "homogeneous", "feature-map"),
        reference=_PROOFS + "multiclass-a-posteriori-multiclass-a-posteriori-bounded",
        classes="many",
    ),
    Bound(
        "multiclass-a-posteriori-bounded",
        "multiclass-a-posteriori-bounded",
        "corrected",
        _CLASSES + "multiclass_a_posteriori_bounded_at",
        loss="ramp",
        at="r_sup",
        scale="B",
        needs=("iid", "lipschitz", "homogeneous", "r-sup", "feature-map"),
        reference=_PROOFS + "multiclass-a-posteriori-multiclass-a-posteriori-bounded",
        classes="many",
    ),
    Bound(
        "vote-certificate",
        "vote-certificate",
        "certificate",
        "adanet_theory.certificates.vote:vote_certificate",
        at="r_sup",
        needs=("iid", "linear", "r-sup", "feature-map"),
        reference=_PROOFS + "vote-certificate",
    ),
    Bound(
        "gauss-certificate",
        "gauss-certificate",
        "certificate",
        "adanet_theory.certificates.gauss:gauss_certificate",
        needs=("iid", "linear", "feature-map"),
        reference=_PROOFS + "gauss-certificate",
    ),
    Bound(
        "path-certificate",
        "path-certificate",
        "certificate",
        "adanet_theory.certificates.path:path_certificate",
        at="r_sup",
        needs=("iid", "homogeneous", "tree", "r-sup", "feature-map"),
        reference=_PROOFS + "path-certificate",
    ),
    Bound(
        "vote-certificate-multiclass",
        "vote-certificate-multiclass",
        "certificate",
        "adanet_theory.certificates.vote_multiclass:vote_certificate_multiclass",
        at="r_sup",
        needs=("iid", "linear", "r-sup", "feature-map"),
        reference=_PROOFS + "vote-certificate-multiclass",
        classes="many",
    ),
    Bound(
        "path-certificate-multiclass",
        "path-certificate-multiclass",
        "certificate",
        "adanet_theory.certificates.path_multiclass:path_certificate_multiclass",
        at="r_sup",
        needs=("iid", "homogeneous", "tree", "r-sup", "feature-map"),
        reference=_PROOFS + "path-certificate-multiclass",
        classes="many",
    ),
    Bound(
        "a-posteriori-data",
        "a-posteriori, from data",
        "certificate",
        "adanet_theory.risk.posterior:a_posteriori_data_at",
        loss="ramp",
        at="r_rms",
        needs=("iid", "lipschitz", "homogeneous", "feature-map"),
        reference=_PROOFS + "a-posteriori-data",
        quoted=False,
    ),
    Bound(
        "held-out",
        "held-out",
        "held-out",
        "adanet_theory.certificates.binomial:clopper_pearson",
        needs=("iid", "untouched"),
        reference=_PROOFS + "held-out",
        assumes="the points were never used in training, nor to choose among networks",
    ),
    Bound(
        "golowich-frobenius",
        "Golowich et al., Frobenius",
        "context",
        "adanet_theory.complexity.related:golowich_frobenius",
        loss="margin_error",
        scale="rho",
        needs=("layered", "fixed-in-advance"),
        reference="Golowich, Rakhlin, Shamir, COLT 2018, Theorem 1",
    ),
    Bound(
        "golowich-l1",
        "Golowich et al., l1",
        "context",
        "adanet_theory.complexity.related:golowich_l1",
        loss="margin_error",
        scale="rho",
        needs=("layered", "fixed-in-advance"),
        reference="Golowich, Rakhlin, Shamir, COLT 2018, Theorem 2",
    ),
    Bound(
        "neyshabur-group",
        "Neyshabur et al., group norms",
        "context",
        "adanet_theory.complexity.related:neyshabur_group",
        loss="margin_error",
        scale="rho",
        needs=("layered", "fixed-in-advance"),
        reference="Neyshabur, Tomioka, Srebro, COLT 2015, Theorem 1",
    ),
    Bound(
        "kuznetsov-mohri-syed",
        "Kuznetsov, Mohri, Syed",
        "context",
        _CLASSES + "kuznetsov_mohri_syed",
        loss="margin_error",
        complexity="lemma-2-peeled",
        at="r_sup",
        scale="rho",
        needs=("range", "depth", "fixed-in-advance"),
        reference="Kuznetsov, Mohri, Syed, NIPS 2014, Theorem 1",
        classes="many",
    ),
)


# Queries

_catalogue: dict[str, Bound] = {bound.id: bound for bound in _BUILT_IN}
_OURS = frozenset(_catalogue)


def bound(id: str) -> Bound:
    """The record of that id.

    >>> bound("theorem-1-range").complexity
    'lemma-2'
    """
    check(id in _catalogue, f"there is no bound {id!r}.")
    return _catalogue[id]


def select(wanted: Callable[[Bound], bool] = lambda bound: True) -> tuple[Bound, ...]:
    """The records that are wanted, in the order of the catalogue: the paper's first, registered ones last."""
    return tuple(bound for bound in _catalogue.values() if wanted(bound))


def of_group(*groups: Group) -> tuple[Bound, ...]:
    return select(lambda bound: bound.group in groups)


def theory(classes: Classes = "two") -> tuple[Bound, ...]:
    """The paper's statements and those that replace them: what has a twin, and what the explorer shows.

    >>> [bound.id for bound in theory() if bound.is_printed]
    ['theorem-1', 'corollary-1']
    """
    return tuple(bound for bound in of_group("paper", "corrected") if bound.classes == classes)


def ids(bounds: tuple[Bound, ...]) -> tuple[str, ...]:
    return tuple(bound.id for bound in bounds)


def needing(assumption: str, classes: Classes = "two") -> tuple[str, ...]:
    """The ids of the claims that need the assumption; held-out is about any number of classes."""

    def is_about(bound: Bound) -> bool:
        return bound.is_claim and (bound.classes == classes or bound.group == "held-out")

    return ids(select(lambda bound: is_about(bound) and assumption in bound.needs))


# A bound of one's own


def register(bound: Bound) -> Bound:
    """Add a record of group "user" (a claim) or "context"; reports and figures made from now on show it.

    Its function returns a MarginBound, a dict of terms or one number, rounded up by whoever wrote it.
    """
    check(isinstance(bound, Bound), f"register takes a Bound(..), got a {type(bound).__name__}.")
    check(bound.group in ("user", "context"), f"group must be user or context, got group={bound.group!r}.")
    check(bound.id not in _catalogue, f"there is a bound {bound.id!r} already.")
    try:
        found = bound.numeric
    except (ImportError, AttributeError) as error:
        raise ValueError(f"the function of {bound.id!r} cannot be imported: {error}.") from None
    check(callable(found), f"the function of {bound.id!r} cannot be called.")
    _catalogue[bound.id] = bound
    return bound


def is_built_in(bound: Bound) -> bool:
    return bound.id in _OURS


def registered() -> tuple[Bound, ...]:
    return select(lambda bound: not is_built_in(bound))


def forget(id: str) -> None:
    """Take a registered bound out again."""
    check(id in ids(registered()), f"no bound {id!r} was registered.")
    del _catalogue[id]
