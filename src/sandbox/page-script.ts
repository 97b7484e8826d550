/** What runs in the browser: plain JavaScript, without a build. Whatever it shows goes through `textContent`. */
export const SCRIPT = `
"use strict";
const root = document.documentElement.dataset.control;
const EVERY_MS = 2000;
const LIMITS = { perMinute: 600, monthlyCap: 50000 };
const $ = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  made.className = className;
  return made;
}

/** A row of cells: elements as they are, anything else in a cell of its own. */
function row(cells) {
  const made = element("tr");
  made.append(...cells.map((cell) => (cell instanceof Element ? cell : element("td", cell))));
  return made;
}

function head(text) {
  const made = element("th", text);
  made.scope = "row";
  return made;
}

/** A cell with one element in it. */
function holding(inner) {
  const made = element("td");
  made.append(inner);
  return made;
}

async function control(method, path, body) {
  const answer = await fetch(root + path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

function say(text, bad) {
  $("said").textContent = text;
  $("said").className = bad ? "bad" : "";
}

/** Does it, says it, and shows what has become of it. */
async function act(work, done) {
  try {
    await work();
    say(done);
    await refresh();
  } catch (error) {
    say(error.message, true);
  }
}

/** Draws a part anew only when it has changed: a selection of text, and the focus, stay where they are. */
const drawn = new Map();
function draw(id, value, rows) {
  const text = JSON.stringify(value);
  if (drawn.get(id) === text) return;
  drawn.set(id, text);
  $(id).replaceChildren(...rows(value));
}

function showRecords(records) {
  draw("records", records, () =>
    Object.entries(records).map(([name, number]) =>
      row([head(name.replaceAll("-", " ")), element("td", count(number), "number")])));
}

function showClock(now) {
  $("now").textContent = now.slice(0, 19).replace("T", " ") + " UTC";
  $("now").dateTime = now;
  const minutes = Math.round((Date.parse(now) - Date.now()) / 60000);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = [[days, "d"], [hours, "h"], [minutes % 60, "min"]].filter(([number]) => number > 0);
  const ahead = parts.map(([number, unit]) => number + " " + unit).join(" ");
  $("ahead").textContent = ahead === "" ? "the real time" : ahead + " ahead of the real time";
}

function told(fault) {
  const { id, times, kind, method, path, key, ...more } = fault;
  const fields = Object.entries(more).map(([name, value]) => name + " " + value).join(", ");
  const hits = [method ?? (path ? "" : "any request"), path ?? ""].filter(Boolean).join(" ");
  return times + " × " + kind + (fields ? " (" + fields + ")" : "") + ": " + hits + (key ? " with the key " + key : "");
}

function showFaults(faults) {
  draw("armed", faults, () =>
    faults.length === 0 ? [element("li", "None.", "hint")] : faults.map((fault) => element("li", told(fault))));
}

const keyCells = new Map();

function showKeys(keys) {
  for (const { name, key, companyType, sandbox } of keys) {
    const [minute, month] = [element("td"), element("td")];
    const button = element("button");
    button.addEventListener("click", () => {
      const off = button.dataset.off !== "yes";
      const change = off ? { perMinute: 0 } : LIMITS;
      act(() => control("POST", "/limits", { key: name, ...change }),
        name + (off ? ": every request gets 429 now." : ": back to the usual limits."));
    });
    const type = companyType + (sandbox ? ", test" : "");
    $("keyRows").append(row([head(name), type, holding(element("code", key)), minute, month, holding(button)]));
    $("whose").append(new Option(name, name));
    keyCells.set(name, { minute, month, button });
  }
  const supplier = keys.find(({ name }) => name === "supplier");
  $("first").textContent = 'curl -H "X-API-Key: ' + supplier.key + '" \\\\\\n  "' + $("base").textContent + '/invoices?pageSize=1"';
}

function showLimits(limits) {
  for (const { key, perMinute, minuteUsed, monthlyCap, monthUsed } of limits) {
    const cells = keyCells.get(key);
    cells.minute.textContent = count(minuteUsed) + " of " + count(perMinute);
    cells.month.textContent = count(monthUsed) + " of " + count(monthlyCap);
    const usual = perMinute === LIMITS.perMinute && monthlyCap === LIMITS.monthlyCap;
    cells.minute.className = perMinute === 0 ? "bad" : "";
    cells.button.dataset.off = usual ? "no" : "yes";
    cells.button.textContent = usual ? "429 from now on" : "Back to 600";
    cells.button.setAttribute("aria-label", cells.button.textContent + ", " + key);
  }
}

function logRow({ seq, at, key, method, path, query, status, replayed, fault, idempotencyKey }) {
  const search = new URLSearchParams(query).toString();
  const torn = fault === null ? "running" : "torn";
  const kind = status === null ? "odd" : status < 400 ? "good" : status < 500 ? "odd" : "bad";
  const why = [replayed ? "replayed" : "", fault ? "fault: " + fault : ""].filter(Boolean).join(", ");
  const time = element("td", at.slice(11, 23));
  time.title = at;
  const request = element("code", method + " " + path + (search ? "?" + decodeURIComponent(search) : ""));
  const who = key ?? (status === null ? "" : "unknown");
  const idempotency = element("code", idempotencyKey);
  return row([seq, time, who, holding(request), element("td", status ?? torn, kind), why, holding(idempotency)]);
}

function showLog(requests) {
  draw("log", requests, () => {
    if (requests.length > 0) return requests.toReversed().map(logRow);
    const nothing = element("td", "Nothing has arrived yet.", "hint");
    nothing.colSpan = 7;
    return [row([nothing])];
  });
}

async function refresh() {
  const [state, { requests }] = await Promise.all([control("GET", "/state"), control("GET", "/requests?last=50")]);
  $("scenario").textContent = state.scenario;
  showRecords(state.records);
  showClock(state.now);
  showFaults(state.faults);
  showLimits(state.limits);
  showLog(requests);
}

let lost = false;
async function poll() {
  try {
    if (keyCells.size === 0) showKeys((await control("GET", "/keys")).keys);
    await refresh();
    if (lost) say("The sandbox answers again.");
    lost = false;
  } catch {
    say("The sandbox does not answer; what you see is old.", true);
    lost = true;
  }
  setTimeout(poll, EVERY_MS);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button === null) return;
  const { advance, reset, fault } = button.dataset;
  if (advance) act(() => control("POST", "/clock", { advanceSeconds: Number(advance) }), "The clock was moved on.");
  if (reset && confirm("Begin again with the scenario " + reset + "? Everything else is dropped."))
    act(() => control("POST", "/reset", { scenario: reset }), "The sandbox holds the scenario " + reset + " again.");
  if (fault) {
    const key = $("whose").value;
    const match = { ...JSON.parse($("target").value), ...(key ? { key } : {}), times: $("times").valueAsNumber || 1 };
    act(() => control("POST", "/faults", { ...match, ...JSON.parse(fault) }), "Armed: " + button.textContent + ".");
  }
  if (button.id === "disarm") act(() => control("DELETE", "/faults"), "No fault is armed.");
});

$("base").textContent = location.origin + "/v1/public";
$("control").textContent = location.origin + root;
poll();
`;
