/** The pages over a real store: what people find, do, and leave behind in the audit. */
import { join } from "node:path";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testConsole } from "../../test/support/console.ts";
import { recordingOffice } from "../../test/support/console-offices.ts";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { conditionsOf } from "../alerts/alerts.ts";
import { asCsv } from "../views/csv.ts";
import { knownView } from "../views/reconciliation.ts";
import { monthEndView } from "../views/status.ts";
import { missingTable } from "../views/documents.ts";
import type { MonthEnd } from "../office/answers.ts";
import { asText } from "../views/text.ts";
import { openTables } from "../config/crossref.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { Daemon, runFlow } from "../engine/daemon.ts";
import { storeOffice } from "../../test/support/office.ts";
import { openUsers, usersFile } from "./users.ts";

const signal = new AbortController().signal;

const AT = "2026-11-01T08:00:00.000Z";
const THREE = [
  bill("INV-117", "9.50", { product: "ULSD-DYED" }),
  bill("INV-118", "20712.42", { product: "ULSD-DYED" }),
  bill("INV-119", "100.00"),
];

/** By default three invoices: two wait for a product, and one is delivered. */
async function site(changes = THREE, sink = receiver()) {
  const folder = tempFolder();
  const made = engineOn(join(folder, "state"));
  mkdirSync(join(folder, "crossref"));
  const file = join(folder, "crossref", "products.csv");
  writeFileSync(file, "code;product\r\nULSD-CLR;ULSD\r\n");
  const tables = openTables(join(folder, "crossref"));
  const mapping: typeof billMapping = {
    ...billMapping,
    tables: { products: ["code", "product"] },
    about: ({ number, payer, amount }) => ({
      party: payer ?? "000417",
      partyName: "Prairie Fuel",
      amount,
      day: number === "INV-118" ? "2026-10-15" : null,
    }),
  };
  const bills = made.flow({
    mapping,
    sink,
    source: pagesOf([{ changes, position: 1 }]),
  });
  const paused = {
    ...bills,
    get paused() {
      return made.store.flows.isHeld(bills.flow);
    },
  };
  const engine = { ...made.engine, tables, flows: [paused] };
  const daemon = new Daemon(engine, [paused]);
  const office = storeOffice({
    engine,
    flows: [paused],
    daemon,
    version: "1",
    startedAt: new Date(0),
    tables,
  });
  const run = () => runFlow(engine, paused, signal);
  await run();
  const browsers = await testConsole(office, made.clock);
  return { ...browsers, office, run, file, paused, engine, daemon };
}

test("somebody finds what is wrong, adds the missing row, and the group is empty; who and why is kept", async () => {
  const { as, office, run, file } = await site();
  const accountant = await as("accountant");
  const today = await accountant.get("/");
  const title = "2 invoices wait for one row of products: ULSD-DYED";
  expect(today.body).toContain(title);
  const [group] = await office.quarantine();
  const page = await accountant.get(`/needs-you/${group?.id}`);
  expect(page.body).toContain(
    "INV-118 · Prairie Fuel · $20,712.42 · crossref/products.csv has no row `ULSD-DYED`",
  );
  expect(page.body).toContain("Nobody has said yet what the platform calls ULSD-DYED");
  const fields = {
    group: group?.id ?? "",
    "cell.code": "ULSD-DYED",
    "cell.product": "ULSD",
    note: "Kim said so",
  };
  const added = await accountant.post("/cross-references/products", fields);
  expect([added.status, added.headers["location"]]).toEqual([303, "/needs-you"]);
  expect(readFileSync(file, "utf8")).toBe("code;product\r\nULSD-CLR;ULSD\r\nULSD-DYED;ULSD\r\n");
  await run();
  const after = await accountant.get("/needs-you");
  expect(after.body).toContain("Nothing needs you.");
  expect(after.body).toContain(
    "ULSD-DYED is in products now. 2 documents will be tried again now.",
  );
  expect((await accountant.get("/needs-you")).body).not.toContain("tried again now");
  expect((await accountant.get("/")).body).toContain("Nothing is wrong");
  // The row that was there before is the one that no document has asked for.
  const [products] = await office.tables();
  expect([products?.unused?.keys, products?.missing]).toEqual([["ULSD-CLR"], []]);
  const told = (await accountant.get("/cross-references")).body;
  expect(told).toContain("1 row of products that no document has used since");
  const audit = (await accountant.get("/audit")).body;
  for (const told of ["row added", "tried again", "Kim said so", "accountant", "INV-118"])
    expect(audit).toContain(told);
  // A second row with the same key, and signs that nobody sees, are refused.
  const again = await accountant.post("/cross-references/products", fields);
  expect([again.status, again.body.includes("is in it already")]).toEqual([422, true]);
  const unseen = { ...fields, "cell.code": "X\u202E", group: "" };
  expect((await accountant.post("/cross-references/products", unseen)).status).toBe(422);
});

