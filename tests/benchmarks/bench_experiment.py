"""Whether folds of equal shape should be trained as one batched problem: against one at a time, as the trainer does it.

From 250 units on a batched step is slower and at 100 a tenth faster, so the experiments train one fold at a time.

Times are of the process's CPU in one thread, the least of several runs, so that a busy machine does not show.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from adanet_train.core.config import Config
from adanet_train.search.descent import GradientSearch, SubnetworkProblem

FOLDS, M, N_0, BATCH, STEPS = 10, 9600, 155, 100, 60
CONFIG = Config(optimiser="adam", learning_rate=1e-3, batch=BATCH)


def run() -> list[dict[str, Any]]:
    rows = []
    for units, name in ((512, "NN step"), (250, "weak learner's step, B = 250"), (100, "weak learner's step, B = 100")):
        alone, together, products = least([one_at_a_time(units), Batched(units), bare_products(units)])
        work = f"{name}, {units} units, ten folds, batch {BATCH}"
        milliseconds = {"ms per fold and step": round(1e3 * together / STEPS / FOLDS, 3)}
        rows += [
            {"work": f"{work}, batched", "against": "one at a time", "ratio": together / alone, "target": "none"},
            {"work": f"{work}, batched", "against": "bare products", "ratio": together / products, "target": "-"},
            {"work": f"{work}, one at a time", "against": "bare products", "ratio": alone / products, "target": "-"},
        ]
        rows[-3] |= milliseconds
    return rows


def least(works: list[Callable[[], Any]], repeats: int = 4) -> list[float]:
    """The works in turn, so that all meet the same machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [min(times) for times in zip(*([seconds(work) for work in works] for _ in range(repeats)), strict=True)]
    finally:
        torch.set_num_threads(threads)


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def sample(seed: int) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    Psi = torch.rand(M, N_0, generator=draw, dtype=torch.float64)
    return Psi, torch.where(torch.rand(M, generator=draw) < 0.5, -1.0, 1.0).double()


def one_at_a_time(units: int) -> Callable[[], None]:
    """The trainer's own search, ten times."""
    searches = []
    for fold in range(FOLDS):
        Psi, y = sample(fold)
        problem = SubnetworkProblem([Psi, Psi[:, :0]], y, y, (2,), train_w=False)
        U = [torch.randn(units, N_0, dtype=torch.float64) / 10, torch.randn(1, units, dtype=torch.float64) / 10]
        draw = torch.Generator().manual_seed(0)
        searches.append(GradientSearch(problem, U, [torch.ones(1, dtype=torch.float64)], CONFIG, draw))

    def work() -> None:
        for search in searches:
            for number in range(1, STEPS + 1):
                search.step(number)

    return work


class Batched:
    """The same steps of ten networks, every product a torch.bmm over the folds, Adam on all parameters at once."""

    def __init__(self, units: int) -> None:
        samples = [sample(fold) for fold in range(FOLDS)]
        self.Psi = torch.stack([Psi for Psi, _ in samples]).float()
        self.y = torch.stack([y for _, y in samples]).float()
        self.theta = torch.randn(FOLDS, units * (N_0 + 1)) / 10
        self.U = self.theta[:, : units * N_0].view(FOLDS, units, N_0)
        self.v = self.theta[:, units * N_0 :].view(FOLDS, 1, units)
        self.slopes = torch.zeros_like(self.theta)
        self.U_slopes = self.slopes[:, : units * N_0].view(FOLDS, units, N_0)
        self.v_slopes = self.slopes[:, units * N_0 :].view(FOLDS, 1, units)
        self.mean, self.square = torch.zeros_like(self.theta), torch.zeros_like(self.theta)

    def __call__(self) -> None:
        draw = torch.Generator().manual_seed(0)
        for step in range(1, STEPS + 1):
            rows = torch.randint(M, (FOLDS, BATCH), generator=draw)
            x = self.Psi.gather(1, rows[:, :, None].expand(-1, -1, N_0))
            y = self.y.gather(1, rows)
            h = torch.bmm(x, self.U.mT)
            a = h.relu()
            f = torch.bmm(a, self.v.mT)[..., 0]
            g = (torch.sigmoid(-y * f) * y / -BATCH)[:, :, None]
            torch.bmm(g.mT, a, out=self.v_slopes)
            torch.bmm((g * self.v * (h > 0)).mT, x, out=self.U_slopes)
            self.mean.lerp_(self.slopes, 0.1)
            self.square.mul_(0.999).addcmul_(self.slopes, self.slopes, value=0.001)
            size = 1e-3 * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
            self.theta.addcdiv_(self.mean, self.square.sqrt().add_(1e-8), value=-size)


def bare_products(units: int) -> Callable[[], None]:
    """The two matrix products that no way of doing it can leave out."""
    x, U, back = torch.rand(BATCH, N_0), torch.rand(units, N_0), torch.rand(BATCH, units)

    def work() -> None:
        for _ in range(STEPS * FOLDS):
            torch.mm(x, U.T)
            torch.mm(back.T, x)

    return work
