"""The code: what is written reads back, its length is what it claims, and no codeword begins another one."""

import contextlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adanet_train.compression import code
from adanet_train.compression.code import Coded, Header, integers, raw
from adanet_train.compression.coder import BitEncoder, Decoder

SHAPES = st.sampled_from([(), (3,), (2, 3), (3, 2), (4, 1), (2, 2, 2), (3, 6), (0,)])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tensors(draw: st.DrawFn) -> Coded:
    shape = draw(SHAPES)
    size = math.prod(shape)
    if draw(st.booleans()):
        return raw(np.array(draw(st.lists(FLOATS, min_size=size, max_size=size)), dtype=np.float64).reshape(shape))
    largest = draw(st.sampled_from([1, 2, 3, 20]))
    q = draw(st.lists(st.integers(-largest, largest), min_size=size, max_size=size))
    return integers(np.array(q, dtype=np.int64).reshape(shape), draw(st.integers(-30, 30)))


@given(st.lists(tensors(), min_size=1, max_size=4), st.binary(max_size=9))
@settings(max_examples=60, deadline=None)
def test_what_is_written_reads_back(given_: list[Coded], behind: bytes) -> None:
    word, bits = code.encode(given_)
    assert len(word) == (bits + 7) // 8
    back = code.decode(word, [part.value.shape for part in given_])
    assert all(np.array_equal(a.value, b.value) for a, b in zip(given_, back, strict=True))
    if bits % 8 == 0:  # whatever follows the codeword changes nothing
        more = code.decode(word + behind, [part.value.shape for part in given_])
        assert all(np.array_equal(a.value, b.value) for a, b in zip(given_, more, strict=True))


@given(st.lists(tensors(), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_the_closed_form_is_what_the_coder_writes(given_: list[Coded]) -> None:
    _, bits = code.encode(given_)
    length = code.length(given_)
    assert length - 1e-6 <= bits <= math.ceil(length + 1e-6) + 1
    assert bits <= code.bits_of(given_)


@pytest.mark.parametrize("context", code.CONTEXTS)
@pytest.mark.parametrize("masks", [(False, False), (True, False), (False, True), (True, True)])
def test_every_way_of_writing_costs_what_it_says(context: str, masks: tuple[bool, bool]) -> None:
    draw = np.random.default_rng(0)
    q = np.round(draw.normal(size=(6, 8))).astype(np.int64) * (draw.random((6, 8)) < 0.5)
    q[2], q[:, 5] = 0, 0
    header = Header(2, 2, context, *masks)
    alive = [np.array([True, False, True, True])]
    fed = code.fed_by(alive, q.shape)
    channel = BitEncoder()
    code._header(channel, header, 2, q.shape)
    code._gamma(channel, int(np.abs(q).max()) - 1)
    code._body(channel, 0, q.shape, alive, int(np.abs(q).max()), header, q)
    assert abs(channel.finish()[1] - code.tensor_bits(q, header, fed) - 1) <= 1


def _all(shape: tuple[int, ...], largest: int, exponents: range) -> list[Coded]:
    values = itertools.product(range(-largest, largest + 1), repeat=math.prod(shape))
    return [integers(np.array(v).reshape(shape), e) for v in values for e in exponents]


def test_kraft_by_brute_force() -> None:
    """All networks of a small alphabet: their codewords are prefix-free, and Σ 2^-bits <= 1."""
    networks = [[a, b] for a in _all((2, 2), 1, range(-4, -2)) for b in _all((1,), 1, range(-3, -2))]
    seen: dict[str, bytes] = {}
    for network in networks:
        word, bits = code.encode(network)
        text = "".join(f"{byte:08b}" for byte in word)[:bits]
        values = np.concatenate([part.value.ravel() for part in network]).tobytes()
        assert seen.setdefault(text, values) == values
    words = sorted(seen)
    assert not any(after.startswith(before) for before, after in itertools.pairwise(words))
    total = sum(2.0 ** -len(word) for word in words)
    assert 0.005 < total <= 1


def test_the_masses_of_a_context_sum_to_one() -> None:
    """Dirichlet-multinomial: over all strings of 8 bits the closed form is a probability."""
    masses = [2.0 ** -code._beta_bits(8 - sum(s), sum(s), 2) for s in itertools.product((0, 1), repeat=8)]
    assert math.isclose(sum(masses), 1, rel_tol=1e-12)


def test_elias_codes_of_header_numbers() -> None:
    for n in [0, 1, 2, 7, 8, 1000]:
        channel = BitEncoder()
        code._gamma(channel, n)
        word, bits = channel.finish()
        assert bits == code.gamma_bits(n)
        assert code._gamma(Decoder(word), 0) == n
    assert sum(2.0 ** -code.gamma_bits(n) for n in range(2000)) <= 1


def test_raw_mode_saves_exponents() -> None:
    w = np.random.default_rng(1).normal(size=(50, 40)).astype(np.float32)
    bits = code.bits_of([raw(w)]) / w.size
    assert 23 + 1 < bits < 32 - 4  # mantissa and sign; the eight exponent bits cost less than four
    double = code.bits_of([raw(w.astype(np.float64) / 3)]) / w.size
    assert 52 + 1 < double < 64 - 6
    assert 2000 < code.bits_of([raw(np.ones((50, 40)))]) < 2050  # a bit for each sign


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        raw(np.array([np.nan]))


def test_a_damaged_codeword_is_another_network_or_refused() -> None:
    word, _ = code.encode([integers(np.eye(4, dtype=np.int64), -2)])
    for place in range(len(word)):
        broken = bytes(b ^ 255 if i == place else b for i, b in enumerate(word))
        with contextlib.suppress(ValueError):
            assert not np.array_equal(code.decode(broken, [(4, 4)])[0].value, np.eye(4) / 4)
