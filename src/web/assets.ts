/** The console's few files: they come from this machine, and are the same until the next version. */
import type { Hono } from "hono";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Env } from "./route.ts";

const require = createRequire(import.meta.url);

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

export function assets(app: Hono<Env>): void {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "pico.css": [CSS, installed("@picocss/pico/css/pico.min.css")],
    "htmx.js": [SCRIPT, installed("htmx.org/dist/htmx.min.js")],
    "console.css": [CSS, style],
    "console.js": [SCRIPT, script],
    ...Object.fromEntries(
      Object.entries(icons).map(([name, text]) => [name, ["image/svg+xml", text] as const]),
    ),
  };
  for (const [name, [type, text]] of Object.entries(files))
    app.get(`/assets/${name}`, (call) =>
      call.body(text, 200, { "content-type": type, "cache-control": "private, max-age=3600" }),
    );
}

const installed = (path: string): string => readFileSync(require.resolve(path), "utf8");

/**
 * The console's own script, beside htmx: a page that asks for itself again, and gets no answer or an error, says so.
 * Without it a page would show for ever what was true once.
 */
const script = `
const tell = (isStale) => {
  const stale = document.getElementById("stale");
  if (stale) stale.hidden = !isStale;
};
document.addEventListener("htmx:error", () => tell(true));
document.addEventListener("htmx:after:request", ({ detail }) => tell(detail.ctx.response.status >= 400));
`;

