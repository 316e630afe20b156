"""How the certificate's page looks: on a screen in light and dark, on a phone, and on paper."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1d21; --soft: #59626d;
  --line: #d8dde3; --tint: #f4f6f8; --mark: #0b6e4f; --bar: #0b6e4f; --warn: #9a3412; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e8eaed; --soft: #a2abb5;
  --line: #363d45; --tint: #1d2226; --mark: #5fd0a5; --bar: #45b98c; --warn: #fdba74; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 66rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
header { border-bottom: 3px solid var(--mark); padding-bottom: 1.25rem; }
header p { margin: .25rem 0; }
.over { text-transform: uppercase; letter-spacing: .09em; font-size: .8rem; color: var(--soft); }
h1 { margin: .1rem 0 .3rem; font-size: 2.1rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.6rem 0 .6rem; font-size: 1.3rem; }
p, li { max-width: 46rem; }
.promise { font-size: 1.2rem; line-height: 1.5; border-left: 4px solid var(--mark);
  padding: .2rem 0 .2rem 1rem; margin: 1.6rem 0; }
.none { border-color: var(--warn); }
dl { display: grid; grid-template-columns: repeat(3, 1fr); margin: 1.4rem 0;
  border-top: 1px solid var(--line); border-left: 1px solid var(--line); }
dl > div { padding: .6rem .8rem; border: solid var(--line); border-width: 0 1px 1px 0; }
dt { font-size: .8rem; color: var(--soft); }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: .9rem; }
code { font: .88em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
td .note { font-size: .95em; }
.hash { color: var(--soft); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin: 1rem 0; }
th { text-align: left; font-size: .8rem; color: var(--soft); font-weight: 600;
  border-bottom: 2px solid var(--line); padding: .35rem .6rem; }
td { vertical-align: top; border-bottom: 1px solid var(--line); padding: .55rem .6rem; }
td.number { color: var(--soft); font-variant-numeric: tabular-nums; }
td.found { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.found b { font-size: 1.05rem; }
.parts td { padding-top: 0; }
.whole td { border-bottom: 0; }
details ul { columns: 24rem; list-style: none; padding: 0; font-size: .85rem; }
details li { break-inside: avoid; }
summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
.status { display: inline-block; font-size: .75rem; border: 1px solid var(--line);
  border-radius: 1em; padding: 0 .55em; color: var(--soft); white-space: nowrap; }
.good { color: var(--mark); border-color: var(--mark); }
.bad { color: var(--warn); border-color: var(--warn); }
.range { display: block; position: relative; height: 6px; width: 9rem; max-width: 100%;
  margin: .35rem 0 .1rem; background: var(--line); border-radius: 3px; }
.range i { position: absolute; top: 0; bottom: 0; min-width: 3px; background: var(--bar);
  border-radius: 3px; }
.who { color: var(--soft); }
.why { display: block; }
ol, ul { padding-left: 1.3rem; }
li { margin: .35rem 0; }
.theorem { margin: 0 0 1rem; max-width: 46rem; }
.theorem h3 { font-size: 1rem; margin: 0; }
.theorem p { margin: .1rem 0; }
.columns { columns: 18rem; font-size: .88rem; padding: 0; list-style: none; }
.columns li { break-inside: avoid; margin: .1rem 0; overflow-wrap: anywhere; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
@media screen and (max-width: 46rem) {
  body { padding: 1.4rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  table, tbody, tr, td { display: block; width: 100%; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border: 1px solid var(--line); border-radius: 6px; margin: .7rem 0; padding: .4rem .7rem; }
  td { border: 0; padding: .15rem 0; }
  td.found { white-space: normal; }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); font-size: .8rem; }
  td:empty { display: none; }
  .whole { border-radius: 6px 6px 0 0; border-bottom: 0; margin-bottom: 0; }
  .parts { border-radius: 0 0 6px 6px; border-top: 0; margin-top: 0; }
  dl { grid-template-columns: repeat(2, 1fr); }
  .range { width: 100%; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --tint: #fff; --mark: #0b6e4f;
    --bar: #0b6e4f; --warn: #9a3412; color-scheme: light; }
  @page { size: A4; margin: 16mm 14mm; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  h1 { font-size: 20pt; } h2 { font-size: 13pt; break-after: avoid; }
  table { font-size: 8.5pt; } thead { display: table-header-group; }
  tr, .theorem, dl > div, li { break-inside: avoid; }
  .range { width: 26mm; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .range i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