test("an accountant assigns, notes and corrects in the console, and takes the evidence of a month away", async () => {
  const { as, office, run } = await site();
  const [viewer, accountant] = [await as("viewer"), await as("accountant")];
  const [group] = await office.quarantine();
  const page = `/needs-you/${group?.id}`;
  const { deliveries } = await office.quarantineShow(group?.id ?? "");
  const [first] = deliveries;
  const selector = first?.delivery ?? "";
  const editing = { selector, field: "product", value: "ULSD-CLR", note: "the ticket says clear" };
  expect((await viewer.post(`${page}/edit`, editing)).status).toBe(403);
  expect((await accountant.get(page)).body).toContain('<option value="product">ULSD-DYED');

  expect((await accountant.post(`${page}/assign`, { to: "kim", note: "knows it" })).status).toBe(
    303,
  );
  expect((await accountant.post(`${page}/note`, { selector, note: "called <Bob>" })).status).toBe(
    303,
  );
  const seen = (await accountant.get(page)).body;
  expect(seen.match(/>\s*kim\s*</g)).toHaveLength(2);
  expect(seen).toContain("called &lt;Bob&gt;");

  const amount = await accountant.post(`${page}/edit`, { ...editing, field: "amount", value: "1" });
  expect([amount.status, amount.body.includes("never changed on the way")]).toEqual([422, true]);
  expect((await accountant.post(`${page}/edit`, editing)).status).toBe(303);
  await run();
  const document = (await accountant.get(`/documents/${first?.document}`)).body;
  for (const told of ["is delivered", "Corrected here", "the ticket says clear", "ULSD-DYED"])
    expect(document).toContain(told);

  const other = recordingOffice();
  const { as: elsewhere } = await testConsole(other.office);
  const auditor = await elsewhere("accountant");
  const month = { from: "2026-10-01", to: "2026-10-31", note: "month's end" };
  const { headers } = await auditor.post("/reconciliation", month);
  const pack = await auditor.get(`${String(headers["location"])}/evidence`);
  expect([pack.status, pack.headers["content-type"], pack.body.slice(0, 2)]).toEqual([
    200,
    "application/zip",
    "PK",
  ]);
  expect(pack.headers["content-disposition"]).toMatch(/evidence-[\w-]+-[0-9a-f]{64}\.zip"$/);
});

test("documents that are tried again while their flow is paused are told to wait for it, and Today names what stands still", async () => {
  const { as, office, file } = await site();
  const [accountant, operator] = [await as("accountant"), await as("operator")];
  await operator.post("/flows/bills/pause", { note: "month's end" });
  const [group] = await office.quarantine();
  appendFileSync(file, `${group?.lookup?.key};ULSD\r\n`);
  const page = `/needs-you/${group?.id}`;
  expect((await accountant.post(`${page}/retry`, { note: "again" })).status).toBe(303);
  const told = (await accountant.get("/needs-you")).body;
  expect(told).toContain(
    "2 documents will be tried again once somebody lets bills go on: it is paused.",
  );
  const today = (await accountant.get("/")).body;
  expect(today).toContain("Nothing is wrong, but 1 flow stands still");
  expect(today).toContain("2 documents wait in it.");
  expect(today).not.toContain("Every flow works");
  expect(today).not.toContain("You do not have to do anything");
  // The way to it: the link names the place of the flow on its page.
  const [, anchor = ""] = /href="\/flows#([^"]+)"/.exec(today) ?? [];
  expect((await accountant.get("/flows")).body).toContain(`id="${anchor}"`);
});

