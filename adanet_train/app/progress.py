"""The output of adanet-train: a line per round, and the closing table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adanet_theory.rounding import probability, upward
from adanet_train.core.bar import Bar
from adanet_train.core.by_class import only_class
from adanet_train.core.training import Trained
from adanet_train.data.rows import qualified


class Rounds:
    """Callback that prints each round on stderr, so that stdout holds the result alone."""

    def __init__(self, bar: Bar, notes: Sequence[str] = ()) -> None:
        self.bar, self.notes = bar, list(notes)
        self.quarters = 0  # of K, that were shown

    def __call__(self, trained: Trained) -> None:
        # the notes with the first round and not before: a run refused at its start says one line only
        for line in self.notes:
            self.bar.say(line)
        self.notes = []
        line, picking = round_line(trained.history[-1]), trained.history[-1].get("picking")
        if picking is not None and trained.picked is not None:
            self._picked(picking["picked"], trained.picked["recipe"]["K"], line)
            return
        self.bar.say(f"round {len(trained.history)}: {line}")
        done, T = len(trained.history), trained.config.family.rounds
        self.bar(done, T, f"{done} of at most {T} rounds")

    def _picked(self, done: int, K: Any, line: str) -> None:
        """Rounds of picking are many and alike: one line that changes, and without a terminal at each quarter of K."""
        last = K[-1] if isinstance(K, list) else K
        if not done:
            self.bar.paced()
        if not self.bar.on_terminal and done >= self.quarters * last / 4:
            self.quarters = 4 * done // max(last, 1) + 1
            self.bar.say(f"picking: {line}")
            return
        self.bar(done, last, line)


def interrupted(output: Any, done: int) -> str:
    """The message of an interrupted run: the round that its file holds.

    >>> interrupted("model.pt", 3)
    'interrupted: model.pt holds round 3; --resume continues from there.'
    """
    return f"interrupted: {kept(output, done)}."


def kept(output: Any, done: int) -> str:
    """The round that the output file holds, as the end of a message."""
    return f"{output} holds round {done}; --resume continues from there" if done else "no round was finished"


def round_line(entry: Mapping[str, Any]) -> str:
    """The candidates' objective values and held-out losses, what was chosen and why, or why nothing was.

    >>> candidates = [{"depth": 1, "objective": 0.5}, {"depth": 2, "objective": 0.25, "held_out": 0.3}]
    >>> round_line({"candidates": candidates, "chosen": 1, "objective": 0.25, "why": "least F"})
    'F = 0.25 at depth 2, least F (depth 1: 0.5, depth 2: 0.25, held-out 0.3)'
    >>> why = "no candidate lowers F by more than 0.001 of it (least_decrease)"
    >>> round_line({"candidates": candidates[:1], "chosen": -1, "objective": 0.5001, "why": why})
    'F = 0.5001, no candidate lowers F by more than 0.001 of it (least_decrease): stopped (depth 1: 0.5)'
    >>> round_line({"candidates": [], "chosen": -1, "objective": 0.25, "why": "no unit lowers F"})
    'F = 0.25, no unit lowers F: stopped'
    >>> round_line({"picking": {"picked": 2, "left": 1, "N": 90, "bound": 0.091121}})
    '2 rows picked, 1 of the other 88 wrong'
    """
    if (picking := entry.get("picking")) is not None:
        return picks(picking)
    candidates = entry["candidates"]
    shown = f" ({', '.join(_values(candidate) for candidate in candidates)})" if candidates else ""
    if entry["chosen"] < 0:
        return f"F = {entry['objective']:.6g}, {entry.get('why', 'no candidate is lower')}: stopped{shown}"
    why = f", {entry['why']}" if "why" in entry else ""
    return f"F = {entry['objective']:.6g} at depth {candidates[entry['chosen']]['depth']}{why}{shown}"


def _values(candidate: Mapping[str, Any]) -> str:
    held_out = f", held-out {candidate['held_out']:.6g}" if "held_out" in candidate else ""
    return f"depth {candidate['depth']}: {candidate['objective']:.6g}{held_out}"


def picks(counted: Mapping[str, Any]) -> str:
    """The two counts of a certificate by picking.

    >>> picks({"picked": 1, "left": 0, "N": 90})
    '1 row picked, 0 of the other 89 wrong'
    """
    picked = counted["picked"]
    rows = f"{picked or 'no'} row{'s' * (picked != 1)} picked"
    return f"{rows}, {counted['left']} of the other {counted['N'] - picked:,} wrong"


def _objective(F: float, certified: Mapping[str, Any] | None) -> str:
    """F, or what picking certifies."""
    if certified is None:
        return f"{F:.6g}"
    statement = f"risk <= {upward(certified['bound'])} with probability {probability(certified['delta'])}"
    statement += f" ({picks(certified)})"
    rows = certified["repeats"], certified["m"]
    return qualified(statement, *rows, discrete=certified["discrete"], remedy="--discrete")


_SHOWN_CLASSES = 8


def _by_class(errors: Mapping[str, float]) -> str:
    """The training error of each class, the worst first."""
    worst = sorted(errors.items(), key=lambda entry: -entry[1])
    more = [f"{len(worst) - _SHOWN_CLASSES} more below"] if len(worst) > _SHOWN_CLASSES else []
    return ", ".join([*(f"{name} {error:.4f}" for name, error in worst[:_SHOWN_CLASSES]), *more])


def closing_table(result: Mapping[str, Any]) -> str:
    """Method, rounds, architecture, objective, train and test error, seconds, file; n_0 without a constant feature."""
    n_0, *units = result["n"]
    n_0 -= bool(result.get("bias"))
    test_error, certified = result["test_error"], result.get("certificate")
    rows = {
        "method": result["method"],
        "rounds": result["rounds"],
        "architecture": f"n_0 = {n_0}, depth {result['depth']}, units {', '.join(str(n_k) for n_k in units)}",
        "objective" if certified is None else "certificate": _objective(result["objective"], certified),
        "train error": f"{result['train_error']:.4f}",
        "test error": "no test data" if test_error is None else f"{test_error:.4f}",
        "by class": _by_class(result["class_errors"]),
        "seconds": f"{result['seconds']:.1f}",
        "model": result["model"],
    }
    if aside := result.get("holdout"):
        instead = "" if certified is None else ", and quotes their bound in place of this certificate"
        rows["held out"] = f"{aside:,} points, in the file: verify-bounds {result['model']} tests on them{instead}"
    if not any(units):
        rows["note"] = (
            "no unit lowers F, so f = 0, which counts as an error at every point: --objective certificate may help"
        )
    if (name := only_class(result["class_errors"])) is not None:
        constant = f"a constant prediction errs on {result['base_rate']:.4f}"
        constant += " (--class-weight balanced)" if certified is None else ""  # a certificate counts every point alike
        rows["note"] = f"the network predicts one class, {name}; {constant}"
    return "\n".join(f"{name:14}{value}" for name, value in rows.items())
