"""The look that every page shares: verify-bounds --html, verify-claims --html and the explorer of the figures.

One stylesheet and one frame around a body. A page loads nothing from outside, and its policy tells the browser so.
"""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fdfdfb; --soft: #63636a; --line: #dcdcd8; --tint: #f2f2ee;
        --good: #00694c; --bad: #a83c00; --warn: #7a5600; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e6; --paper: #17181a; --soft: #a6a6ac; --line: #36373b; --tint: #202124;
          --good: #4cc9a0; --bad: #ff8a50; --warn: #e6b450; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 .75rem; } h2 { font-size: 1.05rem; margin: 2.25rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 0; } p { margin: .3rem 0; overflow-wrap: anywhere; }
blockquote { margin: .3rem 0; padding-left: .8rem; border-left: 3px solid var(--line); overflow-wrap: anywhere; }
pre { background: var(--tint); padding: .5rem .7rem; overflow-x: auto; font: .85rem/1.5 ui-monospace, monospace;
      margin: .4rem 0; }
code, td.n, th.n { font-variant-numeric: tabular-nums; }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .9rem; }
.verdict { border-left: 4px solid var(--good); background: var(--tint); padding: .9rem 1.1rem; margin: 1rem 0; }
.verdict.violated { border-color: var(--bad); color: inherit; } .verdict p { margin: 0; font-size: 1.08rem; }
.verdict p + p { margin-top: .5rem; color: var(--soft); font-size: .9rem; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .3rem 1rem; margin: 0; } dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; } td.n, th.n { text-align: right; white-space: nowrap; }
th.n { white-space: normal; vertical-align: bottom; }
tr.group td { padding-top: 1rem; font-weight: 600; } td.wide { min-width: 14rem; } td code { white-space: nowrap; }
.good, .cite, .holds { color: var(--good); } .warn, .vacuous, .open { color: var(--warn); }
.bad, .FAILS, .violated { color: var(--bad); } .not, .context { color: var(--soft); }
summary { cursor: pointer; } a { color: inherit; }
:focus-visible { outline: 2px solid var(--good); outline-offset: 2px; }
.plots { margin-top: 2rem; display: grid; gap: 1.5rem 2rem;
         grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
figure { margin: 0; } figure svg { width: 100%; height: auto; } figcaption { color: var(--soft); font-size: .88rem; }
@media (max-width: 36rem) {
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } pre { white-space: pre-wrap; }
  .stack, .stack tbody { display: block; } .stack thead, .stack td:empty { display: none; }
  .stack tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .stack td { display: flow-root; border: 0; padding: .1rem 0 .1rem 7rem; min-height: 1.6rem; }
  .stack td.n { text-align: left; } .stack td code { white-space: normal; }
  .stack td::before { content: attr(data-label); color: var(--soft); font-weight: 400; float: left; width: 6.5rem;
                      margin-left: -7rem; overflow-wrap: anywhere; white-space: normal; }
  .stack td[data-label=""], .stack .group td { padding-left: 0; } .stack .group { border: 0; padding-bottom: 0; } }
@media print { body { max-width: none; } .scroll { overflow: visible; } }
"""


def document(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """The whole page. `body`, `style` and `script` are taken as they are; the title is escaped."""
    # Nothing is fetched, whatever a page holds: the browser itself refuses.
    policy = "default-src 'none'; style-src 'unsafe-inline'" + ("; script-src 'unsafe-inline'" if script else "")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style>"
    )
    end = f"<script>\n{script}\n</script>\n" if script else ""
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n{end}</body></html>\n'
