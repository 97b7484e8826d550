/**
 * The promise of a write, kept over real faults: one record on the platform with the exact amounts, or, for money after
 * a timeout with nothing found, a person who decides.
 */
import { describe, expect, test } from "vitest";
import type { Row } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { never, outgoing, usePlatform } from "../../../test/platform/support.ts";
import { isLongRun, numbers } from "../../../test/support/runs.ts";

const platform = usePlatform();
const { control } = platform;

const kinds = [
  {
    sink: "invoices",
    path: "/invoices",
    documents: [
      '{"invoiceNumber":"INV-7","subtotal":1234.50,"tax":0.10,"total":1234.60,"lineItems":[{"description":"ULSD","amount":1234.50}]}',
    ],
    records: async () => control.stored("invoices", "supplier"),
    resource: "invoices",
    digits: ['"subtotal":1234.50', '"tax":0.10', '"total":1234.60'],
    isMoney: true,
  },
  ...(["customers", "suppliers"] as const).map((sink) => ({
    sink,
    path: `/${sink}`,
    documents: ['{"name":"Bayou Trucking","externalId":"000417"}'],
    records: async () =>
      (await control.stored("connections")).filter(({ erpId }) => erpId === "000417"),
    resource: "connections",
    digits: ['"erpId":"000417"'],
    isMoney: true,
  })),
  {
    sink: "rackPrices",
    path: "/pricing/bulk/rack",
    documents: [
      '{"terminalId":"HOU-1","product":"ULSD","price":2.503190}',
      '{"terminalId":"HOU-2","product":"ULSD","price":2.4000}',
    ],
    records: async () => control.stored("rack-prices", "supplier"),
    resource: "rack-prices",
    digits: ['"price":2.503190', '"price":2.4000'],
    isMoney: false,
  },
];

const faults: Row[] = [
  ...[500, 502, 503, 504].flatMap((status) =>
    ["before", "after"].map((when) => ({ kind: "status", status, when })),
  ),
  { kind: "reset", when: "before" },
  { kind: "reset", when: "after" },
  { kind: "truncate" },
  { kind: "garbage" },
  { kind: "delay", ms: 20 },
  { kind: "twice" },
  { kind: "held", seconds: 3_600 },
];

/** One of each class: carried out or not, refused or cut off, held back. `npm run test:long` has the others. */
const telling = faults.filter(
  ({ kind, status, when }) =>
    kind === "held" ||
    kind === "garbage" ||
    (kind === "reset" && when === "after") ||
    (status === 504 && when === "before") ||
    (status === 500 && when === "after"),
);
const chosen = isLongRun ? faults.filter((fault) => !telling.includes(fault)) : telling;
/** What is not carried out, and says so or not; each time again. */
const again = chosen.filter(({ status, when }) => status !== 504 && when !== "after");

/** Failing writes that commit late, and reads that lag behind: both within what settling allows for. */
const late = { failingWritesCommitLateSeconds: 120, readLagSeconds: 60 };

describe.each(kinds)("$sink", ({ sink, path, documents, records, resource, digits, isMoney }) => {
  const deliver = async () => delivery(platform.sink(sink), await platform.clock(), documents);
  const faulty = (fault: Row) => control.fault({ method: "POST", path, ...fault });

  /** Everything is there, once, to the digit. */
  async function expectAllThere(): Promise<void> {
    expect(await records()).toHaveLength(documents.length);
    const { text } = await control.ask("GET", `/records/${resource}`);
    for (const one of digits) expect(text).toContain(one);
  }

  /** No key ever with two bodies, and nobody was suspected of a second installation. */
  async function expectOneBodyPerKey({
    store,
  }: Awaited<ReturnType<typeof deliver>>): Promise<void> {
    const bodies = new Map<unknown, unknown>();
    for (const { idempotencyKey, bodyHash, method } of await control.requests()) {
      if (method !== "POST") continue;
      expect(bodies.get(idempotencyKey) ?? bodyHash).toBe(bodyHash);
      bodies.set(idempotencyKey, bodyHash);
    }
    expect(store.journal.breakers()).toEqual([]);
  }

  test("without a fault: one request each way that is needed", async () => {
    const work = await deliver();
    expect(await work.settled()).toEqual({ delivered: documents.length });
    await expectAllThere();
    expect((await control.requests()).map(({ method }) => method)).toEqual(
      // A party is looked for by its name, and by its code among all connections, whose list serves many.
      isMoney ? [...(path === "/invoices" ? [] : ["GET"]), "GET", "POST"] : ["POST"],
    );
  });

  test("the same key and bytes again are replayed: nothing is written, and the ids are the same", async () => {
    const to = platform.sink(sink);
    const send = () => to.send(outgoing(to, documents), never);
    const first = await send();
    expect(await send()).toMatchObject({ outcome: "done", repeated: true, ids: first.ids });
    await expectAllThere();
  });

  describe.each([
    ["at once", {}],
    ["late", late],
  ])("writes that fail commit %s", (_, readings) => {
    test.for(chosen)("%j", numbers, async (fault) => {
      await control.readings(readings);
      await faulty(fault);
      const work = await deliver();
      const counts = await work.settled();
      const nobodyKnows = fault["status"] === 504 && fault["when"] === "before" && isMoney;
      if (nobodyKnows) {
        expect(counts).toEqual({ quarantined: 1 });
        expect(await records()).toEqual([]);
      } else {
        expect(counts).toEqual({ delivered: documents.length });
        await control.advance(3_600);
        await expectAllThere();
      }
      await expectOneBodyPerKey(work);
    });
  });

  test.for(again)("four times in a row: %j", numbers, async (fault) => {
    await faulty({ ...fault, times: 4 });
    const work = await deliver();
    expect(await work.settled()).toEqual({ delivered: documents.length });
    await expectAllThere();
    await expectOneBodyPerKey(work);
  });

  test("the looks before and after the send fail as well, for a while", async () => {
    const unreadable = { method: "GET", kind: "status", status: 503, times: 12 };
    const to = platform.sink(sink);
    const failing: typeof to = {
      ...to,
      async send(request, signal) {
        const answer = await to.send(request, signal);
        await control.fault(unreadable);
        return answer;
      },
    };
    await faulty({ kind: "status", status: 500, when: "after" });
    await control.fault(unreadable);
    const work = delivery(failing, await platform.clock(), documents);
    expect(await work.settled()).toEqual({ delivered: documents.length });
    expect(await control.requests("?method=POST")).toHaveLength(1);
    await expectAllThere();
    await expectOneBodyPerKey(work);
  });

  test("a minute's limit that is used up costs nothing but time", async () => {
    await control.limits({ key: "supplier", perMinute: 1 });
    const work = await deliver();
    expect(await work.settled()).toEqual({ delivered: documents.length });
    await expectAllThere();
    await expectOneBodyPerKey(work);
  });

  test("told to slow down without Retry-After, it waits for the next window", async () => {
    await faulty({ kind: "status", status: 429, times: 3 });
    const work = await deliver();
    const before = await control.now();
    expect(await work.settled()).toEqual({ delivered: documents.length });
    await expectAllThere();
    expect((await control.now()) - before).toBeGreaterThan(60_000);
  });
});

