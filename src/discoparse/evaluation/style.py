"""The look of the report: one style sheet, put into the page so that it needs nothing from outside."""

CSS = """
:root { --ink: #1d2430; --quiet: #667085; --line: #e3e7ee; --paper: #fff; --ground: #f5f6f9;
  --bad: #b42318; --good: #1b7f3b; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; }
main { max-width: 1360px; margin: 0 auto; padding: 28px 28px 60px; }
header h1 { margin: 0 0 4px; font-size: 26px; letter-spacing: -0.01em; }
header p { margin: 0; color: var(--quiet); }
h2 { font-size: 18px; margin: 34px 0 10px; }
h3 { font-size: 15px; margin: 0 0 8px; }
code { font-size: 0.93em; background: #eceff4; padding: 1px 5px; border-radius: 4px;
  overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 14px;
  margin-top: 22px; }
.card, .panel, details.sentence { background: var(--paper); border: 1px solid var(--line);
  border-radius: 10px; padding: 16px 18px; }
.card .what { color: var(--quiet); font-size: 13px; }
.card .figure { font-size: 31px; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
.card .other { font-size: 13px; color: var(--quiet); font-variant-numeric: tabular-nums; }
.two { columns: 2 520px; column-gap: 14px; } .three { columns: 3 350px; column-gap: 14px; }
.panel { overflow-x: auto; break-inside: avoid; margin-bottom: 14px; }
.panel > p, .note { color: var(--quiet); font-size: 13px; margin: 0 0 10px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--quiet); font-weight: 500; font-size: 13px; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; padding-right: 0; padding-left: 10px; white-space: nowrap; }
tr.section td { padding-top: 14px; font-weight: 600; } td.part { padding-left: 16px; color: var(--quiet); }
svg.chart { max-width: 100%; height: auto; display: block; font-size: 12px; }
svg.chart .grid { stroke: var(--line); } svg.chart .axis { stroke: #b6bfcc; }
svg.chart .name { fill: var(--ink); } svg.chart .tick { fill: var(--quiet); font-size: 11px; }
svg.chart .value { fill: var(--ink); font-size: 11px; }
.key { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin: 0 5px 0 14px; }
.key:first-child { margin-left: 0; }
.up { color: var(--good); } .down { color: var(--bad); }
details.sentence { margin-bottom: 12px; }
details.sentence summary { cursor: pointer; }
details.sentence .words { color: var(--quiet); }
.trees { overflow-x: auto; margin-top: 12px; }
.trees svg { display: block; max-width: none !important; } /* long sentences scroll and stay readable */
@media print { body { background: #fff; } main { padding: 0; } .card, details { break-inside: avoid; } }
"""
