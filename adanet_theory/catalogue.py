"""One record per statement about a risk: its names, the numbers it reads, its assumptions, and where its proof is.

The report, the figures, the explorer and the tables use these records, in this order. Facts about a bound that more
than one of them needs are here and nowhere else. A record names the numeric form and, by its id, the symbolic
twin (`twins.symbolic.STATEMENTS[id]`). The two are written independently. `quantities` evaluates the numeric form.

To add your own bound: register(Bound("mine", "My bound", "user", my_function, needs=("feature-map",))).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, get_args

from adanet_theory.checks import check, check_choice
from adanet_theory.examples import Example, at_point

Group = Literal["paper", "corrected", "certificate", "held-out", "context", "user"]
Loss = Literal["margin_error", "ramp", "other"]
Complexity = Literal["lemma-2", "lemma-2-peeled", "R_S"]
Radius = Literal["r_inf", "r_sup", "r_rms"]
Scale = Literal["rho", "W_M", "B"]
Classes = Literal["two", "many", "any"]

_KINDS: dict[str, Any] = {
    "group": Group, "loss": Loss, "complexity": Complexity, "at": Radius, "scale": Scale, "classes": Classes,
}  # fmt: skip

ASSUMPTIONS: Mapping[str, str] = {
    "iid": "The m points were drawn independently from one law, and the risk is under the same law.",
    "lipschitz": "Every activation is 1-Lipschitz.",
    "phi-zero": "Every activation is 0 at 0.",
    "homogeneous": "Every activation was chosen before the sample and is positively homogeneous: φ(cx) = cφ(x), c ≥ 0.",
    "membership": "The network is in the declared family: every unit has ‖u‖ₚ ≤ Λ.",
    "layered": "Every unit reads only the layer directly below it.",
    "linear": "f is linear in Ψ.",
    "range": "|h| ≤ 1 on every layer of the family.",
    "depth": "l ≥ 2, because the printed formula divides by log l.",
    "normalised": "The margin is that of f/W, so W > 0.",
    "r-sup": "A bound on ‖Ψ‖∞ on the whole support was known before the sample.",
    "r-inf": "The sample's r∞ replaces the printed E[r∞], which is safe only if r∞ = r_sup.",
    "delta": "δ is large enough for it to follow from margin-bound. Its own proof does not give its constants.",
    "fixed-in-advance": "Depth, widths, Λ, p (and ρ, if it is fixed) were chosen before the sample was seen.",
    "feature-map": "Ψ was fixed before the sample was drawn.",
    "arithmetic": "The program decides as the network of the statement does in real numbers.",
    "untouched": "The held-out points were used neither in training nor to choose among networks.",
    "picked": "The recipe gives this network on the start and the picks, and every remaining error is counted.",
    "recipe": "Learner, settings, start, picks a round and seed were fixed before the sample, or paid for.",
    "architecture": "The code, and all it does not describe (such as the architecture), were fixed before the sample; "
    "the program is one function of what is coded, whose own errors are counted.",
    "unlabelled": "The unlabelled points come from the law of the sample and were used for neither network.",
    "surrogate": "The recipe of g, or its code and architecture, was fixed before the sample (see its certificate).",
    "declared": "The family of each builder has the declared R_m and range, and was fixed before the sample.",
    "chain": "The weights are those of a chain of Linear layers, with the given activation between them.",
}
"""The assumptions that a statement may need, in the order of a report, and what each says."""
ALWAYS = ("chain",)
"""Every claim needs that the network is the one that was read."""


@dataclass(frozen=True)
class Bound:
    """One statement about the risk of f.

    Parameters
    ----------
    id
        Name in reports and on the command line, like "my-bound".
    title
        Name in figures and tables.
    group
        "paper", "corrected", "certificate", "held-out", "context" or "user"; your own bound is "user" or
        "context".
    function
        The numeric form, as a function or as "module:name". The names of its parameters are the numbers it reads.
    loss
        The loss on the sample that it reads: "margin_error", "ramp" or "other".
    complexity
        The upper value used for R_m(H_k) or R_S(H_k); "R_S" is the least known upper value of R_S(H_k).
    at
        The size of Ψ in the complexity or in the bound: r_inf or r_rms of the sample, or r_sup, known before it.
    scale
        The margin: "rho" is a fixed margin of f/W; "W_M" and "B" are the ρ_0 of a grid of margins of f.
    range
        "M" if it reads the largest range, "M_k" if it reads all ranges, None if it reads no range.
    needs
        Ids of ASSUMPTIONS.
    reference
        Where its proof is.
    assumes
        In words, assumptions that cannot be checked here.
    classes
        "two" for the margin y f(x), "many" for f(x, y) - max f(x, y'), "any" if it reads only errors.
    quoted
        Whether a report may quote it as the least of all. If not, it is quoted only if named beforehand.
    simultaneous
        Whether it holds for all networks at once, on one sample and one map Ψ; every "paper" and "corrected" statement
        does, within its family. If False, each network that was compared pays for the statement.
    examples
        Values of the numeric form, computed independently; the tests, the suite and the site use them.

    Raises
    ------
    ValueError
        If a field is outside its choices.
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
    simultaneous: bool = False
    examples: tuple[Example, ...] = ()

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
        check(callable(self.function) or named, f"function must be callable or 'module:name', got {self.function!r}.")
        check(not isinstance(self.needs, str), f"needs must be a list of ids, got the string {self.needs!r}.")
        for id in self.needs:
            check(id in ASSUMPTIONS, f"needs must be of {', '.join(ASSUMPTIONS)}, got {id!r}: say it in `assumes`.")

    @property
    def is_printed(self) -> bool:
        return self.group == "paper"

    @property
    def is_claim(self) -> bool:
        """Whether it claims something about the network if its assumptions hold."""
        return self.group != "context"

    @property
    def is_paid_by_each(self) -> bool:
        """Whether each of several networks that were compared on one sample pays for it."""
        return not (self.simultaneous or self.group in ("paper", "corrected", "context"))

    def is_about(self, classes: Classes) -> bool:
        """Whether it is a claim about a network with two classes, or with more."""
        return self.is_claim and self.classes in (classes, "any")

    @property
    def numeric(self) -> Callable[..., Any]:
        return self.function if callable(self.function) else _imported(self.function)

    @property
    def reads(self) -> frozenset[str]:
        """The names of the parameters of the numeric form."""
        return _parameters(self.numeric)


def _imported(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    numeric: Callable[..., Any] = getattr(import_module(module), function)
    return numeric


@lru_cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


# The statements

_FAMILY = ("iid", "membership", "r-sup", "fixed-in-advance", "feature-map", "arithmetic")
_LEMMA_2 = ("lipschitz", "phi-zero", "layered", "delta")
_PRINT = (*_FAMILY, *_LEMMA_2, "range", "depth", "r-inf", "normalised")
_TRAINED = ("iid", "lipschitz", "homogeneous", "feature-map", "arithmetic")
_LINEAR = ("iid", "linear", "r-sup", "feature-map", "arithmetic")
_HERE = "adanet_theory.risk.generalization:"
_POSTERIOR = "adanet_theory.risk.posterior:"
_PROOFS = "paper_notes/derivations.md#"


def _proved(id: str, function: str, **facts: Any) -> Bound:
    """A statement of ours: its title is its id and its proof the derivation of that name, unless it says otherwise."""
    return Bound(id, function=function, **{"title": id, "group": "corrected", "reference": _PROOFS + id} | facts)


def _published(id: str, title: str, function: str, reference: str, **facts: Any) -> Bound:
    """A complexity of others, for comparison."""
    return Bound(id, title, "context", function, loss="margin_error", scale="rho", reference=reference, **facts)


_TWO_CLASSES = (
    Bound(
        "theorem-1", "Theorem 1, printed", "paper", _HERE + "theorem_1",
        loss="margin_error", complexity="lemma-2", at="r_inf", scale="rho", needs=_PRINT,
        reference="Cortes et al., ICML 2017, Theorem 1",
        examples=at_point("0.3693096732324740815695823147286723966286"),
    ),
    Bound(
        "corollary-1", "Corollary 1, printed", "paper", _HERE + "corollary_1",
        loss="margin_error", complexity="lemma-2", at="r_inf", scale="rho", needs=_PRINT,
        reference="Cortes et al., ICML 2017, Corollary 1",
        examples=at_point("24.52053727675921291609512458273092597061"),
    ),
    _proved(
        "theorem-1-range", _HERE + "theorem_1_range", title="Theorem 1, range mended",
        loss="margin_error", complexity="lemma-2", at="r_sup", scale="rho", range="M",
        needs=(*_FAMILY, *_LEMMA_2, "normalised"),
        examples=at_point("0.3954147343388213583027575845875445878885"),
    ),
    _proved(
        "margin-bound", _HERE + "margin_bound",
        loss="ramp", complexity="lemma-2-peeled", at="r_sup", scale="rho", range="M", needs=(*_FAMILY, "normalised"),
        examples=at_point("0.2534269386531361199573509715930778213447"),
    ),
    _proved(
        "margin-bound-uniform", _HERE + "margin_bound_uniform_at",
        loss="ramp", complexity="lemma-2-peeled", at="r_sup", scale="W_M", range="M_k", needs=_FAMILY,
        examples=at_point("0.2489404064049869597280516554287969026519"),
    ),
    _proved(
        "margin-bound-empirical", _HERE + "margin_bound_empirical",
        loss="ramp", complexity="R_S", at="r_rms", scale="rho", range="M_k", needs=(*_FAMILY, "normalised"),
        examples=at_point("0.3030690811790748171505487060053785302735"),
    ),
    _proved(
        "margin-bound-unbounded", "adanet_theory.risk.unbounded:margin_bound_unbounded",
        loss="ramp", complexity="lemma-2-peeled", at="r_sup", scale="rho", needs=(*_FAMILY, "normalised"),
        reference=_PROOFS + "margin-bound-unbounded-unbounded-empirical",
        examples=at_point("0.2235375607943669217184772727014461509638"),
    ),
    _proved(
        "unbounded-empirical", "adanet_theory.risk.unbounded:unbounded_empirical",
        loss="ramp", complexity="R_S", at="r_rms", scale="rho",
        needs=("iid", "membership", "fixed-in-advance", "feature-map", "arithmetic", "normalised"),
        reference=_PROOFS + "margin-bound-unbounded-unbounded-empirical",
        examples=at_point("0.259401114866864121083428597055770030175"),
    ),
    _proved(
        "a-posteriori", _POSTERIOR + "a_posteriori_at",
        loss="ramp", at="r_rms", scale="B", needs=_TRAINED,
        reference=_PROOFS + "a-posteriori-a-posteriori-bounded",
        examples=at_point("0.2539439925722078284504170317139578975855"),
    ),
    _proved(
        "a-posteriori-bounded", _POSTERIOR + "a_posteriori_bounded_at",
        loss="ramp", at="r_sup", scale="B",
        needs=("iid", "lipschitz", "homogeneous", "r-sup", "feature-map", "arithmetic"),
        reference=_PROOFS + "a-posteriori-a-posteriori-bounded",
        examples=at_point("0.2305942778176698405534553858931536556903"),
    ),
)  # fmt: skip


def _many_classes(id: str, value: str, proof: str) -> Bound:
    """The statement on the margins f(x, y) - max f(x, y') that reads and needs what the one on y f(x) does."""
    two = next(bound for bound in _TWO_CLASSES if f"multiclass-{bound.id}" == id)
    function = f"adanet_theory.risk.multiclass:multiclass_{str(two.function).partition(':')[2]}"
    named: dict[str, Any] = {"id": id, "title": id, "function": function, "reference": _PROOFS + proof}
    return replace(two, **named, examples=at_point(value), classes="many")


_OF_BOTH = "multiclass-a-posteriori-multiclass-a-posteriori-bounded"
_BUILT_IN = (
    *_TWO_CLASSES,
    _many_classes("multiclass-margin-bound", "0.4514379037830941264327064131215619078216", "multiclass-margin-bound"),
    _many_classes(
        "multiclass-margin-bound-uniform", "0.4171632118606385590354119924583367459507", "multiclass-margin-bound"
    ),
    _many_classes("multiclass-a-posteriori", "0.360391571535615573728641536917573916922", _OF_BOTH),
    _many_classes("multiclass-a-posteriori-bounded", "0.3370418567810775858316798910967696750268", _OF_BOTH),
    _proved(
        "vote-certificate", "adanet_theory.certificates.vote:vote_certificate",
        group="certificate", at="r_sup", needs=_LINEAR, simultaneous=True,
    ),
    _proved(
        "vote-certificate-multiclass", "adanet_theory.certificates.vote_multiclass:vote_certificate_multiclass",
        group="certificate", at="r_sup", needs=_LINEAR, classes="many", simultaneous=True,
    ),
    _proved(
        "a-posteriori-data", _POSTERIOR + "a_posteriori_data_at", title="a-posteriori, from data",
        group="certificate", loss="ramp", at="r_rms", needs=_TRAINED, quoted=False, simultaneous=True,
    ),
    _proved(
        "held-out", "adanet_theory.certificates.binomial:clopper_pearson",
        group="held-out", needs=("iid", "untouched"), classes="any",
        assumes="the points were never used in training, nor to choose among networks",
        examples=(
            Example({"errors": 3, "m": 50, "delta": "0.05"},
                    "0.1478371763641812405486880151392765077315", "3 errors on 50 points"),
            Example({"errors": 26, "m": 2400, "delta": "0.05"},
                    "0.01500032771321522081710820869717500436706", "26 errors on 2,400 points"),
        ),
    ),
    _proved(
        "pick-certificate", "adanet_theory.certificates.pick:pick_certificate",
        group="certificate", needs=("iid", "feature-map", "picked", "recipe"), classes="any",
        examples=(
            Example({"k": 0, "N": 10, "delta": "0.05"},
                    "0.3463911601706780581741839014917892882753", "none of 10 points was picked"),
            Example({"k": 3, "N": 20, "delta": "0.05"},
                    "0.4350934805406759050065408813651303958212", "3 of 20 points were picked"),
            Example({"k": 16, "N": 357, "delta": "0.05"},
                    "0.08329312553914308551757880385521193743436", "16 of 357 points were picked"),
            Example({"k": 1179, "N": 43_200, "delta": "0.005"},
                    "0.03055367920618047053586980027437093275331", "1,179 of 43,200 points were picked"),
        ),
    ),
    _proved(
        "occam-certificate", "adanet_theory.certificates.occam:occam_certificate",
        group="certificate", needs=("iid", "feature-map", "architecture"), classes="any", simultaneous=True,
        examples=(
            Example({"k": 0, "N": 100, "bits": 20, "delta": "0.05"},
                    "0.1551420386638709310147730341767115720918", "no error on 100 points, 20 bits"),
            Example({"k": 10, "N": 1000, "bits": 64, "delta": "0.05"},
                    "0.0732180346272781460817648912095623634972", "10 errors on 1,000 points, 64 bits"),
            Example({"k": 60, "N": 11_982, "bits": 300, "delta": "0.05"},
                    "0.03118747025931595075146678245573207903406", "60 errors on 11,982 points, 300 bits"),
            Example({"k": 1200, "N": 60_000, "bits": 2000, "delta": "0.05"},
                    "0.06579902089545848453553092038023417280319", "1,200 errors on 60,000 points, 2,000 bits"),
        ),
    ),
    _proved(
        "disagreement-certificate", "adanet_theory.certificates.disagreement:disagreement_certificate",
        group="certificate", needs=("iid", "unlabelled", "surrogate"), classes="any",
        assumes="R(g) <= b, under the assumptions of the certificate of g",
        examples=(
            Example({"b": "0.02", "d": 0, "n": 100, "delta_2": "0.025"},
                    "0.05621669264517641882651091302687770934322", "R(g) <= .02, and the two agree at 100 points"),
            Example({"b": "0.0159", "d": 40, "n": 5000, "delta_2": "0.025"},
                    "0.02677795269768235685628257830202942901247",
                    "R(g) <= .0159, and the two differ at 40 of 5,000 points"),
        ),
    ),
    _published(
        "golowich-frobenius", "Golowich et al., Frobenius", "adanet_theory.risk.related:golowich_frobenius",
        "Golowich, Rakhlin, Shamir, COLT 2018, Theorem 1", needs=("layered", "fixed-in-advance"),
    ),
    _published(
        "golowich-l1", "Golowich et al., l1", "adanet_theory.risk.related:golowich_l1",
        "Golowich, Rakhlin, Shamir, COLT 2018, Theorem 2", needs=("layered", "fixed-in-advance"),
    ),
    _published(
        "neyshabur-group", "Neyshabur et al., group norms", "adanet_theory.risk.related:neyshabur_group",
        "Neyshabur, Tomioka, Srebro, COLT 2015, Theorem 1", needs=("layered", "fixed-in-advance"),
    ),
    _published(
        "kuznetsov-mohri-syed", "Kuznetsov, Mohri, Syed", "adanet_theory.risk.multiclass:kuznetsov_mohri_syed",
        "Kuznetsov, Mohri, Syed, NIPS 2014, Theorem 1", needs=("range", "depth", "fixed-in-advance"),
        complexity="lemma-2-peeled", at="r_sup", classes="many",
    ),
)  # fmt: skip


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
    """The selected records in the order of the catalogue: the paper's first, registered ones last."""
    return tuple(bound for bound in _catalogue.values() if wanted(bound))


def of_group(*groups: Group) -> tuple[Bound, ...]:
    return select(lambda bound: bound.group in groups)


def theory(classes: Classes = "two") -> tuple[Bound, ...]:
    """The paper's statements and their replacements. These have twins, and the explorer shows them.

    >>> [bound.id for bound in theory() if bound.is_printed]
    ['theorem-1', 'corollary-1']
    """
    return tuple(bound for bound in of_group("paper", "corrected") if bound.classes == classes)


def ids(bounds: tuple[Bound, ...]) -> tuple[str, ...]:
    return tuple(bound.id for bound in bounds)


def needing(assumption: str, classes: Classes = "two") -> tuple[str, ...]:
    """The ids of all claims that need the assumption."""
    return ids(select(lambda bound: bound.is_about(classes) and (assumption in bound.needs or assumption in ALWAYS)))


# A bound of one's own


def register(bound: Bound) -> Bound:
    """Add a record of group "user" (a claim) or "context". All later reports and figures show it.

    Its function returns a MarginBound, a dict of terms or one number. It must round its result up.

    Parameters
    ----------
    bound
        A record whose id is new.

    Returns
    -------
    Bound
        The same record.

    Raises
    ------
    ValueError
        If the record is in another group, its id is taken, or its function cannot be called.
    """
    check(isinstance(bound, Bound), f"register takes a Bound(..), got a {type(bound).__name__}.")
    check(bound.group in ("user", "context"), f"group must be user or context, got group={bound.group!r}.")
    check(bound.id not in _catalogue, f"a bound {bound.id!r} exists already.")
    try:
        numeric = bound.numeric
    except (ImportError, AttributeError) as error:
        raise ValueError(f"the function of {bound.id!r} cannot be imported: {error}.") from None
    check(callable(numeric), f"the function of {bound.id!r} cannot be called.")
    _catalogue[bound.id] = bound
    return bound


def built_in() -> tuple[Bound, ...]:
    return _BUILT_IN


def is_built_in(bound: Bound) -> bool:
    return bound.id in _OURS


def registered() -> tuple[Bound, ...]:
    return select(lambda bound: not is_built_in(bound))


def forget(id: str) -> None:
    """Remove a registered bound."""
    check(id in ids(registered()), f"no bound {id!r} was registered.")
    del _catalogue[id]
