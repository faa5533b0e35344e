"""adanet-train DATA -o model.pt: Train AdaNet, AdaNet.CVX, LR or NN, and write the network to a file."""

from __future__ import annotations

import argparse
import ast
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adanet_theory.checks import check, nearest
from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core import files
from adanet_train.core.bar import Bar
from adanet_train.core.device import device

if TYPE_CHECKING:
    from adanet_train.app.inputs import RunInputs
    from adanet_train.core.config import Config
    from adanet_train.core.training import Trained
    from adanet_train.core.world import World
    from adanet_train.model.model_file import Sample

EXAMPLES = """\
DATA is one of
  two classes   breast-cancer, digits:3-8, mnist:0-1, fashion:coat-shirt, cifar10:cat-dog
  more classes  digits, mnist, fashion, cifar10, iris, wine
  your file     .csv, .parquet, .npy, .npz or .pt with labels y and features X (or Psi, used as they are);
                'part-*.parquet' in quotes: a table in many files

examples:
  adanet-train breast-cancer -o model.pt
  adanet-train digits:3-8 -o certified.pt --objective certificate      a network with a bound on its error
  adanet-train table.csv --label class --drop id -o model.pt --test-data new.csv
  adanet-train fashion --data-dir data --subnetworks my_builders:cnns --rounds 3 -o cnns.pt

Then ask what can be said of its error:  verify-bounds model.pt
"""


def main(argv: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else argv
    with console.terminable():
        return console.run(parser(), lambda arguments: _launched(arguments, given), given)


def parser() -> Parser:
    """The parser. An option of Config has no default here: if it is not given, Config's own default holds."""
    options = Parser(
        prog="adanet-train",
        description=__doc__.partition(": ")[2] if __doc__ else None,
        epilog=EXAMPLES,
        argument_default=argparse.SUPPRESS,
    )
    add = options.add_argument
    add("data", metavar="DATA", help="name of a data set, or a file; see below")
    add("-o", "--output", required=True, metavar="FILE", help="model file to write; updated after every round")
    methods = "what to train (default adanet); lr: logistic regression, nn: a plain network"
    add("--method", default="adanet", choices=("adanet", "cvx", "cvx-exact", "lr", "nn"), help=methods)
    presets = "default, or paper: as published, with gradient search, T = 30, B = 150 and λ = 1e-5; other options win"
    add("--preset", default="default", choices=("default", "paper"), help=presets)
    add(
        "--variant",
        choices=("base", "R", "P", "D", "SD"),
        help="variant of adanet in the paper's Table 3 (default base)",
    )
    add("--rounds", type=int, metavar="T", help="largest number of rounds (default 10)")
    later = "declare the family for T rounds now, so that --resume may add rounds later"
    add("--max-rounds", type=int, metavar="T", help=later)
    add("--width", type=int, metavar="B", help="units per layer of a subnetwork; without it 50 to 100, by sample size")
    add("--p", type=float, metavar="P", help="norm of a unit's weights, 1 to inf (default 2)")
    add(
        "--Lambda",
        type=_several(float, "a number, or L1,L2,.. by layer"),
        metavar="L",
        help="largest norm: one number, or L1,L2,.. by layer (default 1.01)",
    )
    add("--lam", type=float, metavar="λ", help="weight of the complexity r (default: by held-out points, or 1e-5)")
    add("--beta", type=float, metavar="β", help="constant added to the penalty λr (default 0)")
    add("--rho", type=float, metavar="R", help="margin to declare with the family; training does not use it")
    add("--surrogate", choices=("logistic", "logistic2", "exponential"), help="loss Φ (default logistic)")
    complexities = ("lemma-2", "lemma-2-peeled", "sampled", "sd", "sqrt-depth")
    add("--complexity", choices=complexities, help="complexity r of a unit (default lemma-2)")
    objectives = (
        "what to minimise (default paper); bound: F with the λ and β at which it bounds the risk; certificate: train "
        "by picking, with a bound on the error; vote: a PAC-Bayes bound of a vote; description: a bound that charges "
        "every unit its bits"
    )
    add("--objective", choices=("paper", "bound", "certificate", "vote", "description"), help=objectives)
    add(
        "--start",
        type=float,
        metavar="F",
        help="picking: share of the rows that training starts on (default: .65, from 1,000 rows .75)",
    )
    picks = "picking: most rows to pick (without it a dry run inside the start decides), or K1,K2,.. to keep the best"
    add("--picks", type=_several(int, "an integer, or K1,K2,.. rising"), metavar="K", help=picks)
    discrete = "identical rows are different people or events; without it rows that repeat have no certificate"
    add("--discrete", action="store_true", help=discrete)
    add("--seed", type=int, metavar="S", help="random seed (default 0)")
    add("--device", default="auto", metavar="auto|cpu|cuda", help="default auto: the GPU if there is one")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="set any other field of Config; repeatable")
    add("--test-data", default=None, metavar="F", help="name or file of points for the test error; not trained on")
    label = "where the labels are: a column of a table (default y); for .npy a column number (default last) or a file"
    add("--label", default=None, metavar="COLUMN", help=label)
    add("--drop", action="append", default=[], metavar="COLUMN", help="leave out a column of the table; repeatable")
    add("--data-dir", default=None, metavar="DIR", help="folder of mnist, fashion, cifar10 (default $ADANET_DATA or .)")
    add("--bias", default=None, action=argparse.BooleanOptionalAction, help="add a constant feature (default yes)")
    add("--center", default=False, action="store_true", help="scale features of known range to [-1, 1], not to [0, 1]")
    features = "hog: histograms of gradients of images; learned:F: scale by a share F of the points, not trained on"
    add("--features", default=None, metavar="NAME", help=features)
    limits = "range of every feature, if you knew it before the sample: 0,255 (negative: --feature-range=-1,1)"
    add("--feature-range", type=_limits, default=None, metavar="LO,HI", help=limits)
    weight = "weights of the classes in the loss: balanced, or NAME=W,NAME=W (adanet, objective paper)"
    add("--class-weight", default=None, metavar="balanced|NAME=W", help=weight)
    add("--holdout", type=float, default=None, metavar="F", help="keep a share F of the points for a held-out bound")
    add(
        "--no-sample",
        default=False,
        action="store_true",
        help="store a digest of the sample in the file, not its points",
    )
    own = "function of yours that returns builders of subnetworks; it is imported, and DATA may be images"
    add("--subnetworks", default=None, metavar="PACKAGE:FACTORY", help=own)
    add("--resume", default=False, action="store_true", help="continue from the last round in the output file")
    add("--log", default=None, metavar="DIR", help="write TensorBoard event files to DIR, one step per round")
    several = "processes on this machine, each with a share of the rows (default 1); torchrun for more machines"
    add("--processes", type=int, default=1, metavar="N", help=several)
    add("--json", default=False, action="store_true", help="print one JSON document instead of the table")
    options.add_version()
    return options


