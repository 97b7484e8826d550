/** What the quarantine shows to people, over a real store. */
import { z } from "zod";
import { expect, test, vi } from "vitest";
import { bill, Bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { bookedRackPrices } from "../../mappings/platform/records.ts";
import { type Change, defineMapping } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { Refused, OfficeError } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { runFlow } from "../engine/daemon.ts";
import { groupsOf, partyOf, summaryOf } from "./quarantine.ts";
import { storeOffice } from "../../test/support/office.ts";

const signal = new AbortController().signal;
const Shown = Bill.extend({ fault: z.custom<Fault>().optional(), bill: z.string().optional() });

/** Refuses what its record says, and waits for the bill that it names. */
const mapping = defineMapping<z.infer<typeof Shown>, z.infer<typeof Bill>>({
  ...billMapping,
  input: Shown,
  map(one, references) {
    if (one.fault !== undefined) throw new Refused(one.fault);
    if (one.bill !== undefined) references.counterpart("bill", one.bill);
    return one;
  },
  about: ({ payer, amount }) => ({ party: payer ?? null, amount }),
});

async function site(...changes: Change[]) {
  const made = engineOn(tempFolder());
  const { engine, clock } = made;
  const source = pagesOf([{ changes, position: 1 }]);
  const bills = made.flow({ mapping, sink: receiver(), source });
  await runFlow(engine, bills, signal);
  const flows = [bills];
  const open = () =>
    storeOffice({ engine, flows, daemon: null, version: "1", startedAt: new Date(0) });
  return { ...made, bills, flows, clock, office: open() };
}

const faulty = (at: number, code: string, message: string, field?: string, more = {}): Change =>
  bill(`INV-${at}`, "12.50", {
    payer: "000113",
    fault: { code, message, next: "Do this.", ...defined({ field }), ...more },
  });

async function refusal(asked: Promise<unknown>): Promise<string> {
  const error = await asked.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(OfficeError);
  return `${(error as OfficeError).message} ${(error as OfficeError).next}`;
}

const uuid = (at: number): string => `2cf3f8b1-0000-4000-8000-${String(at).padStart(12, "0")}`;

test("fifty payments that wait for bills that have not come are one group, with their own numbers", async () => {
  const waiting = Array.from({ length: 50 }, (_, at) => bill(`PAY-${at}`, "1", { bill: uuid(at) }));
  const { office } = await site(...waiting);
  const groups = await office.quarantine();
  expect(groups).toMatchObject([
    {
      code: "waits-without-flow",
      count: 50,
      cause: "waits for 50 bills, which no flow delivers now",
    },
  ]);
  const { deliveries } = await office.quarantineShow(groups[0]?.id ?? "");
  expect(deliveries.map(({ number }) => number)).toEqual(
    Array.from({ length: 50 }, (_, at) => `PAY-${at}`),
  );
});

test("what is waited for has its number, not its id, where its own record is known", async () => {
  const { engine, flows, office, ...made } = await site(bill("PAY-1", "1", { bill: uuid(1) }));
  const awaited = made.flow({
    name: "awaited",
    side: "platform",
    mapping: { ...mapping, kind: "bill" },
    sink: receiver({ operation: "file.bill" }),
    source: pagesOf([
      { changes: [{ ...faulty(7, "credit-note", "no"), id: uuid(1) }], position: 1 },
    ]),
  });
  await runFlow(engine, awaited, signal);
  flows.push(awaited);
  const group = (await office.quarantine()).find(({ code }) => code === "waits-for");
  expect(group?.cause).toBe("waits for bill INV-7");
  expect(JSON.stringify(group)).not.toContain(uuid(1));
  const shown = await office.quarantineShow(group?.id ?? "");
  expect(shown.deliveries).toMatchObject([{ number: "PAY-1", awaits: "INV-7" }]);
});

test("a group is a flow, code, field and reason, never a value of the record", async () => {
  const notNumber = { reason: "Price is not a number" };
  const { office } = await site(
    faulty(1, "credit-note", "this is a credit note of -1.00; the platform takes none", "Total"),
    faulty(2, "credit-note", "this is a credit note of -2.00; the platform takes none", "Total"),
    faulty(3, "too-long", "Reference has 65 characters", "Reference"),
    faulty(4, "too-long", "Comment has 2001 characters", "Comment"),
    faulty(5, "bad-cell", 'Price "$2.31" is not a number', "Price", notNumber),
    faulty(6, "bad-cell", 'Price "$2.32" is not a number', "Price", notNumber),
    faulty(7, "bad-cell", "Price is empty", "Price", { reason: "Price is empty" }),
    faulty(8, "no-room", 'item "DYED-ULSD-PREMIUM" is too long', "lines[0].item"),
    faulty(9, "no-room", 'item "CLEAR-ULSD-PREMIUM" is too long', "lines[12].item"),
    faulty(10, "no-room", 'item "UNLEADED-PREMIUM-91" is too long', "lines.7.item"),
    faulty(11, "refused-there", "BEG03 `ORD-2026-000000071-A` has 22 characters", "BEG03"),
    faulty(12, "refused-there", "BEG03 `ORD-2026-000000072-A` has 22 characters", "BEG03"),
    ...["A", "B"].map((key, at) =>
      faulty(13 + at, "not-mapped", `no row ${key}`, "product", {
        lookup: { table: "products", key },
      }),
    ),
  );
  const groups = await office.quarantine();
  expect(groups.map(({ count, cause }) => `${count} ${cause}`)).toEqual([
    '3 item "CLEAR-ULSD-PREMIUM" is too long, and others like it',
    "2 BEG03 `ORD-2026-000000071-A` has 22 characters, and others like it",
    "2 Price is not a number",
    "2 this is a credit note; the platform takes none",
    "1 Comment has 2001 characters",
    "1 Price is empty",
    "1 Reference has 65 characters",
    "1 no row A",
    "1 no row B",
  ]);
  const { deliveries } = await office.quarantineShow(
    groups.find(({ code }) => code === "credit-note")?.id ?? "",
  );
  expect(deliveries.map(({ cause }) => cause)).toEqual([
    "this is a credit note of -1.00; the platform takes none",
    "this is a credit note of -2.00; the platform takes none",
  ]);
});

test("a delivery in quarantine has number, party, amount with currency, age, and file and line", async () => {
  const { office, clock } = await site(faulty(1, "credit-note", "no", "Total"));
  clock.advance(3 * 86_400_000);
  const [group] = await office.quarantine();
  expect(group).toMatchObject({ ageMs: 3 * 86_400_000 });
  const { deliveries } = await office.quarantineShow(group?.id ?? "");
  clock.set(-4 * 86_400_000);
  // Set back past its coming: nobody knows how old it is.
  expect(await office.quarantine()).toMatchObject([{ ageMs: null }]);
  expect(deliveries).toMatchObject([
    {
      number: "INV-1",
      party: "000113",
      amount: "12.50",
      currency: "USD",
      ageMs: 3 * 86_400_000,
      origin: "bills.csv line INV-1",
    },
  ]);
});

test("no retry is offered for a credit note; tried all the same it is refused with what helps, and nothing changes", async () => {
  const { office } = await site(
    faulty(1, "credit-note", "no credit notes.", "Total"),
    faulty(2, "not-mapped", "crossref/products.csv has no row `A`"),
  );
  const [first, second] = await office.quarantine();
  const groups = { [first?.code ?? ""]: first, [second?.code ?? ""]: second };
  const credit = groups["credit-note"];
  expect(credit?.helps).toEqual(["resolve"]);
  expect(groups["not-mapped"]?.helps).toEqual(["retry", "resolve"]);
  const { deliveries } = await office.quarantineShow(credit?.id ?? "");
  for (const selector of [credit?.id ?? "", deliveries[0]?.delivery ?? ""])
    expect(await refusal(office.retry(selector))).toMatch(
      /does not help INV-1, and nothing was done: no credit notes\. Do this\. .*--anyway/,
    );
  expect((await office.trace("INV-1")).steps.map(({ event }) => event)).not.toContain("retried");
  // Of all, those that it can help.
  expect(await office.retry("all")).toEqual({ retried: 1, left: 1 });
  expect(await office.retry(credit?.id ?? "", true)).toEqual({ retried: 1, left: 0 });
});

test("what waits for a document goes out when that is delivered", async () => {
  const { engine, store, ...made } = await site(bill("PAY-1", "1", { bill: "BILL-1" }));
  const sink = receiver({ operation: "file.bill" });
  const source = pagesOf([{ changes: [bill("BILL-1", "1")], position: 1 }]);
  const awaited = made.flow({
    name: "awaited",
    mapping: { ...mapping, kind: "bill" },
    sink,
    source,
  });
  await runFlow(engine, awaited, signal);
  expect(store.questions.quarantine()).toEqual([]);
});

test("200,000 refusals whose causes all differ are one group that can be shown", async () => {
  const { engine } = await site(faulty(1, "bad-email", "a@ is no address.", "email"));
  const { questions } = engine.store;
  const [row] = questions.quarantine();
  const rows = Array.from({ length: 200_000 }, (_, at) => ({
    ...(row as NonNullable<typeof row>),
    cause: `a${at}@ is no address.`,
    sinceMs: 1_000_000 - at,
  }));
  vi.spyOn(questions, "quarantine").mockReturnValueOnce(rows);
  const groups = groupsOf(engine);
  expect(groups.map(({ shown: { count, since } }) => [count, since])).toEqual([
    [200_000, new Date(800_001).toISOString()],
  ]);
});

test("an order is its customer's: of whom the site is, unless somebody who is known has ordered it", () => {
  const { engine } = engineOn(tempFolder());
  const rows: Readonly<Record<string, Record<string, string>>> = {
    "sites S-1": { location: "S-1", company: "C-1" },
    "customers C-1": { company: "C-1", account: "000417", name: "Prairie Fuel" },
    "customers C-2": { company: "C-2", account: "000418" },
  };
  const row = (name: string, key: string) => rows[`${name} ${key}`] ?? null;
  const of = (party: string, location: string | null) =>
    partyOf({ ...engine, tables: { ...engine.tables, row } }, { party, location });
  expect(of("us", "S-1")).toEqual({ code: "000417", name: "Prairie Fuel" });
  expect(of("C-2", "S-1")).toEqual({ code: "000418", name: null });
  for (const site of ["S-2", null]) expect(of("us", site)).toEqual({ code: null, name: null });
});

test("a price says its terminal as its party, and not twice in one line", () => {
  const about = { partyName: "T-75-TX-2650" };
  const record = { list: about.partyName, product: "087", price: Decimal.of("2.4"), unit: null };
  expect(bookedRackPrices.about?.(record)).toEqual(about);
  const party = { code: null, name: about.partyName };
  const told = { number: "T-75-TX-2650|087", about, party, stands: "is delivered" };
  expect(summaryOf("USD", told)).toBe("T-75-TX-2650|087 · is delivered");
});