test("every document of a large group can be seen and chosen, a page at a time; that many take rounds, and it says so", async () => {
  const many = Array.from({ length: 230 }, (_, at) =>
    bill(`INV-${1000 + at}`, "9.50", { product: "ULSD-DYED" }),
  );
  const { as, office, file } = await site(many);
  const accountant = await as("accountant");
  const [group] = await office.quarantine();
  const page = `/needs-you/${group?.id}`;
  const numbersOn = ({ body }: { readonly body: string }): string[] => [
    ...new Set(body.match(/INV-\d+/g)),
  ];
  const seen = [];
  for (let to: string | undefined = page; to !== undefined;) {
    const shown = await accountant.get(to);
    seen.push(numbersOn(shown));
    to = /href="([^"]+)">The next ones/.exec(shown.body)?.[1];
  }
  expect(seen.map(({ length }) => length)).toEqual([50, 50, 50, 50, 30]);
  expect(new Set(seen.flat()).size).toBe(230);
  const last = await accountant.get(`${page}?skip=200`);
  expect(last.body).toContain("Documents 201 to 230 of 230, the oldest first");
  expect(last.body).toContain("They go out in rounds");
  // One of the last page is closed; from another page it is not taken for one of that.
  const { deliveries } = await office.quarantineShow(group?.id ?? "", 50, 200);
  const form = { selector: deliveries[0]?.delivery ?? "", note: "entered by hand" };
  expect((await accountant.post(`${page}/resolve`, form)).status).toBe(422);
  expect((await accountant.post(`${page}/resolve`, { ...form, skip: "200" })).status).toBe(303);
  expect(await office.quarantine()).toMatchObject([{ count: 229 }]);
  appendFileSync(file, "ULSD-DYED;ULSD\r\n");
  await accountant.post(`${page}/retry`, { note: "again" });
  expect((await accountant.get("/needs-you")).body).toContain(
    "229 documents will be tried again, the oldest first. They go out in rounds",
  );
});

