"""An arithmetic coder of bits. BitEncoder and Decoder take the same calls, so one routine describes a code for both.

A bit with a context is coded by the counts of that context so far, (n_0 + a/8) : (n_1 + a/8): a Dirichlet-multinomial.
The codeword is the shortest string of bits all of whose continuations lie in the final interval: no codeword begins
another one, so Σ 2^-length <= 1 (Kraft) over all of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Protocol

from adanet_theory.checks import check

WORD = 32
_TOP = 1 << (2 * WORD)  # the interval is renormalised to (_LOW, _TOP]
_LOW = 1 << WORD


class Channel(Protocol):
    """What a code writes to or reads from; a Decoder ignores the value and returns the one that was written."""

    def bit(self, context: Hashable, value: bool, a: int = 4) -> bool: ...
    def number(self, width: int, value: int) -> int: ...


@dataclass
class _Counts:
    """How often each context saw a 0 and a 1."""

    seen: dict[Hashable, list[int]] = field(default_factory=dict)

    def share(self, context: Hashable, a: int) -> tuple[list[int], int, int]:
        """The counts, and the weight of 0 of all, in eighths."""
        n = self.seen.setdefault(context, [0, 0])
        return n, 8 * n[0] + a, 8 * (n[0] + n[1]) + 2 * a


class BitEncoder:
    """Writes bits.

    Examples
    --------
    >>> coder = BitEncoder()
    >>> for value in (0, 0, 0, 1, 0, 0):
    ...     _ = coder.bit("zeros", bool(value))
    >>> coder.finish()
    (b'F', 7)
    """

    def __init__(self) -> None:
        self.counts, self.low, self.range, self.words = _Counts(), 0, _TOP, list[int]()

    def bit(self, context: Hashable, value: bool, a: int = 4) -> bool:
        n, zero, total = self.counts.share(context, a)
        split = self.range * zero // total
        self._narrow(split, self.range - split) if value else self._narrow(0, split)
        n[value] += 1
        return value

    def number(self, width: int, value: int) -> int:
        """0 <= value < 2^width, all equally likely."""
        for shift in range(width - width % 16, -1, -16):
            digits = min(16, width - shift)
            part = self.range >> digits
            self._narrow(part * (value >> shift & (1 << digits) - 1), part)
        return value

    def _narrow(self, start: int, size: int) -> None:
        self.low, self.range = self.low + start, size
        if self.low >= _TOP:
            self._carry()
        while self.range <= _LOW:
            self.words.append(self.low >> WORD)
            self.low, self.range = (self.low & (_LOW - 1)) << WORD, self.range << WORD

    def _carry(self) -> None:
        self.low -= _TOP
        place = len(self.words) - 1
        while self.words[place] == _LOW - 1:
            self.words[place] = 0
            place -= 1
        self.words[place] += 1

    def finish(self) -> tuple[bytes, int]:
        """The codeword: its bytes, and its length in bits."""
        length = next(n for n in range(2 * WORD + 1) if self._last(n) is not None)
        last = self._last(length) or 0
        if last >> length:  # beyond the last word
            self._carry()
            last -= 1 << length
        bits = WORD * len(self.words) + length
        value = 0
        for word in self.words:
            value = value << WORD | word
        value = (value << length | last) << (-bits % 8)
        return value.to_bytes((bits + 7) // 8, "big"), bits

    def _last(self, length: int) -> int | None:
        """The first string of so many bits whose continuations all lie in the interval, None if there is none."""
        unit = 1 << (2 * WORD - length)
        string = -(-self.low // unit)
        return string if (string + 1) * unit <= self.low + self.range else None


class Decoder:
    """Reads what a BitEncoder wrote; whatever follows the codeword changes nothing."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0
        self.counts, self.low, self.range = _Counts(), 0, _TOP
        self.low = self._word() << WORD | self._word()  # how far the codeword lies above the start of the interval

    def _word(self) -> int:
        part = self.data[self.place : self.place + WORD // 8]
        self.place += WORD // 8
        check(self.place <= len(self.data) + 4 * WORD, "the code ends before the network does.")
        return int.from_bytes(part.ljust(WORD // 8, b"\0"), "big")

    def bit(self, context: Hashable, value: bool = False, a: int = 4) -> bool:
        n, zero, total = self.counts.share(context, a)
        split = self.range * zero // total
        value = self.low >= split
        self._narrow(split, self.range - split) if value else self._narrow(0, split)
        n[value] += 1
        return value

    def number(self, width: int, value: int = 0) -> int:
        value = 0
        for shift in range(width - width % 16, -1, -16):
            digits = min(16, width - shift)
            part = self.range >> digits
            digit = min(self.low // part, (1 << digits) - 1)
            self._narrow(part * digit, part)
            value = value << digits | digit
        return value

    def _narrow(self, start: int, size: int) -> None:
        self.low, self.range = self.low - start, size
        while self.range <= _LOW:
            self.low, self.range = self.low << WORD | self._word(), self.range << WORD