/** The console's own style, over Pico: sizes for a counter-top screen and a phone, light and dark, and paper. */
const style = `
:root {
  --pico-font-size: 100%;
  --pico-spacing: 0.9rem;
  --pico-form-element-spacing-vertical: 0.45rem;
  --pico-form-element-spacing-horizontal: 0.7rem;
  --pico-typography-spacing-vertical: 0.9rem;
  --pico-icon-chevron: url("/assets/chevron.svg");
  --pico-icon-checkbox: none; --pico-icon-minus: none; --pico-icon-date: none; --pico-icon-time: none;
  --pico-icon-search: none; --pico-icon-close: none; --pico-icon-loading: none;
  --pico-icon-valid: none; --pico-icon-invalid: none;
  --good: #14632f; --bad: #a3161d; --wait: #7a4b00; --soft: #5b6470;
  --good-back: #e3f4e8; --bad-back: #fde7e7; --wait-back: #fff2d9;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --good: #7fdca0; --bad: #ff9d9d; --wait: #f2c46d; --soft: #a9b3c0;
    --good-back: #12301d; --bad-back: #3c1719; --wait-back: #352809;
  }
}
html { scroll-padding-top: 1rem; }
:focus-visible, input:is(:focus, :focus-within) { outline: 3px solid var(--pico-primary); outline-offset: 2px; }
.container { max-width: 76rem; }
.narrow { max-width: 28rem; padding-top: 3rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--pico-background-color); padding: 0.5rem; z-index: 2; }
header.container { display: grid; grid-template-columns: 1fr auto; align-items: center; padding-block: 0.6rem 0; }
.who { margin: 0; }
.out { display: flex; gap: 0.8rem; align-items: center; margin: 0; font-size: 0.9rem; }
.out button { width: auto; margin: 0; padding: 0.2rem 0.7rem; font-size: 0.9rem; }
header nav { grid-column: 1 / -1; border-bottom: 1px solid var(--pico-muted-border-color); }
header nav ul { flex-wrap: wrap; margin: 0; }
header nav li { padding: 0 0.2rem; white-space: nowrap; }
header nav li a { display: inline-block; padding: 0.6rem 0.6rem; margin: 0; border-bottom: 3px solid transparent; }
header nav li a[aria-current="page"] { border-bottom-color: var(--pico-primary); color: var(--pico-color); font-weight: 600; }
main.container { padding-block: 1.2rem 3rem; }
main:focus { outline: none; }
h1 { font-size: 1.6rem; margin: 0 0 0.8rem; }
main > p:has(+ h1) { margin-bottom: 0.4rem; }
h2 { font-size: 1.2rem; margin: 1.8rem 0 0.6rem; }
h3 { font-size: 1.05rem; margin: 0 0 0.4rem; }
p, li, td, th, dd, h1, h2, h3 { overflow-wrap: anywhere; }
.quiet, caption, small { color: var(--soft); }
.banner { border-left: 0.4rem solid; padding: 0.9rem 1.1rem; border-radius: 0.3rem; margin-bottom: 1.2rem; }
.banner > :last-child { margin-bottom: 0; }
.banner h2 { margin-top: 0; }
.banner.good { border-color: var(--good); background: var(--good-back); }
.banner.bad { border-color: var(--bad); background: var(--bad-back); }
.banner.wait { border-color: var(--wait); background: var(--wait-back); }
.banner a { color: inherit; text-decoration-color: currentColor; }
.banner li { margin-bottom: 0.3rem; }
.banner[hidden] { display: none; }
.told { border: 1px solid var(--good); background: var(--good-back); padding: 0.6rem 0.9rem; border-radius: 0.3rem; }
.entry { margin-bottom: 0.9rem; }
.entry > div + div { padding-left: 1.2rem; }
.mark { white-space: nowrap; font-weight: 600; }
.mark.good { color: var(--good); } .mark.bad { color: var(--bad); } .mark.wait { color: var(--wait); } .mark.off { color: var(--soft); }
.scroll { overflow-x: auto; margin-bottom: 1rem; }
table { font-size: 0.94rem; margin: 0; }
caption { caption-side: top; text-align: left; padding: 0 0 0.3rem; font-size: 0.9rem; }
td, th { padding: 0.4rem 0.6rem; vertical-align: top; background: transparent; }
td { min-width: 5.6rem; }
thead th { border-bottom-width: 2px; white-space: nowrap; font-weight: 600; }
tbody th { font-weight: 500; min-width: 9rem; }
.whole { white-space: nowrap; }
.right { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.card { border: 1px solid var(--pico-muted-border-color); border-radius: 0.4rem; padding: 1rem 1.1rem; margin-bottom: 1rem; }
.card > :last-child { margin-bottom: 0; }
.card h2 { margin-top: 0; font-size: 1.1rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 0.5rem 1.2rem; margin-bottom: 1rem; }
.facts dt { color: var(--soft); font-size: 0.86rem; font-weight: 400; }
.facts dd { margin: 0; }
.facts div { min-width: 0; }
form.change, main > form { margin-bottom: 1rem; }
form.change > .line:has(> label) { margin-bottom: var(--pico-spacing); }
.line { display: flex; gap: 0.6rem; align-items: start; flex-wrap: wrap; }
.line > input, .line > select { flex: 1 1 14rem; margin: 0; width: auto; }
.line > button { width: auto; max-width: 100%; margin: 0; overflow-wrap: anywhere; }
search { display: block; margin-bottom: 1.2rem; }
search input[type="search"][name] { border-radius: var(--pico-border-radius); padding-inline-start: var(--pico-form-element-spacing-horizontal); }
.line > label { flex: 1 1 8.5rem; margin: 0; max-width: 22rem; }
.line:has(> label) { align-items: end; }
search .line > label:has(> [type="search"]) { flex: 1 1 100%; max-width: none; }
.line > label > input, .line > label > select { margin-bottom: 0; }
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); gap: 0 0.9rem; }
label { font-size: 0.94rem; }
pre { max-height: 24rem; overflow: auto; padding: 0.8rem; font-size: 0.85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
code { overflow-wrap: anywhere; }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 1.2rem; }
.both > * { min-width: 0; }
.both .right { white-space: normal; }
@media (min-width: 64rem) {
  tbody :is(td, th):nth-child(-n + 2) { min-width: 8.5rem; }
  .both tbody :is(td, th):first-child { min-width: 13.5rem; }
}
.differs td, .differs th { background: var(--bad-back); }
.differs { font-weight: 600; }
progress { margin: 0.3rem 0; }
svg.chart { width: 100%; height: auto; max-width: 48rem; color: var(--pico-color); }
svg.chart polyline { fill: none; }
svg.chart .used { stroke: var(--pico-color); } svg.chart .then { stroke: var(--wait); stroke-dasharray: 6 5; }
svg.chart polygon { stroke: var(--pico-background-color); stroke-width: 0.5; }
svg.swatch { width: 0.75em; height: 0.75em; }
svg .poll { fill: #56b4e9; } svg .detail { fill: #009e73; } svg .write { fill: #d55e00; } svg .read-back { fill: #e69f00; }
svg .again { fill-opacity: 0.45; }
svg .check { fill: #cc79a7; } svg .audit { fill: #0072b2; } svg .backfill { fill: #c9b800; } svg .lost { fill: #8a8a8a; }
svg.chart .grid { stroke: var(--pico-muted-border-color); } svg.chart text { fill: var(--soft); font-size: 12px; }
.way { display: flex; list-style: none; padding: 0; max-width: 62rem; margin-bottom: 1.2rem; }
.way li { flex: 1 1 0; list-style: none; margin: 0; padding: 0.7rem 0.5rem 0 0; border-top: 2px solid var(--pico-muted-border-color); position: relative; }
.way li::before { content: ""; position: absolute; left: 0; top: -0.4rem; border: 0.36rem solid #0072b2; border-radius: 50%; }
.way li:last-child { flex-grow: 0; border-color: transparent; }
.way time { display: block; color: var(--soft); font-size: 0.86rem; white-space: nowrap; }
details { margin-bottom: 0.6rem; }
details summary { line-height: 1.4; }
details summary, details[open] > summary { color: var(--pico-primary); }
.card details { border-top: 1px solid var(--pico-muted-border-color); padding-top: 0.5rem; }
.act > summary { display: inline-block; border: 1px solid var(--pico-primary); border-radius: 0.3rem; padding: 0.4rem 0.9rem; color: var(--pico-primary); }
.act > summary::after { display: none; }
.act[open] > summary { margin-bottom: 0.8rem; }
.card .act { border: 0; padding: 0; }
.buttons { margin-top: 0.8rem; display: flex; flex-wrap: wrap; gap: 0.7rem; align-items: center; }
.buttons button { width: auto; margin: 0; }
.sign { display: none; }
footer.container { padding-block: 0 1.5rem; color: var(--soft); font-size: 0.86rem; }
@media screen and (max-width: 46rem) {
  header.container { grid-template-columns: 1fr; }
  header nav li { padding: 0; }
  header nav li a { padding: 0.45rem 0.5rem; }
  .out { justify-content: space-between; }
  .both { grid-template-columns: 1fr; }
  .scroll table, .scroll tbody, .scroll tr, .scroll th[scope="row"], .scroll td { display: block; width: 100%; }
  .scroll caption { display: block; }
  .scroll thead { display: none; }
  .scroll tr { border-bottom: 2px solid var(--pico-muted-border-color); padding: 0.4rem 0; }
  .scroll td, .scroll th { border: 0; padding: 0.12rem 0; text-align: left; white-space: normal; }
  .scroll td { display: inline-block; width: auto; min-width: 0; max-width: 100%; margin-right: 1.2rem; }
  .scroll td.none { display: none; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); }
  .way { display: block; }
  .way li { border-top: 0; border-left: 2px solid var(--pico-muted-border-color); padding: 0 0 0.7rem 1rem; }
  .way li::before { left: -0.4rem; top: 0.35rem; }
  .way time { display: inline; margin-left: 0.6rem; }
  .scroll td[data-title]::before { content: attr(data-title) ": "; color: var(--soft); }
  .line > button { width: 100%; }
  svg.chart text { font-size: 24px; }
  svg.chart .desk { display: none; }
}
@media print {
  header.container, form, .buttons, .told, .screen, details:not(.paper) { display: none !important; }
  details.paper::details-content { content-visibility: visible; height: auto; }
  .container { max-width: none; }
  :root { font-size: 9.5pt; }
  body { color: #000; background: #fff; }
  .scroll { overflow: visible; }
  tr { break-inside: avoid; }
  td, th { padding: 0.25rem 0.35rem; overflow-wrap: break-word; }
  thead th { white-space: normal; }
  .facts > div, .card, .banner { break-inside: avoid; }
  .card { box-shadow: none; }
  a { color: inherit; text-decoration: none; }
  .sign { display: grid; grid-template-columns: 1fr 1fr; gap: 3rem; margin-top: 4rem; }
  .sign p { border-top: 1px solid #000; padding-top: 0.3rem; }
}
`;

const icons: Readonly<Record<string, string>> = {
  "icon.svg":
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#0b5c8a"/><path d="M4 22c4-10 20-10 24 0M9 16v6M16 14v8M23 16v6" stroke="#fff" stroke-width="2.5" fill="none"/></svg>',
  "chevron.svg":
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="#7b8795" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="m6 9 6 6 6-6"/></svg>',
};
