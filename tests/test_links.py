"""verify.show.links: where the page of a statement is, and what leads to it."""

import io

import numpy as np
import pytest
import torch
from rich.console import Console

from verify import verify_bounds
from verify.show import links, page, screen


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A site in a folder, and none told."""
    (tmp_path / "docs" / "statements").mkdir(parents=True)
    (tmp_path / "docs" / "statements" / "index.html").write_text("")
    monkeypatch.delenv("ADANET_DOCS", raising=False)
    monkeypatch.setattr(links, "BUILT", tmp_path / "docs")
    return (tmp_path / "docs").as_uri()


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 2))
    state = {"0.weight": torch.tensor([[1.0, -0.5]])}
    return verify_bounds(state, X, np.sign(X[:, 0]), activation="identity", draws=None)


def test_a_site_that_is_told_comes_before_the_one_that_is_built(built, monkeypatch):
    assert links.statement("theorem-1") == f"{built}/statements/theorem-1.html"
    assert links.statement("theorem-1", to_keep=True) is None
    monkeypatch.setenv("ADANET_DOCS", "https://example.org/docs/")
    assert links.statement("theorem-1", to_keep=True) == "https://example.org/docs/statements/theorem-1.html"
    assert links.statement("my-own") is None


def test_a_folder_without_a_site_gives_no_links(built, monkeypatch, tmp_path):
    monkeypatch.setenv("ADANET_DOCS", str(tmp_path / "nothing"))
    assert links.site() is None
    assert links.statement("lemma-1") is None


def test_the_rows_of_a_report_lead_to_their_pages(built, monkeypatch, report):
    assert "<a href" not in page.document(report.numbers)
    monkeypatch.setenv("ADANET_DOCS", "https://example.org/docs")
    assert '<a href="https://example.org/docs/statements/a-posteriori.html"' in page.document(report.numbers)
    out = io.StringIO()
    screen.show(report.numbers, verbose=True, console=Console(file=out, force_terminal=True, width=90))
    assert "https://example.org/docs/statements/a-posteriori.html" in out.getvalue()
    plain = io.StringIO()
    screen.show(report.numbers, verbose=True, console=Console(file=plain, width=90))
    assert "https:" not in plain.getvalue()