test("what clears by itself, or can be retried, offers to be closed among the other things only", async () => {
  const { as, office } = await site();
  const accountant = await as("accountant");
  const [group] = await office.quarantine();
  const { body } = await accountant.get(`/needs-you/${group?.id}`);
  expect(body.indexOf("Close it: it was settled by hand")).toBeGreaterThan(
    body.indexOf("Other things to do"),
  );
  expect(body.match(/\/resolve"/g)).toHaveLength(1);
});

test("an amount that the receiver has changed is accepted by its id and by that amount, and by nothing less", async () => {
  const fault = {
    code: "sales-tax-added" as const,
    message: "107.25 in QuickBooks and 100.00 on the platform: sales tax added 7.25",
    next: "Make it not taxable, then retry.",
    amount: "107.25",
  };
  const sink = receiver({ find: async () => ({ found: "different", detail: "7.25", fault }) });
  const answer = { outcome: "unknown", detail: fault.message } as const;
  sink.script.push(() => ({ answer, execute: true }));
  const { as, office, daemon } = await site([bill("INV-119", "100.00")], sink);
  const accountant = await as("accountant");
  await daemon.once(signal);
  await daemon.once(signal);
  const [group] = await office.quarantine();
  expect(group?.code).toBe("sales-tax-added");
  const page = `/needs-you/${group?.id}`;
  expect((await accountant.get(page)).body).toMatch(/name="amount"[^>]*required/);
  const { deliveries } = await office.quarantineShow(group?.id ?? "");
  const [selector = ""] = deliveries.map(({ delivery }) => delivery);
  const said = { selector, receiverId: "145", note: "seen", skip: "0" };
  expect((await accountant.post(`${page}/link`, said)).body).toContain("comes to another amount");
  expect(await office.quarantine()).toHaveLength(1);
  await accountant.post(`${page}/link`, { ...said, amount: "$107.25" });
  expect(await office.quarantine()).toEqual([]);
});

test("a viewer of a group is told what others may do, and has no form", async () => {
  const { as, office } = await site();
  const [group] = await office.quarantine();
  const { body } = await (await as("viewer")).get(`/needs-you/${group?.id}`);
  const main = /<main[^]*<\/main>/.exec(body)?.[0] ?? "";
  expect(main.replaceAll(/\s+/g, " ")).toContain("You are logged in as viewer.");
  expect(main).not.toContain("<form");
  expect(main.match(/<summary>/g)).toHaveLength(1);
});

test("what is meant for one document that has left its group meanwhile is refused, and never done to the whole group", async () => {
  const { as, office } = await site();
  const accountant = await as("accountant");
  const [group] = await office.quarantine();
  const { deliveries } = await office.quarantineShow(group?.id ?? "");
  expect((await office.quarantineShow(group?.id ?? "", 1)).deliveries).toEqual(
    deliveries.slice(0, 1),
  );
  const selector = deliveries[0]?.delivery ?? "";
  const form = { selector, note: "entered by hand" };
  const to = `/needs-you/${group?.id}`;
  expect((await accountant.post(`${to}/resolve`, form)).status).toBe(303);
  const again = await accountant.post(`${to}/resolve`, form);
  expect([again.status, again.body.includes("not in the group any more")]).toEqual([422, true]);
  expect(await office.quarantine()).toMatchObject([{ id: group?.id, count: 1 }]);
});

test("documents are found by every form of what people know, chosen, sorted and given as CSV", async () => {
  const { as, run, engine, paused } = await site();
  const ours = {
    kind: "invoice",
    platformId: "P-9",
    erpId: "INV-116",
    number: "INV-116",
  } as const;
  engine.store.links.save({ ...ours, born: "platform", content: "c", amount: "1.00" }, 0);
  const own = pagesOf([{ changes: [bill("INV-116", "1.00")], position: 2 }]);
  await runFlow(engine, { ...paused, source: own }, signal);
  await run();
  const viewer = await as("viewer");
  const numbers = async (asked: string): Promise<string> => {
    const [page, csv] = [
      await viewer.get(`/documents?${asked}`),
      await viewer.get(`/documents/csv?${asked}`),
    ];
    const found = [...csv.body.matchAll(/^INV-(\d+),/gm)].map(([, number]) => number);
    for (const number of found) expect(page.body).toContain(`INV-${number}</span></a>`);
    expect(page.body.match(/<th scope="row">/g) ?? []).toHaveLength(found.length);
    return found.join(" ");
  };
  for (const [asked, found] of [
    ["text=INV-118", "118"],
    ["text=inv-11", "119 118 117"],
    ["text=inv-11&state=all", "116 119 118 117"],
    ["text=id-of-INV-119", "119"],
    ["text=P-9&state=all", "116"],
    ["text=$20,712.42", "118"],
    ["text=20712", "118"],
    ["text=20,712", "118"],
    ["text=20712.4", ""],
    ["text=9.5", "117"],
    ["text=prair", "119 118 117"],
    ["text=10/15/2026", "118"],
    ["text=10/15/26", "118"],
    ["text=2026-10-15", "118"],
    ["text=2026-10", "118"],
    ["text=oct 15", "118"],
    ["text=October 15, 2026", "118"],
    ["text=Oct 2026", "118"],
    ["text=2026-11-21", "119 117"],
    ["text=11/20/2026", ""],
    ["text=100%", ""],
    ["", "119 118 117"],
    ["state=all", "116 119 118 117"],
    ["state=echo", "116"],
    ["state=quarantined", "118 117"],
    ["state=delivered&flow=bills", "119"],
    ["flow=others", ""],
    ["party=prairie&least=50&most=100", "119"],
    ["month=2026-10", "118"],
    ["least=50", "118 119"],
    ["order=amount", "118 119 117"],
    ["order=day", "119 117 118"],
  ] as const)
    expect([asked, await numbers(asked.replaceAll("%", "%25").replaceAll(" ", "%20"))]).toEqual([
      asked,
      found,
    ]);
  expect((await viewer.get("/documents?least=much")).body).toContain("is no amount");
});

test("an amount that no cents hold is searched by the nearest one, and stands in the way of no other", async () => {
  const amounts = ["778.478", "0.005", "-12.3456", "123456789012345678901234"];
  const changes = amounts.map((amount, at) => bill(`INV-${at}`, amount));
  const { as, run, office } = await site(changes);
  await run();
  const viewer = await as("viewer");
  expect((await viewer.get("/documents")).status).toBe(200);
  for (const [text, found] of [
    ["778.478", ["INV-0"]],
    ["778.48", ["INV-0"]],
    ["-12.35", ["INV-2"]],
  ] as const) {
    const { documents } = await office.documents({ text, before: null });
    expect(documents.map(({ number }) => number)).toEqual(found);
  }
});

test("a page of documents ends where the next one begins, in every order", async () => {
  const { office } = await site();
  for (const order of ["came", "day", "amount"] as const) {
    const all = (await office.documents({ text: null, before: null, order })).documents;
    const one = async (before: string | null) =>
      office.documents({ text: null, before, order, limit: 1 });
    const first = await one(null);
    const second = await one(first.next);
    const third = await one(second.next);
    expect([first, second, third].map(({ documents }) => documents)).toEqual(
      all.map((each) => [each]),
    );
    expect(third.next).toBeNull();
  }
});

test("whoever comes to a group second is told who was first, when and why", async () => {
  const { as, office } = await site();
  const [group] = await office.quarantine();
  const [ann, kim] = [await as("accountant"), await as("operator")];
  const form = { note: "entered by hand" };
  const to = `/needs-you/${group?.id}`;
  expect((await ann.post(`${to}/resolve`, form)).status).toBe(303);
  for (const { status, body } of [await kim.get(to), await kim.post(`${to}/resolve`, form)]) {
    expect(status).toBe(422);
    expect(body).toContain(
      "Nothing is left to do here: accountant closed it on 2026-11-21 at 06:00: entered by hand",
    );
  }
});

test("a card has what people know its documents by, their sum, the cause, and the form that helps", async () => {
  const { as, office } = await site();
  // As the daemon does all the time.
  await office.documents({ text: null, before: null });
  const clerk = await as("clerk");
  const { body } = await clerk.get("/needs-you");
  for (const told of [
    "2 invoices wait for one row of products: ULSD-DYED",
    "$20,721.92",
    'action="/cross-references/products"',
  ])
    expect(body).toContain(told);
  const [group] = await office.quarantine();
  expect(group).toMatchObject({
    sum: { amount: "20721.92", currency: "USD" },
    first: { number: "INV-117", partyName: "Prairie Fuel", amount: "9.50" },
  });
  const row = {
    "cell.code": "ULSD-DYED",
    "cell.product": "ULSD",
    note: "Kim",
    group: group?.id ?? "",
  };
  expect((await clerk.post("/cross-references/products", row)).status).toBe(303);
});

test("the page of a document has its life and bytes", async () => {
  const { as, office } = await site();
  const viewer = await as("viewer");
  const { documents } = await office.documents({ text: "INV-119", before: null });
  const { body } = await viewer.get(`/documents/${documents[0]?.id}`);
  expect(body).toContain("INV-119 · Prairie Fuel · $100.00 · is delivered");
  for (const told of ["id-of-INV-119", "bill.create", "SHA-256", ">came<", "delivered"])
    expect(body).toContain(told);
  // Requests, their keys and answers are for whoever runs fuelbridge; a story is for everybody.
  const [story = "", fold = ""] = body.split("For the person who runs fuelbridge");
  expect(story).toContain("It was sent. ");
  for (const technical of ["bill.create", "fb1_", "SHA-256"]) {
    expect(story).not.toContain(technical);
    expect(fold).toContain(technical);
  }
  expect((await viewer.get("/documents/999")).status).toBe(422);
});

test("a flow that an operator pauses reads nothing until it is resumed, also after a restart; a viewer may not", async () => {
  const { as, office, paused, engine } = await site();
  const [viewer, operator] = [await as("viewer"), await as("operator")];
  expect((await viewer.post("/flows/bills/pause", { note: "x" })).status).toBe(403);
  expect(paused.paused).toBe(false);
  expect((await operator.post("/flows/bills/pause", { note: "month's end" })).status).toBe(303);
  expect(paused.paused).toBe(true);
  expect((await office.status()).flows).toMatchObject([{ state: "paused" }]);
  expect((await operator.get("/flows")).body).toContain("bills is paused");
  expect(engine.store.flows.isHeld(paused.flow)).toBe(true);
  expect((await operator.post("/flows/bills/pause", { note: "again" })).status).toBe(422);
  const asked = await operator.post("/flows/bills/now", { note: "now" });
  expect([asked.status, asked.body.includes("bills is paused")]).toEqual([422, true]);
  await operator.post("/flows/bills/resume", { note: "done" });
  expect(paused.paused).toBe(false);
  const { deeds } = await office.deeds(null);
  expect(deeds.slice(0, 2)).toMatchObject([
    { event: "flow goes on", by: "operator", reason: "done" },
    { event: "flow paused", by: "operator", reason: "month's end" },
  ]);
});

test("a flow shows its last looks, the newest first: when, how long, what came, and why one failed", async () => {
  const { as, daemon, clock, paused, office } = await site();
  const viewer = await as("viewer");
  expect((await viewer.get("/flows")).body).toContain("It has not looked yet.");
  await daemon.once(signal);
  paused.source.read = async function* () {
    clock.advance(3_000);
    yield { changes: [bill("INV-120", "1.00"), bill("INV-121", "1.00")], position: 2 };
    throw new SourceUnavailable("the server is gone", { next: "Start it." });
  };
  clock.advance(3_600_000);
  await daemon.once(signal);
  const [failed, first] = await office.runs();
  expect(failed).toMatchObject({ flow: "bills", received: 2, trouble: "the server is gone" });
  expect(failed?.tookMs).toBeGreaterThanOrEqual(3_000);
  expect(first).toMatchObject({ received: 0, trouble: null });
  const { body } = await (await as("viewer")).get("/flows");
  expect(body).toContain("The last looks of bills, the newest first");
  expect(body).toContain("the server is gone");
  // A month of looks leaves the newest twenty.
  paused.source.read = async function* () {};
  for (let at = 0; at < 25; at++) {
    clock.advance(3_600_000);
    await daemon.once(signal);
  }
  expect(await office.runs()).toHaveLength(20);
});

test("Today says so when more came in the last hour than it counts", async () => {
  const of = async (count: number): Promise<string> => {
    const made = recordingOffice().office;
    const status = await made.status();
    const flow = status.flows[0]?.name ?? "";
    const office = {
      ...made,
      status: async () => status,
      lately: async () => [
        { flow, state: "delivered", hour: 498_727, count: 19_000 },
        { flow, state: "pending", hour: 498_727, count: count - 19_000 },
      ],
    };
    const { as } = await testConsole(office);
    return (await (await as("viewer")).get("/")).body;
  };
  const sentence = "At least 20,000 documents came. Only the newest 20,000 are counted here.";
  expect(await of(20_000)).toContain(sentence);
  const all = await of(19_999);
  expect(all).not.toContain("Only the newest");
  expect(all).toMatch(/data-title="Last two days">[\s\S]{0,200}19,999</);
});

test("users are for their owner alone, their passwords are hashed, and too short ones refused", async () => {
  const state = tempFolder();
  const users = openUsers(state, () => new Date(0));
  await users.add("kim", "accountant", "correct horse battery");
  const text = readFileSync(usersFile(state), "utf8");
  expect(text).toMatch(/"hash": "\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(text).not.toContain("horse");
  await expect(users.add("ann", "viewer", "short")).rejects.toThrow("it needs 12 to 200");
  await expect(users.add("kim", "viewer", "correct horse battery")).rejects.toThrow("already");
  await expect(users.add("A B", "viewer", "correct horse battery")).rejects.toThrow("cannot be");
  expect(await users.verify("kim", "correct horse batterz")).toBeNull();
  expect(await users.verify("nobody", "correct horse battery")).toBeNull();
  expect(await users.verify("kim", "correct horse battery")).toMatchObject({ role: "accountant" });
  await users.setPassword("kim", "another long password");
  expect(await users.verify("kim", "correct horse battery")).toBeNull();
  users.remove("kim");
  expect(users.list()).toEqual([]);
  expect(() => users.remove("kim")).toThrow('There is no user "kim"');
});

test("a flow with documents that need somebody has no sign that all is in order, on Today and on Flows", async () => {
  const viewer = await (await site()).as("viewer");
  for (const path of ["/", "/flows"]) {
    const { body } = await viewer.get(path);
    expect(body).toContain("needs you");
    expect(body).not.toContain("in order");
  }
  const other = await (await site([bill("INV-119", "100.00")])).as("viewer");
  expect((await other.get("/")).body).toContain("in order");
});

test("a flow that was asked to look at once is due now, not since 1970", async () => {
  const { as, office } = await site();
  const viewer = await as("viewer");
  await office.runNow("bills");
  for (const path of ["/", "/flows"])
    expect((await viewer.get(path)).body).not.toMatch(/due [\d,]+ days ago/);
  const { flows } = await office.status();
  expect(flows[0]?.nextDueAt).toMatch(/^2/);
});

test("before papers were compared the first time nothing is said of what differs", async () => {
  const { as } = await site();
  const { body } = await (await as("viewer")).get("/match");
  expect(body).toContain("They were never compared");
  expect(body).not.toContain("Nothing differs");
});

test("a comparison says how both sides are known and when, with year, second and time zone, and no amount is broken", async () => {
  const { office } = recordingOffice();
  const { as } = await testConsole(office);
  const person = await as("accountant");
  const period = { from: "2026-10-01", to: "2026-10-31", note: "month's end" };
  const { headers } = await person.post("/reconciliation", period);
  const { body } = await person.get(String(headers["location"]));
  expect(body).toMatch(
    /Both sides as each says at\s+<time[^>]*>\w+ \d+, \d{4}, \d\d:\d\d:\d\d C[SD]T<\/time/,
  );
  const { body: known } = await person.get("/reconciliation");
  expect(known).toContain('<span class="whole">q1234567</span>, ERP');
});

test("the month's end is one page: every point with its number and the way there", async () => {
  const { as, office } = await site();
  const viewer = await as("viewer");
  const { body } = await viewer.get("/month-end?month=2026-10");
  const main = /<main[\s\S]*<\/main>/.exec(body)?.[0].replaceAll(/<[^>]*>|\s+/g, " ") ?? "";
  for (const told of [
    /Everything is read . yes|Everything is read ! open/,
    /Everything is delivered ✓ yes 0 documents on the way/,
    /Nothing waits for a decision ! open 2 documents need a person/,
    /Both sides were compared in full, after the month ! open never/,
    /Orders, tickets, invoices and prices match ! open not compared after the month/,
    /Reconciled by, date/,
  ])
    expect(main.replaceAll(/ +/g, " ")).toMatch(told);
  for (const to of ["/needs-you", "/match?from=2026-10-01&amp;to=2026-10-31", "/flows"])
    expect(body).toContain(`href="${to}"`);
  // The same on the command line.
  expect(asText(monthEndView(await office.monthEnd("2026-10")))).toContain(
    "2 documents need a person",
  );
});

test("each point of a month's end says what it was measured by, and nothing of what it was not", async () => {
  const { office } = await site();
  const told = await office.monthEnd("2026-10");
  const { status } = told;
  const { differences } = status.reconciliation;
  const page = (more: Partial<MonthEnd>): string =>
    asText(monthEndView({ ...told, unread: [], ...more }));
  const stands = { ...status, daemon: null };
  const notCompared = [{ endpoint: "erp", what: "payments", why: "", next: "" }];
  const accepted = { ...status.reconciliation, differences: { ...differences, accepted: 3 } };
  for (const [shown, line] of [
    [page({}), /is read +yes +every flow$/m],
    [page({ unread: ["bills"] }), /is read +open +not since the month ended: bills$/m],
    [page({ paused: ["bills"] }), /is read +yes +every flow, without what is paused: bills$/m],
    [page({ status: stands }), /is read +open +every flow; fuelbridge does not run$/m],
    [
      page({ comparedAt: AT, notCompared }),
      /agree +open +0 differences in what was compared besides 2 documents not delivered/,
    ],
    [
      page({ comparedAt: AT, status: { ...status, reconciliation: accepted } }),
      /not delivered, and 3 that a person accepted/,
    ],
    [
      page({ matchedAt: AT, alone: 2 }),
      /match +yes +0 open findings, and 2 invoices without a paper to be compared with/,
    ],
  ] as const)
    expect(shown.replaceAll(/\n +/g, " ")).toMatch(line);
});

test("a month is not called delivered while documents wait for others", async () => {
  const { office } = await site();
  const told = await office.monthEnd("2026-10");
  const { status } = told;
  const quarantine = status.quarantine.map((group) => ({ ...group, helps: ["wait"] as const }));
  const text = asText(monthEndView({ ...told, status: { ...status, quarantine } }));
  expect(text).toMatch(
    /Everything is delivered +open +0 documents on the way, 2 documents wait for another/,
  );
  expect(text).toMatch(/Nothing waits for a decision +yes +0 documents need a person/);
});

test("no month agrees while documents are not delivered, and the page of differences says so, too", async () => {
  const { office } = await site();
  const told = await office.monthEnd("2026-10");
  const text = asText(monthEndView({ ...told, comparedAt: "2026-11-01T08:00:00.000Z" }));
  expect(text).toMatch(/Both sides agree +open +0 differences besides 2 documents not delivered/);
  const known = { lastAt: null, undelivered: 2, differences: [], accepted: [] };
  expect(asText(knownView(known, "USD"))).toContain(
    "No difference is known. Besides, 2 documents were in quarantine or on the way.",
  );
});

test("rows that are missing are a file with what is known of each", async () => {
  const { office } = await site();
  const [group] = await office.quarantine();
  expect(
    asCsv(missingTable(await office.tables()))
      .split("\n")
      .slice(0, 2),
  ).toEqual([
    "table,row,documents that wait,sum,flow,first document,its party,group",
    `products,ULSD-DYED,2,20721.92,bills,INV-117,Prairie Fuel,${group?.id}`,
  ]);
  // Also where nothing is known of any.
  const unknown = (await office.tables()).map((table) => ({
    ...table,
    missing: table.missing.map((row) => ({ ...row, sum: null, first: null })),
  }));
  expect(asCsv(missingTable(unknown)).split("\n")).toContain(
    `products,ULSD-DYED,2,,bills,,,${group?.id}`,
  );
});

test("rows of a table that is not there are told as missing, and the first one that is added makes it", async () => {
  const { as, office, file } = await site();
  const before = asCsv(missingTable(await office.tables()));
  rmSync(file);
  expect(asCsv(missingTable(await office.tables()))).toBe(before);
  const { body } = await (await as("viewer")).get("/cross-references");
  expect(body).toContain("1 row is missing");
  expect(body).toContain("products.csv is not there yet: it is made with its first row");
  const accountant = await as("accountant");
  const row = { "cell.code": "ULSD-DYED", "cell.product": "ULSD", note: "Kim said so" };
  const [group] = await office.quarantine();
  const added = await accountant.post("/cross-references/products", {
    ...row,
    group: group?.id ?? "",
  });
  expect([added.status, readFileSync(file, "utf8")]).toEqual([
    303,
    "code,product\nULSD-DYED,ULSD\n",
  ]);
  // One that no flow reads is not made.
  expect((await accountant.post("/cross-references/strangers", row)).status).toBe(422);
});

test("a message about documents names number, party and amount, and links to the card", async () => {
  const { office } = await site();
  await office.documents({ text: null, before: null });
  const [group] = await office.quarantine();
  const [told] = conditionsOf(
    await office.status(),
    { unreachableMs: 0 },
    0,
    "https://bridge:8443",
  ).filter(({ key }) => key.startsWith("person"));
  expect(told?.detail).toBe(
    "INV-117, Prairie Fuel, $9.50 and 1 more, $20,721.92 together: crossref/products.csv has no row `ULSD-DYED`",
  );
  expect(told?.next).toContain(`\nhttps://bridge:8443/needs-you/${group?.id}`);
});

test("on a document's paper parties have names, and a value that is only written otherwise is no difference", async () => {
  const { office, form } = paperOffice({
    record: {
      payerCompanyId: PAYER,
      dueDate: "2026-11-06T00:00:00Z",
      invoiceDate: "2026-10-27T23:30:00-05:00",
      total: "8000",
      reference: "PO  7",
    },
    sent: {
      party: "A-1",
      due: "11/06/2026",
      date: "20261027",
      total: "8000.00",
      reference: "po 8",
    },
    names: { [PAYER]: "00 Ranch" },
  });
  const { as } = await testConsole(office);
  const body = form((await (await as("viewer")).get("/documents/1")).body);
  expect(body).toContain(`00 Ranch (${PAYER})`);
  expect(body.match(/≠ [^ ]+(?: [^ ]+)?/g)?.slice(1)).toEqual([
    "≠ 00 Ranch",
    "≠ PO 7",
    "≠ A-1 due",
    "≠ po 8",
  ]);
});

const PAYER = "5f0c3a52-8a59-4c5e-9d0e-0d8f5a6f3b11";

/** An office with one document, and the texts of a page. */
function paperOffice({
  record,
  sent,
  names,
}: {
  readonly record: Readonly<Record<string, string>>;
  readonly sent: Readonly<Record<string, string>>;
  readonly names: Readonly<Record<string, string>>;
}) {
  const { office } = recordingOffice();
  const fields = Object.entries(record).map(([path, value]) => ({ path, value }));
  return {
    office: {
      ...office,
      document: async (id: string) => {
        const life = await office.document(id);
        const requests = life.requests.map((one) => ({ ...one, body: JSON.stringify(sent) }));
        return { ...life, record: fields, requests, names };
      },
    },
    form: (body: string): string => body.replaceAll(/<[^>]*>|\s+/g, " ").replaceAll(/ +/g, " "),
  };
}
