export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f5f1; --paper: #fff; --ink: #1d2327; --quiet: #5b656c; --line: #d9d7cf;
  --accent: #0b5f83; --good: #1b6b3a; --bad: #a32a1c; --odd: #855300;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14181b; --paper: #1d2327; --ink: #e9e7e1; --quiet: #a5aeb4; --line: #38424a;
    --accent: #79c4e4; --good: #7fd19d; --bad: #f39a8e; --odd: #e8bb68;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 76rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { padding-bottom: 0; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 0 0 .6rem; font-size: 1.1rem; }
h3 { margin: 1.1rem 0 .4rem; font-size: .95rem; }
h2 small, .hint { color: var(--quiet); font-weight: normal; font-size: .87rem; }
p { margin: .3rem 0; }
a { color: var(--accent); }
code, pre, time { font: .87rem/1.5 ui-monospace, monospace; }
time { font-size: 1.05rem; }
pre { margin: 0; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground); border-radius: 4px; }
.places { display: flex; flex-wrap: wrap; gap: .2rem 2rem; margin: .5rem 0; }
.places div { display: flex; gap: .5rem; }
.places dt { color: var(--quiet); }
.places dd { margin: 0; }
#said:not(:empty) {
  position: fixed; inset: auto 0 0; z-index: 1; margin: 0; padding: .6rem 1.25rem; text-align: center;
  color: var(--accent); background: var(--paper); border-top: 1px solid var(--line);
}
body { padding-bottom: 3rem; }
#said.bad:not(:empty) { color: var(--bad); }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1rem; }
section { min-width: 0; padding: 1rem 1.1rem; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; }
.wide { grid-column: 1 / -1; }
.row { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: normal; color: var(--quiet); }
th, td { padding: .22rem .9rem .22rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: baseline; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.odd { color: var(--odd); }
ul { margin: 0; padding: 0; list-style: none; }
.faults { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: .4rem 1.5rem; margin-top: .8rem; }
.faults li { display: grid; grid-template-columns: 7rem 1fr; gap: .8rem; align-items: center; }
.faults span { font-size: .87rem; color: var(--quiet); }
label { display: grid; font-size: .87rem; color: var(--quiet); }
button, select, input {
  font: inherit; font-size: .87rem; color: var(--ink); background: var(--ground);
  border: 1px solid var(--line); border-radius: 4px; padding: .25rem .6rem; max-width: 100%;
}
input { width: 5rem; }
button, select, input { height: 2rem; }
h3 button { margin-left: .5rem; font-weight: normal; }
button { cursor: pointer; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;
