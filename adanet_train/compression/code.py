"""The code of a network's weights, version 1: what a tensor costs, to the bit. Another code is another prior.

The shapes of the tensors are known to both sides. In turn, for every tensor, as a matrix with a row for each output:

    kind        0: integers q 2^e, 10: all zeros, 11: floating-point numbers as they are (raw)
    integers    e, as the difference to the last e; L = max |q|; a, the concentration of every count, in eighths;
                T, the levels with counts of their own; the context of zero; whether dead rows and columns are named
    masks       a bit a row and a bit a column; the context of a column is whether the row that feeds it is alive
    body        for every number left |q| > 0?, its sign, |q| > 1?, |q| > 2?, .. up to L, with adaptive counts
    raw         mantissa bits p, largest exponent E; of every number 0?, its sign, E - exponent in unary, p bits

`write` and `read` are one routine on a BitEncoder or a Decoder; `length` is the same code in closed form, not coded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.special import betaln

from adanet_theory.checks import check
from adanet_train.compression.coder import BitEncoder, Channel, Decoder

VERSION = 1
CONTEXTS = ("none", "column", "row", "both", "neighbours", "alive")
CONCENTRATIONS = (1, 2, 4, 8)
LEVELS = (1, 2, 4, 8)
FIRST_EXPONENT = -3
DEEPEST = 64
"""Raw exponents so far below the largest share a context."""
LARGEST_LEVEL = 1 << 16
MANTISSA = 52

Shape = tuple[int, ...]
Array = np.ndarray[Any, np.dtype[Any]]
"""Of integers, booleans or floats."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A tensor: q 2^e with integers q, or where `q` is None the numbers themselves."""

    e: int
    q: Array | None
    raw: Array | None = None

    @property
    def value(self) -> Array:
        if self.q is None:
            assert self.raw is not None
            return self.raw
        return np.asarray(np.ldexp(self.q.astype(np.float64), self.e))  # of one number an array too


def integers(q: Array, e: int) -> Coded:
    """q 2^e."""
    return Coded(int(e), np.asarray(q, dtype=np.int64))