def _limits(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be two numbers LO,HI, as in 0,255 or =-1,1, got {text!r}") from None
    return low, high


def _several(kind: type, what: str) -> Callable[[str], Any]:
    """One number of a kind, or several with commas between them as a tuple."""

    def read(text: str) -> Any:
        try:
            parts = tuple(kind(part) for part in text.split(","))
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}") from None
        return parts if len(parts) > 1 else parts[0]

    return read


# The run


def _launched(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """The run, in this process or in several."""
    from adanet_train.app import processes

    files.check_label(arguments.label, (arguments.data, arguments.test_data))
    check(arguments.processes >= 1, f"processes must be an integer >= 1, got {arguments.processes}.")
    run = train
    if arguments.subnetworks is not None:
        from adanet_train.app import subnetworks

        subnetworks.check_options(arguments, parser())
        run = subnetworks.train
    begun = os.environ.get("WORLD_SIZE", "1")
    if arguments.processes > 1 and begun == "1":
        if arguments.subnetworks is None:
            _check_several(arguments.method, make_config(arguments))  # before processes are started to say so
        return processes.launch(argv, arguments.processes, arguments.output)
    if begun == "1":
        return run(arguments)
    from adanet_train.core.world import ProcessEnded

    processes.end_with_the_launcher()
    reason, status = "another process of the run ended", 2
    try:
        return run(arguments)
    except ProcessEnded:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun ends whoever is left: first say what there is
        if processes.LAUNCHED in os.environ:
            return processes.ENDED
    except KeyboardInterrupt as error:  # while it waits for the others, or leaves them
        reason, status = "interrupted", console.status_of(error)
    return console.refuse("adanet-train", f"{reason}: {processes.state(arguments.output)}.", status)


def train(arguments: argparse.Namespace) -> int:
    from adanet_train.core.world import joined, local_device

    arguments.device = local_device(device(str(arguments.device)))
    with joined(arguments.device) as world:
        return train_in(world, arguments)


def train_in(world: World, arguments: argparse.Namespace) -> int:
    """Train in this process; of several processes the first one prints the result and writes the file."""
    from adanet_train.app import run
    from adanet_train.app.inputs import Asked, range_of, read_inputs
    from adanet_train.app.progress import Rounds, closing_table, interrupted
    from adanet_train.data.rows import doubt
    from adanet_train.model import model_file
    from adanet_train.model.trained import model_of

    start = time.perf_counter()
    config = make_config(arguments)
    asked = Asked(
        test=arguments.test_data,
        label=arguments.label,
        data_dir=arguments.data_dir,
        bias=arguments.bias,
        center=arguments.center,
        certificate=config.goal.objective if config.goal.is_certificate else None,
        start=_start(config),
        features=arguments.features,
        feature_range=arguments.feature_range,
        drop=tuple(arguments.drop),
        holdout=arguments.holdout,
        seed=config.run.seed,
    )
    for name in ("start", "picks"):
        given = hasattr(arguments, name) and not config.goal.by_picking
        check(not given, f"--{name} is for --objective certificate.")
    files.check_writable(arguments.output, (arguments.data, arguments.test_data, arguments.label))
    inputs = read_inputs(arguments.data, asked)
    weights = _weights(arguments, config, inputs)
    repeated = inputs.repeats() if config.goal.certifies else 0
    doubts = (doubt(repeated, len(inputs.y), "--discrete"),) if repeated and not config.goal.discrete else ()
    known = any(setting.startswith("r_sup=") for setting in arguments.set)
    config = config.replace(r_sup=range_of(inputs, config, known=known))
    outputs = inputs.dataset.outputs
    sample = model_file.Sample.kept(inputs.points, inputs.y, outputs)
    resume = read_resume(arguments, sample) if arguments.resume else None
    parts = {"sample": sample, "holdout": model_file.Sample.kept(*inputs.holdout, outputs) if inputs.holdout else None}
    if arguments.no_sample:
        parts = {name: part and part.without_data() for name, part in parts.items()}
    saver = run.Saver(
        arguments.output,
        lambda trained: model_of(
            trained, arguments.method, features=inputs.features, notes=_notes(inputs, arguments), **parts
        ),
    )
    with Bar("training", quiet=world.rank > 0) as bar:
        try:
            train_method = run.trainer(arguments.method)
            shown = [saver, Rounds(bar, (*inputs.dataset.notes, *doubts)), *_logs(arguments)]
            callback = _each(shown) if world.rank == 0 else None
            if world.size > 1:
                _check_several(arguments.method, config)
            together = {"world": world} if world.size > 1 else {}
            trained = train_method(
                inputs.points, inputs.y, config, callback=callback, resume=resume, say=bar.say, **together, **weights
            )
            world.check_same(trained.network)
        except (MemoryError, RuntimeError) as error:
            saver.flush()
            if console.memory_asked(error) is None:
                raise
            raise MemoryError(_too_large(error, arguments, config, inputs)) from None
        except KeyboardInterrupt as error:
            saver.flush()
            done = saver.rounds_saved or (len(resume.history) if resume else 0)
            return console.refuse("adanet-train", interrupted(arguments.output, done), console.status_of(error))
    if world.rank > 0:
        return 0
    saver.latest = trained
    saver.flush()
    result = summary(arguments, trained, inputs, time.perf_counter() - start, repeated)
    print(json.dumps(result, allow_nan=False) if arguments.json else closing_table(result))
    return 0


def _start(config: Config) -> Any:
    """The split of the rows into start and the others, where the objective is to pick."""
    if not config.goal.by_picking:
        return None
    from adanet_train.picking.train import plan_of  # with scikit-learn, which training alone does not need

    return plan_of(config).split


def _weights(arguments: argparse.Namespace, config: Config, inputs: RunInputs) -> dict[str, Any]:
    """The weights of the points, if classes have any."""
    from adanet_train.app import run

    if arguments.class_weight is None:
        return {}
    check(arguments.method == "adanet", f"class-weight is for method adanet, got method={arguments.method!r}.")
    config.goal.check_unweighted(arguments.class_weight)
    return {"weights": run.class_weights(arguments.class_weight, inputs.y, inputs.dataset.classes)}


def _too_large(error: BaseException, arguments: argparse.Namespace, config: Config, inputs: RunInputs) -> str:
    """What the run would need, and what would need less."""
    from adanet_train.app import run

    m, n_0 = len(inputs.y), inputs.points.n_0
    config = config.resolve(arguments.method, inputs.y, m)
    asked = console.memory_asked(error) or 0.0
    needed = console.size(max(asked, run.memory_needed(arguments.method, config, m, n_0, inputs.dataset.outputs)))
    streamed = arguments.method == "adanet" and config.search.learner == "committee"
    remedy = "" if streamed else "; --method adanet with its own learner reads some rows at a time"
    said = console.described(error).removeprefix("out of memory").strip(":. ")
    return f"{f'{said}; ' if said else ''}about {needed} would be needed for m={m}, n_0={n_0}{remedy}."


def _check_several(method: str, config: Config) -> None:
    known = method == "adanet" and not config.goal.certifies
    check(known, "several processes need method adanet and objective paper or bound.")


def _notes(inputs: RunInputs, arguments: argparse.Namespace) -> dict[str, Any]:
    """What the file tells of the data, beside the sample."""
    from adanet_train.data.fields import Sample

    notes: dict[str, Any] = {"classes": inputs.dataset.classes, "features": arguments.features}
    called = None if inputs.dataset.classes else inputs.dataset.shown_classes
    notes |= {"called": called, "label": inputs.dataset.label, "dropped": arguments.drop}
    notes["class_weight"] = arguments.class_weight
    if inputs.learned_on is not None:
        points = Sample.digest(*inputs.learned_on)
        notes["features_learned_on"] = {"m": points.m, "sha256": points.sha256, "rows": inputs.learned_rows()}
    return {name: value for name, value in notes.items() if value}


def _each(callbacks: Sequence[Any]) -> Any:
    def callback(trained: Trained) -> None:
        for call in callbacks:
            call(trained)

    return callback


def _logs(arguments: argparse.Namespace) -> list[Any]:
    if arguments.log is None:
        return []
    from adanet_train.app.events import Events

    folder = not os.path.exists(arguments.log) or os.path.isdir(arguments.log)
    check(folder, f"--log must be a folder, got the file {arguments.log!r}.")
    return [Events(arguments.log)]


def make_config(arguments: argparse.Namespace) -> Config:
    """The Config of the given options; --set reaches every setting that has no option."""
    from adanet_train.core.config import DEFAULTS, Config

    given = {name: value for name, value in vars(arguments).items() if name in DEFAULTS}
    for setting in arguments.set:
        name, equals, text = setting.partition("=")
        near = nearest(name, DEFAULTS)
        meant = f"; did you mean {near!r}?" if near not in (None, name) else "."
        known = bool(equals) and name in DEFAULTS
        check(known, f"--set needs NAME=VALUE of a field of Config, got {setting!r}{meant}")
        given[name] = _value(text, DEFAULTS[name])
    return Config.preset(arguments.preset, **given | {"device": device(str(given["device"]))})


def _value(text: str, default: Any) -> Any:
    """The Python value of the text, or the text itself; a number for a float is a float."""
    if isinstance(default, bool) and text in ("true", "false"):
        return text == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        try:
            value = float(text)  # inf
        except ValueError:
            return text
    return float(value) if isinstance(default, float) and type(value) is int else value


def read_resume(arguments: argparse.Namespace, sample: Sample) -> Trained | None:
    """The run in the output file, None without a file; another method, class weight or sample is refused."""
    from pathlib import Path

    from adanet_train.model import model_file
    from adanet_train.model.trained import trained_of

    if not Path(arguments.output).exists():
        return None
    model = model_file.read(arguments.output)
    method = model.meta.get("method")
    check(method == arguments.method, f"{arguments.output}: trained by method {method!r}, got {arguments.method!r}.")
    same = model.meta.get("class_weight") == arguments.class_weight
    check(same, f"{arguments.output}: trained with another class-weight than {arguments.class_weight}.")
    same = model.sample is not None and model.sample.sha256 == sample.sha256
    check(same, f"{arguments.output}: trained on another sample or other features than {arguments.data}.")
    return trained_of(model)


def summary(
    arguments: argparse.Namespace, trained: Trained, inputs: RunInputs, seconds: float, repeated: int = 0
) -> dict[str, Any]:
    from adanet_train.app import run
    from adanet_train.core import by_class

    network = trained.network.to("cpu")
    wrong, y = run.is_wrong(network, inputs.points, inputs.y).numpy(), inputs.y.numpy()
    return {
        "schema": "adanet-train/1",
        "method": arguments.method,
        "rounds": len(trained.history),
        "depth": network.depth,
        "n": list(network.n),
        "bias": inputs.features is not None and inputs.features.bias,
        "objective": trained.history[-1]["objective"],
        "train_error": int(wrong.sum()) / len(y),
        "test_error": run.error_rate(network, *inputs.test) if inputs.test else None,
        "base_rate": by_class.base_rate(y),
        "class_errors": by_class.class_errors(wrong, y, inputs.dataset.shown_classes),
        **({} if inputs.holdout is None else {"holdout": len(inputs.holdout[1])}),
        "seconds": round(seconds, 3),
        "model": str(arguments.output),
        **({} if (certificate := run.certificate(trained, len(y), repeated)) is None else {"certificate": certificate}),
    }


if __name__ == "__main__":
    sys.exit(main())
