"""One step of the gradient search against its bare matrix products, and rounds of AdaNet.CVX per second."""

import time
from collections.abc import Callable

import torch

from adanet_train.core.config import Config
from adanet_train.methods import adanet_cvx
from adanet_train.search.descent import GradientSearch, SubnetworkProblem

M, N_0, B, BATCH = 9600, 154, 150, 100
STEPS = 4  # in one timing: short enough that some timings are not interrupted


def sample(m: int, n_0: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    Psi = torch.rand(m, n_0, generator=generator, dtype=torch.float64)
    Psi[:, -1] = 1
    noise = torch.randn(m, generator=generator, dtype=torch.float64)
    return Psi, torch.where((Psi[:, 0] - 0.5) * (Psi[:, 1] - 0.5) + 0.05 * noise > 0, 1.0, -1.0).double()


def side_by_side(ours: Callable[[], object], theirs: Callable[[], object], repeats: int = 300) -> tuple[float, float]:
    """The least CPU seconds of each, taken in turns so that a busy machine disturbs both alike."""
    least = [float("inf"), float("inf")]
    for _ in range(repeats):
        for j, work in enumerate((ours, theirs)):
            start = time.process_time()
            work()
            least[j] = min(least[j], time.process_time() - start)
    return least[0], least[1]


def step_row(depth: int, optimiser: str, dtype: str) -> dict[str, object]:
    Psi, y = sample(M, N_0)
    config = Config(optimiser=optimiser, dtype=dtype, batch=BATCH, learning_rate=1e-4)
    generator = torch.Generator().manual_seed(0)
    widths = [N_0, *[B] * (depth - 1)]
    U = [torch.randn(B, n, generator=generator, dtype=torch.float64) / n**0.5 for n in widths]
    w = [torch.randn(B, generator=generator, dtype=torch.float64) / B]
    problem = SubnetworkProblem([Psi, *[Psi[:, :0]] * (depth - 1)], y, torch.zeros_like(y), (depth,), [1.01] * depth)
    search = GradientSearch(problem, U, w, config, generator)

    # What a gradient by the book multiplies: forward, weights and inputs of each layer (no inputs of the first).
    kind = getattr(torch, dtype)
    x = [torch.rand(BATCH, n, generator=generator).to(kind) for n in widths]
    V = [U_k.to(kind) for U_k in U]
    back = torch.rand(BATCH, B, generator=generator).to(kind)

    def products() -> None:
        for _ in range(STEPS):
            for k in range(depth):
                torch.mm(x[k], V[k].T)
                torch.mm(back.T, x[k])
                if k > 0:
                    torch.mm(back, V[k])

    def steps() -> None:
        for number in range(1, STEPS + 1):
            search.step(number)

    ours, bare = side_by_side(steps, products)
    return {
        "work": f"one {optimiser} step with projection, depth {depth}, B={B}, batch {BATCH}, n_0={N_0}, {dtype}",
        "against": "its bare matrix products",
        "ratio": ours / bare,
        "target": "<= 2",
        "microseconds": round(ours / STEPS * 1e6, 1),
    }


def cvx_row(m: int, rounds: int, target: int) -> dict[str, object]:
    Psi, y = sample(m, N_0)
    config = Config(rounds=rounds, p=1.0, Lambda=1.0, lam=1e-6)
    z = Psi.T.contiguous()

    def gradients() -> None:
        for _ in range(rounds):
            torch.mv(z, y)

    done = len(adanet_cvx.train(Psi, y, config).history)
    ours, bare = side_by_side(lambda: adanet_cvx.train(Psi, y, config), gradients, repeats=20)
    return {
        "work": f"AdaNet.CVX, {done} rounds, m={m}, n_0={N_0}",
        "against": "one gradient over the features a round",
        "ratio": ours / bare,
        "target": f"<= {target}",
        "rounds_per_second": round(done / ours, 1),
    }


def run() -> list[dict[str, object]]:
    torch.set_num_threads(1)
    steps = [
        step_row(depth, optimiser, dtype)
        for dtype in ("float32", "float64")
        for depth in (2, 3)
        for optimiser in ("sgd", "adam")
    ]
    return [*steps, cvx_row(1000, 500, 60), cvx_row(10_000, 100, 10)]