test("a party whose id did not become the connection's, and whose answer was lost, is for a person", async () => {
  await control.readings({ externalIdBecomesErpId: false });
  await control.fault({
    method: "POST",
    path: "/customers",
    kind: "status",
    status: 500,
    when: "after",
  });
  const document = '{"name":"Bayou Trucking","externalId":"000417"}';
  const work = delivery(platform.sink("customers"), await platform.clock(), [document]);
  expect(await work.settled()).toEqual({ quarantined: 1 });
  expect(work.store.questions.quarantine()[0]?.cause).toContain("in the name and no id of ours");
  expect((await control.requests("?method=POST")).length).toBe(1);
});

test("an invoice that somebody entered by hand is adopted, one of other amounts is for a person", async () => {
  const clock = await platform.clock();
  const invoice = (number: string) =>
    `{"invoiceNumber":"${number}","subtotal":7.10,"total":7.10,"lineItems":[{"description":"d","amount":7.10}]}`;
  const lineItems = [{ description: "by hand", amount: 7.1 }];
  await control.records("invoices", [
    { invoiceNumber: "A", subtotal: 7.1, tax: 0, total: 7.1, lineItems },
    { invoiceNumber: "B", subtotal: 7.1, tax: 0, total: 7.11, lineItems },
  ]);
  const work = delivery(platform.sink("invoices"), clock, [invoice("A"), invoice("B")]);
  expect(await work.settled()).toEqual({ delivered: 1, quarantined: 1 });
  expect(await control.requests("?method=POST")).toEqual([]);
});

test("a batch of prices that is committed late never overwrites newer ones", async () => {
  await control.readings(late);
  await control.fault({ method: "POST", kind: "status", status: 500, when: "after" });
  const price = (amount: string) => [`{"terminalId":"HOU-1","product":"ULSD","price":${amount}}`];
  const clock = await platform.clock();
  const work = delivery(platform.sink("rackPrices"), clock, price("2.5"), price("2.6"));
  expect(await work.settled()).toEqual({ delivered: 1, superseded: 1 });
  await control.advance(600);
  expect(await control.stored("rack-prices", "supplier")).toMatchObject([{ price: 2.6 }]);
});

describe("a batch of prices that the network holds, with all its probes, never overwrites newer ones", () => {
  const price = (amount: string) => [`{"terminalId":"HOU-1","product":"ULSD","price":${amount}}`];
  const held = { method: "POST", kind: "held", seconds: 4 * 3_600 };
  const stored = () => control.stored("rack-prices", "supplier");

  test.each([5, 12, 20])("%i sends are held", async (sends) => {
    await control.fault({ ...held, times: sends });
    const clock = await platform.clock();
    const work = delivery(platform.sink("rackPrices"), clock, price("2.5"), price("2.6"));
    expect(await work.settled()).toEqual({ delivered: 2 });
    expect(await stored()).toMatchObject([{ price: 2.6 }]);
    await control.advance(4 * 3_600);
    expect(await stored()).toMatchObject([{ price: 2.6 }]);
    // In the end all that was held has come, and was known.
    const late = (await control.requests("?method=POST")).filter(({ replayed }) => replayed);
    expect(late).toHaveLength(sends);
  });

  test("although the platform has the same prices already, which proves no arrival", async () => {
    await control.records("rack-prices", [{ terminalId: "HOU-1", product: "ULSD", price: 2.5 }]);
    await control.fault({ ...held, times: 5 });
    const clock = await platform.clock();
    const work = delivery(platform.sink("rackPrices"), clock, price("2.5"), price("2.6"));
    expect(await work.settled()).toEqual({ delivered: 2 });
    await control.advance(4 * 3_600);
    expect(await stored()).toMatchObject([{ price: 2.6 }]);
  });
});
