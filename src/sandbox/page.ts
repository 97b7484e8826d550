/** The page at `/`: what the sandbox holds and hears, and buttons for the control interface. For people who try. */
import { hash } from "node:crypto";
import { operations } from "../platform/contract/operations.ts";
import { SCRIPT } from "./page-script.ts";
import { STYLE } from "./page-style.ts";

/** Nothing from elsewhere is loaded, and nobody may put the page into a frame. */
export const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": [
    "default-src 'none'",
    `script-src 'sha256-${hash("sha256", SCRIPT, "base64")}'`,
    `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
};

/** One document without any other file. What it shows it asks of the control interface, whose root this is. */
export const page = (controlRoot: string): string => `<!doctype html>
<html lang="en" data-control="${controlRoot}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fuelbridge sandbox</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
  <h1>fuelbridge sandbox</h1>
  <p>The fuel-logistics platform as a local server. Every company, key and record here is made up: break what you like.</p>
  <dl class="places">
    <div><dt>API</dt><dd><code id="base"></code> (<a href="/openapi.json">described as OpenAPI</a>)</dd></div>
    <div><dt>Control</dt><dd><code id="control"></code></dd></div>
    <div><dt>Scenario</dt><dd id="scenario"></dd></div>
  </dl>
  <p id="said" role="status"></p>
</header>
<main>
<noscript>This page needs JavaScript; the control interface under ${controlRoot} does not.</noscript>

<section aria-labelledby="holds">
  <h2 id="holds">Records</h2>
  <table><tbody id="records"></tbody></table>
</section>

<section aria-labelledby="clock">
  <h2 id="clock">Clock</h2>
  <p><time id="now"></time> <span id="ahead" class="hint"></span></p>
  <p class="hint">Holds of 60 seconds and of 24 hours, rate windows, tokens and cursors go by it.</p>
  <p class="row">${[
    ["1 minute", 60],
    ["1 hour", 3_600],
    ["1 day", 86_400],
  ]
    .map(([label, seconds]) => `<button data-advance="${seconds}">+ ${label}</button>`)
    .join("\n  ")}</p>
  <h3>Begin again</h3>
  <p class="hint">A reset drops every record, Idempotency-Key and fault; limits and clock are as at the start.</p>
  <p class="row">${["empty", "conformance", "demo"].map(reset).join("\n  ")}</p>
  <h3>A first request</h3>
  <pre><code id="first"></code></pre>
</section>

<section aria-labelledby="faults" class="wide">
  <h2 id="faults">Faults</h2>
  <p class="row">
    <label>What it hits <select id="target">
      <option value="{}">any request</option>
      ${["GET", "POST", "PUT"].map((method) => target(`any ${method}`, { method })).join("\n      ")}
      ${Object.values(operations)
        .map(({ method, path }) => target(`${method} ${path}`, { method, path }))
        .join("\n      ")}
    </select></label>
    <label>Whose <select id="whose"><option value="">any key</option></select></label>
    <label>Times <input id="times" type="number" min="1" max="1000" value="1"></label>
  </p>
  <ul class="faults">
    ${faultButtons.join("\n    ")}
  </ul>
  <h3>Armed <button id="disarm">Disarm all</button></h3>
  <ul id="armed"></ul>
</section>

<section aria-labelledby="keys" class="wide">
  <h2 id="keys">Keys and limits</h2>
  <div class="scroll" tabindex="0" role="region" aria-labelledby="keys"><table>
    <thead><tr><th>Name</th><th>Company</th><th>Value</th><th>This minute</th><th>This month</th><th>Limits</th></tr></thead>
    <tbody id="keyRows"></tbody>
  </table></div>
</section>

<section aria-labelledby="requests" class="wide">
  <h2 id="requests">Requests <small>the last 50, newest first</small></h2>
  <div class="scroll" tabindex="0" role="region" aria-labelledby="requests"><table>
    <thead><tr><th>No.</th><th>At (UTC)</th><th>Key</th><th>Request</th><th>Answer</th><th>Why</th><th>Idempotency-Key</th></tr></thead>
    <tbody id="log"></tbody>
  </table></div>
</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

const reset = (scenario: string): string => `<button data-reset="${scenario}">${scenario}</button>`;

const target = (label: string, match: object): string =>
  `<option value='${JSON.stringify(match)}'>${label}</option>`;

/** The faults that are met most often. */
const faults: readonly (readonly [label: string, fault: object, meaning: string])[] = [
  ["500 before", { kind: "status", status: 500 }, "Nothing is written; the key is held for 60 s."],
  [
    "500 after",
    { kind: "status", status: 500, when: "after" },
    "It is written all the same; the key is held for 60 s.",
  ],
  [
    "504",
    { kind: "status", status: 504, when: "after" },
    "Timed out, yet written; the key is held for 24 hours.",
  ],
  ["Reset after", { kind: "reset", when: "after" }, "Written, then the connection is torn down."],
  ["Truncate", { kind: "truncate" }, "Half of the answer, then the connection is torn down."],
  ["Garbage", { kind: "garbage" }, "200, and a body that is no JSON."],
  ["Delay", { kind: "delay", ms: 5_000 }, "The answer takes 5 s; meanwhile the key is in flight."],
  ["Cursor", { kind: "cursor" }, "The next request of a walk is told that its cursor is no good."],
];

/** The texts of this file are its own: none needs escaping. */
const faultButtons = faults.map(
  ([label, fault, meaning]) =>
    `<li><button data-fault='${JSON.stringify(fault)}'>${label}</button> <span>${meaning}</span></li>`,
);