def raw(value: Array) -> Coded:
    """A tensor as it is.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    value = np.asarray(value, dtype=np.float64)
    check(bool(np.isfinite(value).all()), "the weights must be finite, got inf or nan.")
    return Coded(0, None, value)


def lossless(value: Array) -> Coded:
    """A tensor as it is, by integers or raw, whichever is shorter.

    >>> lossless(np.eye(5) / 4).e, lossless(np.array([1 / 3])).q is None
    (-2, True)
    """
    own = raw(value)
    exponent = _parts(own.value)[1]
    if not len(exponent):
        return integers(np.zeros(own.value.shape), 0)
    e = grid_exponent(own.value)
    if int(exponent.max()) - e > LARGEST_LEVEL.bit_length() - 1:
        return own
    whole = integers(np.ldexp(own.value, -e), e)
    return min(whole, own, key=lambda one: length([one]))


def grid_exponent(value: Array) -> int:
    """The largest e such that all numbers are multiples of 2^e, 1000 if all are 0."""
    mantissa, exponent = np.frexp(np.abs(value[value != 0]))
    if not len(mantissa):
        return 1000
    whole = np.ldexp(mantissa, MANTISSA + 1).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - MANTISSA - 1 + trailing).min())


def structure_bits(n: Sequence[int]) -> int:
    """Bits for the depth l and the widths n_1..n_l of an AdaNet network; its weights come on top."""
    return gamma_bits(len(n) - 2) + sum(gamma_bits(units) for units in n[1:])


@dataclass(frozen=True)
class Header:
    """How the integers of a tensor are written; the shortest of all is chosen."""

    a: int = 4
    T: int = 1
    context: str = "none"
    rows: bool = False
    columns: bool = False


# Integers with fair bits


def _gamma(channel: Channel, n: int) -> int:
    """n >= 0 in 2 log2(n + 1) + 1 bits (Elias)."""
    width = 0
    while channel.number(1, int((n + 1) >> (width + 1) > 0)):
        width += 1
        check(width <= 64, "the code holds a number beyond 2^64.")
    return (1 << width) - 1 + channel.number(width, (n + 1) - (1 << width) if n + 1 >= 1 << width else 0)


def _signed(channel: Channel, n: int) -> int:
    folded = _gamma(channel, _folded(n))
    return (folded + 1) // 2 if folded % 2 else -(folded // 2)


def gamma_bits(n: int) -> int:
    """Bits that `_gamma` writes.

    >>> [gamma_bits(n) for n in range(4)]
    [1, 3, 3, 5]
    """
    return 2 * (n + 1).bit_length() - 1


def _folded(n: int) -> int:
    """An integer of any sign as one >= 0."""
    return 2 * n - 1 if n > 0 else -2 * n


# Shapes


def matrix_shape(shape: Shape) -> tuple[int, int]:
    """A row for each number of the first axis; a vector is one column."""
    rows = shape[0] if shape else 1
    return rows, math.prod(shape[1:])


def fed_by(alive: Sequence[Array], shape: tuple[int, int]) -> Array:
    """For every entry, whether the earlier row that feeds its column (for a vector: its row) is alive; 1 if none does.

    That row is in the last tensor whose rows divide the columns evenly: a channel feeds several columns of a layer.
    """
    count = shape[0] if shape[1] == 1 else shape[1]
    fed = np.ones(count, dtype=np.int64)
    for rows in reversed(alive):
        if len(rows) > 1 and count % len(rows) == 0:
            fed = np.repeat(rows, count // len(rows)).astype(np.int64)
            break
    return np.broadcast_to(fed[:, None] if shape[1] == 1 else fed, shape)


def _density(k: Array, n: Array) -> Array:
    """A class for k of n: floor log2 of (2n + 2)/(2k + 1), in integers, at most 7."""
    ratio = (2 * n + 2) // (2 * k + 1)
    return np.minimum(np.frexp(ratio.astype(np.float64))[1] - 1, 7).astype(np.int64)


def _contexts(alive: Array, name: str, fed: Array) -> Array:
    """The context of the bit |q| > 0 of every entry of a matrix, from the entries before it."""
    rows, columns = alive.shape
    if name == "none":
        return np.zeros(alive.shape, dtype=np.int64)
    if name == "alive":
        return fed
    left = np.cumsum(alive, axis=1) - alive
    above = np.cumsum(alive, axis=0) - alive
    if name == "neighbours":
        near = np.zeros(alive.shape, dtype=np.int64)
        near[:, 1:] += alive[:, :-1]
        near[1:] += 2 * alive[:-1]
        return near
    by_row = _density(left, np.broadcast_to(np.arange(columns), alive.shape))
    by_column = _density(above, np.broadcast_to(np.arange(rows)[:, None], alive.shape))
    return {"row": by_row, "column": by_column, "both": by_row + by_column}[name]


# Writing and reading


def write(tensors: Iterable[Coded], channel: BitEncoder) -> None:
    """Every tensor, each in the way that is shortest for it."""
    alive: list[Array] = []
    last = FIRST_EXPONENT
    for number, tensor in enumerate(tensors):
        header = None if tensor.q is None else best(tensor, alive)[1]
        shape = tensor.value.shape
        done = _tensor(channel, number, shape, alive, last, tensor, header)
        last = done.e if done.q is not None and done.q.any() else last
        alive.append(_alive_rows(done))


def read(shapes: Iterable[Shape], channel: Decoder) -> list[Coded]:
    """The tensors of these shapes."""
    tensors: list[Coded] = []
    alive: list[Array] = []
    last = FIRST_EXPONENT
    for number, shape in enumerate(shapes):
        tensors.append(_tensor(channel, number, shape, alive, last, None, None))
        last = tensors[-1].e if tensors[-1].q is not None and tensors[-1].q.any() else last
        alive.append(_alive_rows(tensors[-1]))
    return tensors


def _alive_rows(tensor: Coded) -> Array:
    rows, columns = matrix_shape(tensor.value.shape)
    return (tensor.value != 0).reshape(rows, columns).any(axis=1)


def _tensor(
    channel: Channel,
    number: int,
    shape: Shape,
    alive: Sequence[Array],
    last: int,
    tensor: Coded | None,
    header: Header | None,
) -> Coded:
    """One tensor, written if it is given, read otherwise."""
    is_raw = tensor is not None and tensor.q is None
    is_zero = tensor is not None and tensor.q is not None and not tensor.q.any()
    if channel.number(1, int(is_raw or is_zero)):
        if channel.number(1, int(is_raw)):
            return _raw_body(channel, number, shape, None if tensor is None else tensor.raw)
        return integers(np.zeros(shape, dtype=np.int64), 0)
    q = None if tensor is None else tensor.q
    header = header or Header()
    e = last + _signed(channel, 0 if tensor is None else tensor.e - last)
    check(abs(e) <= 1000, f"a step must be 2^e with |e| <= 1000, got e={e}.")
    L = 1 + _gamma(channel, 0 if q is None else int(np.abs(q).max()) - 1)
    check(L <= LARGEST_LEVEL, f"integers of a code must be at most {LARGEST_LEVEL}, got {L}.")
    header = _header(channel, header, L, matrix_shape(shape))
    body = _body(channel, number, matrix_shape(shape), alive, L, header, q)
    return integers(body.reshape(shape), e)


def _header(channel: Channel, header: Header, L: int, shape: tuple[int, int]) -> Header:
    a = CONCENTRATIONS[channel.number(2, CONCENTRATIONS.index(header.a))]
    T = LEVELS[channel.number(2, LEVELS.index(header.T))] if L > 2 else 1
    if shape[1] == 1:
        return Header(a, T, "alive" if channel.number(1, int(header.context == "alive")) else "none")
    at = channel.number(3, CONTEXTS.index(header.context))
    check(at < len(CONTEXTS), f"context {at} of a code is unknown.")
    rows, columns = (bool(channel.number(1, int(on))) for on in (header.rows, header.columns))
    return Header(a, T, CONTEXTS[at], rows, columns)


def header_bits(L: int, shape: tuple[int, int]) -> int:
    """Bits that `_header` writes."""
    return 2 + 2 * (L > 2) + (1 if shape[1] == 1 else 5)


def _body(
    channel: Channel,
    number: int,
    shape: tuple[int, int],
    alive: Sequence[Array],
    L: int,
    header: Header,
    q: Array | None,
) -> Array:
    rows, columns = shape
    given = None if q is None else q.reshape(shape)
    fed = fed_by(alive, shape)
    use = np.ones(shape, dtype=bool)
    if header.rows:
        for i in range(rows):
            use[i] &= channel.bit((number, "row"), given is None or bool(given[i].any()))
    if header.columns:
        for j in range(columns):
            use[:, j] &= channel.bit((number, "column", int(fed[0, j])), given is None or bool(given[:, j].any()))
    kept = use.any(axis=1), use.any(axis=0)
    inner = np.zeros((int(kept[0].sum()), int(kept[1].sum())), dtype=np.int64)
    source = None if given is None else given[np.ix_(*kept)]
    context = _Running(inner.shape, header.context, fed[np.ix_(*kept)])
    for i, j in np.ndindex(*inner.shape):
        value = 0 if source is None else int(source[i, j])
        inner[i, j] = _integer(channel, number, context.at(i, j), value, L, header)
        context.seen(i, j, bool(inner[i, j]))
    whole = np.zeros(shape, dtype=np.int64)
    whole[np.ix_(*kept)] = inner
    return whole


def _integer(channel: Channel, number: int, context: int, value: int, L: int, header: Header) -> int:
    size = abs(value)
    if not channel.bit((number, "zero", context), size > 0, header.a):
        return 0
    sign = -1 if channel.number(1, int(value < 0)) else 1
    level = 1
    while level < L and channel.bit((number, "level", min(level, header.T)), size > level, header.a):
        level += 1
    return sign * level


class _Running:
    """`_contexts`, entry by entry."""

    def __init__(self, shape: tuple[int, int], name: str, fed: Array) -> None:
        self.name, self.fed = name, fed
        self.rows, self.columns = np.zeros(shape[0], dtype=np.int64), np.zeros(shape[1], dtype=np.int64)
        self.above, self.left = np.zeros(shape[1], dtype=bool), False

    def at(self, i: int, j: int) -> int:
        if self.name == "none":
            return 0
        if self.name == "alive":
            return int(self.fed[i, j])
        if self.name == "neighbours":
            return int(self.left and j > 0) + 2 * int(self.above[j])
        classes = {"row": (int(self.rows[i]), j), "column": (int(self.columns[j]), i)}
        used = classes.values() if self.name == "both" else [classes[self.name]]
        return sum(min(((2 * n + 2) // (2 * k + 1)).bit_length() - 1, 7) for k, n in used)

    def seen(self, i: int, j: int, alive: bool) -> None:
        self.rows[i] += alive
        self.columns[j] += alive
        self.above[j] = self.left = alive


# Numbers as they are


def _parts(value: Array) -> tuple[Array, Array, int]:
    """(mantissas in [2^52, 2^53), exponents) of the numbers that are not 0, and the mantissa bits that they need."""
    mantissa, exponent = np.frexp(np.abs(value[value != 0]))
    whole = np.ldexp(mantissa, MANTISSA + 1).astype(np.int64)
    together = int(np.bitwise_or.reduce(whole, initial=1 << MANTISSA))
    trailing = (together & -together).bit_length() - 1
    return whole, exponent.astype(np.int64), MANTISSA - trailing


def _raw_body(channel: Channel, number: int, shape: Shape, value: Array | None) -> Coded:
    whole, exponent, p = _parts(np.zeros(0) if value is None else value)
    p = channel.number(6, p)
    E = _signed(channel, int(exponent.max(initial=-1100)) if len(exponent) else 0)
    check(p <= MANTISSA and abs(E) <= 1100, "the code holds a number that is not a float64.")
    floats = np.zeros(math.prod(shape))
    left = iter(zip(whole.tolist(), exponent.tolist(), strict=True))
    flat = None if value is None else value.ravel()
    for i in range(len(floats)):
        if channel.bit((number, "zero"), flat is None or bool(flat[i])):
            m, x = (1 << MANTISSA, E) if flat is None else next(left)
            floats[i] = _float(channel, number, p, E, m, x, flat is not None and bool(flat[i] < 0))
    return raw(floats.reshape(shape))


def _float(channel: Channel, number: int, p: int, E: int, mantissa: int, exponent: int, negative: bool) -> float:
    sign = -1.0 if channel.number(1, int(negative)) else 1.0
    below = 0
    while channel.bit((number, "exponent", min(below, DEEPEST)), below < E - exponent):
        below += 1
        check(below <= 2200, "the code holds a number that is not a float64.")
    digits = channel.number(p, (mantissa - (1 << MANTISSA)) >> (MANTISSA - p))
    return sign * math.ldexp((1 << MANTISSA) + (digits << (MANTISSA - p)), E - below - MANTISSA - 1)


# The length in closed form


def _beta_bits(n_0: Array | int, n_1: Array | int, a: int) -> float:
    """Bits of n_0 zeros and n_1 ones in one context, in any order."""
    return float(np.sum(betaln(a / 8, a / 8) - betaln(np.add(n_0, a / 8), np.add(n_1, a / 8))) / math.log(2))


def _counts(context: Array, on: Array) -> tuple[Array, Array]:
    """How often each context sees 0 and 1."""
    both = np.bincount(context.ravel())
    ones = np.bincount(context[on], minlength=len(both))
    return both - ones, ones


class _Rest:
    """A matrix without its dead rows or columns: what its parts cost under any header with these masks."""

    def __init__(self, matrix: Array, alive: Array, fed: Array, rows: bool, columns: bool) -> None:
        self.masks, self.alive, self.fed = 0.0, alive, fed
        if rows or columns:
            row, column = (np.ones(count, dtype=bool) for count in alive.shape)
            if rows:
                row = np.asarray(alive.any(axis=1))
                self.masks += _beta_bits(int((~row).sum()), int(row.sum()), 4)
            if columns:
                column = np.asarray(alive.any(axis=0))
                self.masks += _beta_bits(*_counts(fed[0], column), 4)
            at = np.ix_(row, column)
            matrix, self.alive, self.fed = matrix[at], alive[at], fed[at]
        self.size = np.abs(matrix[self.alive])
        self.L = int(self.size.max(initial=1))
        self.counts: dict[str, tuple[Array, Array]] = {}

    def contexts(self, name: str, a: int) -> float:
        """Bits of which numbers are not 0."""
        if name not in self.counts:
            self.counts[name] = _counts(_contexts(self.alive, name, self.fed), self.alive)
        return _beta_bits(*self.counts[name], a)

    def levels(self, a: int, T: int) -> float:
        """Signs and levels of the numbers that are not 0."""
        above = np.bincount(self.size, minlength=self.L + 1)[::-1].cumsum()[::-1].tolist()  # above[l]: with |q| >= l
        pairs: dict[int, tuple[int, int]] = {}
        for level in range(1, self.L):
            n_0, n_1 = pairs.get(min(level, T), (0, 0))
            pairs[min(level, T)] = n_0 + above[level] - above[level + 1], n_1 + above[level + 1]
        return len(self.size) + sum(_beta_bits(*pair, a) for pair in pairs.values())

    def bits(self, header: Header, shape: tuple[int, int], levels: float | None = None) -> float:
        levels = self.levels(header.a, header.T) if levels is None else levels
        body = self.masks + self.contexts(header.context, header.a)
        return body + levels + header_bits(self.L, shape) + gamma_bits(self.L - 1)


def tensor_bits(q: Array, header: Header, fed: Array) -> float:
    """Bits of the integers of one tensor, without kind and e."""
    shape = matrix_shape(q.shape)
    matrix = q.reshape(shape)
    return _Rest(matrix, matrix != 0, fed, header.rows, header.columns).bits(header, shape)


def best(tensor: Coded, alive: Sequence[Array]) -> tuple[float, Header]:
    """The shortest way to write the integers of a tensor, without kind and e."""
    q = tensor.q
    assert q is not None
    shape = matrix_shape(q.shape)
    matrix, fed = q.reshape(shape), fed_by(alive, shape)
    names = ("none", "alive") if shape[1] == 1 else CONTEXTS
    masks = [(False, False)] if shape[1] == 1 else [*product((False, True), repeat=2)]
    rests = {mask: _Rest(matrix, matrix != 0, fed, *mask) for mask in masks}
    levels = rests[masks[0]].levels(4, 1)  # the numbers that are not 0 are the same under every mask
    headers = [Header(4, 1, name, *mask) for name in names for mask in masks]
    shortest = min(headers, key=lambda header: rests[header.rows, header.columns].bits(header, shape, levels))
    rest = rests[shortest.rows, shortest.columns]
    finer = [replace(shortest, a=a, T=T) for a in CONCENTRATIONS for T in (LEVELS if rest.L > 2 else (1,))]
    return min(((rest.bits(header, shape), i, header) for i, header in enumerate(finer)))[::2]


def _raw_bits(value: Array) -> float:
    whole, exponent, p = _parts(value)
    E = int(exponent.max()) if len(exponent) else 0
    below = np.bincount(E - exponent, minlength=1)
    over = below[::-1].cumsum()[::-1]
    stop, go = below, np.append(over[1:], 0)
    tail = slice(DEEPEST, None)
    total = _beta_bits(stop[:DEEPEST], go[:DEEPEST], 4) + _beta_bits(int(stop[tail].sum()), int(go[tail].sum()), 4)
    zeros = value.size - len(whole)
    return 6 + gamma_bits(_folded(E)) + _beta_bits(zeros, len(whole), 4) + len(whole) * (1 + p) + total


def length(tensors: Sequence[Coded]) -> float:
    """-log2 P of the tensors: the codeword has at most this and 2 bits more.

    Examples
    --------
    >>> import numpy as np
    >>> round(length([integers(np.eye(8), -2)]), 2)
    45.7
    """
    total, last = 0.0, FIRST_EXPONENT
    alive: list[Array] = []
    for tensor in tensors:
        if tensor.q is None:
            assert tensor.raw is not None
            total += 2 + _raw_bits(tensor.raw)
        elif not tensor.q.any():
            total += 2
        else:
            total += 1 + gamma_bits(_folded(tensor.e - last)) + best(tensor, alive)[0]
            last = tensor.e
        alive.append(_alive_rows(tensor))
    return total


def bits_of(tensors: Sequence[Coded]) -> int:
    """An integer number of bits that a codeword of the tensors needs at most: Σ 2^-bits <= 1 over all networks."""
    total = length(tensors)
    numbers = sum(tensor.value.size for tensor in tensors)
    return math.ceil(total * (1 + 1e-9) + numbers * 2.0**-12) + 2


def encode(tensors: Sequence[Coded]) -> tuple[bytes, int]:
    """The codeword and its length in bits."""
    channel = BitEncoder()
    write(tensors, channel)
    return channel.finish()


def decode(data: bytes, shapes: Sequence[Shape]) -> list[Coded]:
    """The tensors of a codeword; their shapes are those of the architecture."""
    return read(shapes, Decoder(data))
