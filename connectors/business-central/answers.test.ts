/** What Business Central answers and how it is asked, and what `doctor` finds in it; and the PDFs on its documents. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { Needs, Sink } from "../../src/core/contract.ts";
import {
  enterInvoice,
  itemOf,
  never,
  opened,
  openCompany,
  SENT,
  settings,
  TODAY,
  sent,
  found,
  first,
  CREATE,
  posted,
  requestOf,
  told,
} from "./business-central.fixture.ts";
import { KEY, NAME, type Company } from "./company.fixture.ts";
import { businessCentral } from "./index.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

describe("what the API answers", () => {
  const cases = [
    [409, "Request_EntityChanged", undefined, { outcome: "done" }],
    [412, "", undefined, { outcome: "done" }],
    [429, "", "7", { outcome: "nothing", waitMs: 7_000 }],
    [503, "", "9", { outcome: "nothing", waitMs: 9_000 }],
    [503, "", undefined, { outcome: "nothing", waitMs: 60_000 }],
    [403, "Authorization_RequestDenied", undefined, { outcome: "nothing", stop: "scope" }],
    [405, "BadRequest_MethodNotAllowed", undefined, { outcome: "nothing", stop: "scope" }],
    [400, "Application_FieldValidationException", undefined, { outcome: "refused" }],
    [404, "Internal_RecordNotFound", undefined, { outcome: "refused" }],
    [504, "", undefined, { outcome: "unknown" }],
    [408, "", undefined, { outcome: "unknown" }],
    [500, "Internal_ServerError", undefined, { outcome: "unknown" }],
  ] as const;
  test.each(cases)("%s %s to a create, after %s s: %o", async (status, code, wait, answer) => {
    const company = await openCompany();
    const headers = wait === undefined ? {} : { "retry-after": wait };
    company.says = { path: CREATE, status, code, headers };
    expect(await sent(company, "invoices", first)).toMatchObject(answer);
    if (answer.outcome !== "done") expect(company.rows("salesInvoices")).toEqual([]);
  });

  // Microsoft's words, of a lock that was waited for in vain and of a deadlock; its API has no code of its own for them.
  test.each([
    "The operation could not complete because a record in the 'Sales Header' table was locked by another user. Please retry the activity.",
    "Your activity was deadlocked with another user who was modifying the G/L Entry table. Start your activity again.",
    "We can't save your changes right now because a record in table 'Sales Line' is being updated in a transaction done by another session. You'll have to wait until the other transaction has completed, which may take a while. Please try again later.",
  ])("what somebody else holds needs no person, it is tried again: %s", async (message) => {
    const company = await openCompany();
    company.says = { path: CREATE, status: 400, code: "Application_DialogException", message };
    expect(await sent(company, "invoices", first)).toMatchObject({
      outcome: "nothing",
      waitMs: 30_000,
    });
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
    expect(company.rows("salesInvoices")).toHaveLength(1);
  });

  test("the 901st request of a minute waits for the next one", async () => {
    const company = await openCompany();
    const waits: number[] = [];
    let now = Date.parse(SENT);
    const endpoint = businessCentral.open(
      businessCentral.config.parse(settings(company)),
      surroundingsIn(".", {
        now: () => new Date(now),
        pause: (ms) => {
          now += ms;
          return Promise.resolve(void waits.push(ms));
        },
      }),
    );
    onTestFinished(() => endpoint.close());
    const ask = (count: number) =>
      Promise.all(Array.from({ length: count }, () => endpoint.check(never)));
    await ask(900);
    expect(waits).toEqual([]);
    await ask(2);
    expect(waits).toEqual([60_000]);
  });

  test("four at once share the 6,000 requests of any five minutes", async () => {
    const company = await openCompany();
    const limit = 200;
    let now = Date.parse(SENT);
    const endpoint = businessCentral.open(
      businessCentral.config.parse(settings(company, { requests: limit })),
      surroundingsIn(".", {
        now: () => new Date(now),
        // Whoever waits lets the others go on first.
        pause: async (ms) => {
          const until = now + ms;
          await new Promise((resolve) => setImmediate(resolve));
          now = Math.max(now, until);
        },
      }),
    );
    onTestFinished(() => endpoint.close());
    const at: number[] = [];
    let [open, most] = [0, 0];
    company.meets = () => {
      at.push(now);
      most = Math.max(most, ++open);
      setImmediate(() => open--);
      return null;
    };
    const each = async () => {
      for (let count = 0; count < 120; count++) await endpoint.check(never);
    };
    await Promise.all([each(), each(), each(), each()]);
    expect(at).toHaveLength(480);
    expect(most).toBeLessThanOrEqual(4);
    const inFive = at.map((from) => at.filter((one) => one >= from && one < from + 300_000).length);
    expect(Math.max(...inFive)).toBeLessThanOrEqual(limit);
  });

  test("lists and walks say Data-Access-Intent: ReadOnly, and nothing that decides about a write does", async () => {
    const company = await openCompany();
    await sent(company, "invoices", first);
    await found(company, "invoices", first);
    expect(company.ofReplica).toEqual([]);
    await told(company, "invoices");
    const scope = { dated: { from: TODAY, to: TODAY }, changedSince: null, open: true };
    for await (const _ of opened(company).holdings?.list("invoice", scope, null, never) ?? [])
      continue;
    expect(company.ofReplica.map((path) => path.replace(/^GET .*\//, ""))).toEqual([
      "salesInvoices",
      "salesInvoices",
      "salesInvoices",
    ]);
  });

  test.each([
    [CREATE, null, "unknown"],
    [/^GET .*salesInvoices/, { value: [null] }, "nothing"],
  ] as const)(
    "an answer in another form to %s proves nothing: %o",
    async (path, answer, outcome) => {
      const company = await openCompany();
      company.meets = (request) => {
        const isIt = path.test(request.split(/[ ?]/, 2).join(" "));
        return isIt ? { status: 200, answer } : null;
      };
      expect(await sent(company, "invoices", first)).toMatchObject({ outcome });
    },
  );

  test("a search that is refused is no fault of the document", async () => {
    const company = await openCompany();
    company.says = { path: /^GET .*salesInvoices/, status: 400, code: "BadRequest" };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "nothing" });
  });

  test("a token that ends in the middle of a list is replaced, and no row is lost", async () => {
    const company = await openCompany();
    for (let count = 0; count < 450; count++) enterInvoice(company);
    company.before = {
      path: /^GET .*salesInvoices$/,
      act: () => {
        const act = () => company.tokens.clear();
        company.before = { path: /^GET .*salesInvoices$/, act };
      },
    };
    expect(await told(company, "invoices")).toHaveLength(450);
    expect(company.asked.filter((one) => one.includes("/login/"))).toHaveLength(2);
  });

  test("a user with an access key logs in on premises", async () => {
    const company = await openCompany();
    const basic = {
      clientId: undefined,
      clientSecret: undefined,
      login: undefined,
      user: "fuelbridge",
      accessKey: KEY,
    };
    await opened(company, basic).check(never);
    await expect(
      opened(company, { ...basic, accessKey: "another-key" }).check(never),
    ).rejects.toMatchObject({
      stop: "credentials",
    });
  });

  test("a client that Entra does not know stops, and the next step names its settings", async () => {
    const stranger = opened(await openCompany(), { clientSecret: "wrong-secret" });
    const next = expect.stringContaining("Correct tenant, clientId and clientSecret") as string;
    await expect(stranger.check(never)).rejects.toMatchObject({ stop: "credentials", next });
  });

  test("a company is found by its name, and one that was renamed stops with the next step", async () => {
    const company = await openCompany();
    await opened(company, { company: NAME }).check(never);
    await expect(opened(company, { company: "Old Name" }).check(never)).rejects.toMatchObject({
      stop: "scope",
      next: expect.stringContaining("company"),
    });
  });
});

const NEEDS: Needs = {
  parts: new Set(),
  days: [],
  ourselves: [],
  column: () => [],
};

const faultsOf = async (company: Company, needs: Partial<Needs>, more: object = {}) =>
  (await opened(company, more).examine?.(never, { ...NEEDS, ...needs }))?.flatMap(
    ({ fault }) => fault ?? [],
  );

test.each([
  [{}, []],
  [{ allowPostingFrom: "2026-11-01", allowPostingTo: "2026-11-30" }, []],
  [{ allowPostingFrom: "2026-11-22" }, ["2 documents that wait are dated on or before"]],
  [{ allowPostingTo: "2026-11-20" }, ["2 documents that wait are dated after"]],
])("doctor looks at the days that are open for posting: %o", async (setup, messages) => {
  const company = await openCompany();
  const [row] = company.rows("generalLedgerSetup");
  company.edit("generalLedgerSetup", row?.id ?? "", setup);
  const days = [{ day: TODAY, flow: "invoices-issued", count: 2 }];
  expect(await faultsOf(company, { days })).toMatchObject(
    messages.map((message) => ({
      code: "closed-period",
      message: expect.stringContaining(message),
      next: expect.stringContaining("General Ledger Setup"),
    })),
  );
});

test("an item whose price has VAT in it says so: rack prices are without", async () => {
  const company = await openCompany();
  const item = { unitPrice: Decimal.of("2.25"), priceIncludesTax: true };
  company.enter("items", { number: "DYED", ...item });
  const changes = await told(company, "prices", { prices: { list: "T-1" } });
  const included = changes.map(({ id, text }) => [id, JSON.parse(text).taxIncluded]);
  expect(Object.fromEntries(included)).toEqual({ "T-1|DYED": true, "T-1|ULSD-CLR": undefined });
});

test("doctor names each set that the user may not read, of what its flows use, with the next step", async () => {
  const company = await openCompany();
  for (const set of ["salesCreditMemos", "purchaseOrders"]) company.forbidden.add(set);
  expect(await faultsOf(company, { parts: new Set(["invoices", "customers"]) })).toMatchObject([
    {
      message: expect.stringContaining("salesCreditMemos"),
      next: expect.stringContaining("permission set"),
    },
  ]);
});

test("doctor names each set that the user may not write, of what its flows write, and leaves nothing there", async () => {
  const company = await openCompany();
  company.enter("customers", { number: "CUST-9", displayName: "Blocked", blocked: "All" });
  company.enter("customers", { number: "CUST-1", displayName: "Ranch Supply" });
  company.enter("vendors", { number: "CUST-1", displayName: "Ranch Supply" });
  const parts = new Set(["invoices", "bills", "orders", "payments"]);
  expect(await faultsOf(company, { parts })).toEqual([]);
  const sets = {
    salesInvoices: "D365 SALES DOC, POST",
    purchaseInvoices: "D365 PURCH DOC, POST",
    salesOrders: "D365 SALES DOC, EDIT",
    purchaseOrders: "D365 PURCH DOC, EDIT",
    customers: "D365 CUSTOMER, EDIT",
    vendors: "D365 VENDOR, EDIT",
    customerPayments: "D365 JOURNALS, POST",
    vendorPayments: "D365 JOURNALS, POST",
  };
  for (const [set, permissions] of Object.entries(sets)) {
    company.readOnly.add(set);
    const fault = {
      code: "forbidden",
      message: expect.stringContaining(`TableData ${set} Insert`),
      next: expect.stringMatching(`page Microsoft Entra Applications.*${permissions}`),
    };
    expect(await faultsOf(company, { parts })).toMatchObject([fault]);
    company.readOnly.clear();
  }
  // A document that a person would have to look for, had the API kept it.
  company.enter("items", { number: "FUELBRIDGE-DOCTOR" });
  company.readOnly.add("purchaseInvoices");
  expect(await faultsOf(company, { parts: new Set(["invoices", "orders"]) })).toEqual([]);
  company.readOnly.clear();
  for (const set of ["dimensions", "dimensionValues"])
    company.enter(set, { code: "FUELBRIDGE-DOCTOR" });
  expect(await faultsOf(company, { parts })).toEqual([]);
  const names = Object.keys(sets).flatMap((set) =>
    company.rows(set).map((row) => row["displayName"]),
  );
  expect(names).toEqual(["Blocked", "Ranch Supply", "Ranch Supply"]);
});

test.each([400, 403, 500])(
  "a right that is missing stops all of them, whatever the status: %i",
  async (status) => {
    const company = await openCompany();
    company.meets = (request) =>
      CREATE.test(request.split(" ", 2).join(" "))
        ? {
            status,
            answer: {
              error: {
                code: "Internal_ServerError",
                message:
                  "Sorry, the current permissions prevented the action. (TableData 36 Sales Header Insert: Base Application)",
              },
            },
          }
        : null;
    expect(await sent(company, "invoices", first)).toMatchObject({
      outcome: "nothing",
      stop: "scope",
    });
  },
);

test("doctor names dimensions and values that are not there", async () => {
  const company = await openCompany();
  const lines = { "50100": { TERMINAL: "SA" }, "50l00": {}, "ulsd-clr": {} };
  expect(await faultsOf(company, {}, { dimensions: { first: "FUEL", lines } })).toMatchObject([
    { message: "Business Central has no item or G/L account 50L00" },
    { message: "Business Central has no dimension TERMINAL" },
    { message: "Business Central has no dimension value FUEL" },
    { message: "Business Central has no dimension value SA" },
  ]);
});

test("doctor names what is missing in Business Central, with the line that names it", async () => {
  const company = await openCompany();
  const needs: Needs = {
    parts: new Set(["invoices"]),
    days: [],
    ourselves: [],
    column: (table, column) =>
      table === "items" && column === "item"
        ? ["ULSD-CLR", "GOLD"].map((value, at) => ({
            key: value,
            value,
            file: "items.csv",
            line: at + 2,
          }))
        : [],
  };
  const endpoint = opened(company, { accounts: { revenue: "40100", expense: "59999" } });
  const faults = (await endpoint.examine?.(never, needs))?.flatMap(({ fault }) => fault ?? []);
  expect(faults).toMatchObject([
    { message: "Business Central has no G/L account 59999" },
    { message: "Business Central has no item GOLD" },
  ]);
});

describe("the PDF of an invoice", () => {
  const pdf = new TextEncoder().encode("%PDF-1.7 invoice");
  const attached = async (company: Company, loses = 0, ...others: string[]) => {
    const { ids } = await sent(company, "invoices", first);
    for (const fileName of others)
      company.enter("documentAttachments", { fileName, parentId: ids?.[0] });
    const document = { id: first.id, number: "FL/1", counterpart: ids?.[0] ?? "" };
    const sink = opened(company).sinks["invoiceFiles"] as Sink;
    const item = { ...itemOf(document), document };
    const request = { ...requestOf(sink, item), file: () => Promise.resolve(pdf) };
    company.loses = loses;
    const answer = await sink.send(request, never);
    company.loses = 0;
    return { sink, request, answer };
  };

  test("hangs on it once, whatever answer is lost", async () => {
    for (const loses of [0, 1, 2]) {
      const company = await openCompany();
      const { sink, request, answer } = await attached(company, loses);
      expect(answer.outcome).toBe(loses === 0 ? "done" : "unknown");
      const again = await sink.send(request, never);
      expect(again).toMatchObject({ outcome: "done", ids: [expect.any(String)] });
      expect(company.rows("documentAttachments")).toMatchObject([
        {
          fileName: `FL-1 ${first.id}.pdf`,
          parentType: "Sales Invoice",
          content: "%PDF-1.7 invoice",
        },
      ]);
      // Alone on its document it tells no size: a find proves nothing, and what goes again is the same bytes of the same file.
      expect(await sink.find({ ...request, firstSentAt: SENT }, never)).toMatchObject({
        found: "none",
      });
      expect(await sink.send(request, never)).toMatchObject({ outcome: "done", ids: again.ids });
      expect(company.rows("documentAttachments")).toHaveLength(1);
      const delivered = { id: first.id, counterpart: again.ids?.[0] ?? "", body: request.body };
      expect(await sink.inspect?.([delivered], never)).toEqual([{ is: "there", differences: [] }]);
      company.delete("documentAttachments", again.ids?.[0] ?? "");
      expect(await sink.inspect?.([delivered], never)).toEqual([{ is: "gone" }]);
    }
  });

  test("is known by its name: another file there stays as it is", async () => {
    const company = await openCompany();
    expect((await attached(company, 0, "photo.jpg")).answer).toMatchObject({ outcome: "done" });
    expect(company.rows("documentAttachments")).toMatchObject([
      { fileName: "photo.jpg", byteSize: 0 },
      { fileName: `FL-1 ${first.id}.pdf`, content: "%PDF-1.7 invoice" },
    ]);
  });

  test("of one that is not there any more is a person's", async () => {
    const company = await openCompany();
    const { sink, request } = await attached(company);
    company.delete("salesInvoices", posted(company)[0]?.id ?? "");
    expect(await sink.send(request, never)).toMatchObject({
      outcome: "refused",
      fault: { code: "no-document" },
    });
  });
});
