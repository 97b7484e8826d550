/** X12 in flows: over the platform's sandbox, with the store, files and a partner that is the test. */
import { expect, test } from "vitest";
import { Daemon, runFlow } from "../../engine/daemon.ts";
import { resolve, retry, select } from "../../office/decisions.ts";
import { never, usePlatform } from "../../../test/platform/support.ts";
import { partnerOn } from "../../../test/support/x12-partner.ts";
import {
  envelope,
  golden810,
  golden820,
  golden832,
  golden855,
  golden856,
} from "../../../test/files/x12.ts";

const platform = usePlatform();
const { control } = platform;
const opened = () => partnerOn(platform);

const INVOICE = {
  invoiceNumber: "INV2026000118ACME",
  payerCompanyId: "0942f541-2340-4858-9502-8b0979809fca",
  status: "OUTSTANDING",
  subtotal: 18760.91,
  tax: 1951.51,
  total: 20712.42,
  dueDate: "2026-11-28T00:00:00Z",
  createdAt: "2026-11-18T15:00:00Z",
  updatedAt: "2026-11-18T16:00:00Z",
  lineItems: [
    {
      description: "ULSD NO 2",
      product: "ULSD-CLR",
      gallons: 7998,
      rate: 2.3457,
      amount: 18760.91,
    },
  ],
  taxLines: [{ taxType: "Federal excise", amount: 1951.51 }],
};

const ORDER = {
  status: "CONFIRMED",
  orderType: "BUY",
  loadingNumber: "LN-88121",
  createdAt: "2026-11-18T15:00:00Z",
  updatedAt: "2026-11-18T16:00:00Z",
  lines: [
    {
      product: "ULSD-CLR",
      quantity: 8000,
      gallons: 8000,
      unit: "gal",
      unitCode: "gal",
      rate: 2.3457,
    },
  ],
};

/** The platform takes no negative line: the one of the golden 810 is left out. */
const positive810 = golden810
  .filter((segment) => !/^IT1.2|Credit/.test(segment))
  .map((segment) => segment.replace("TDS*2023352", "TDS*2071242").replace("CTT*2", "CTT*1"));

const saying = (control: number, group: number, ...verdict: readonly string[]): string =>
  envelope({
    functionalId: "FA",
    control: String(control),
    sets: [["997", `AK1*IN*${group}`, "AK2*810*0001", ...verdict, "AK9*R*1*1*0"]],
  });
const rejected = ["AK3*BIG*2**8", "AK4*2*76*7*INV2026000118ACME", "AK5*R*5"];

test("an invoice goes out as 810; a 997 that rejects it lands with a person, and a retry has a new number", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got, puts, causes, cause, notes } = await opened();
  await runFlow(engine, flows.invoices, never);
  expect(got("customer-invoices")).toEqual([expect.stringContaining("*000000001*0*T*>~GS*IN*")]);
  expect(got("customer-invoices")[0]).toContain("BIG*20261118*INV2026000118ACME~");
  expect(got("customer-invoices")[0]).toContain(
    "TXI*FT*1951.51~PID*F****ULSD NO 2~TDS*2071242~CTT*1~",
  );

  puts("997-1.edi", saying(501, 1, ...rejected));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
  expect(cause()).toContain(
    'R rejected; segment 2, BIG02 has a code that is not known (7): "INV2026000118ACME"; segments are in error (5)',
  );
  for (const one of select(engine, [flows.invoices], "all")) retry(engine, one);
  await runFlow(engine, flows.invoices, never);
  expect(
    got("customer-invoices").map((text) => /GS\*IN(?:\*[^*]*){4}\*(\d+)/.exec(text)?.[1]),
  ).toEqual(["1", "2"]);
  const accepting = (control: number, group: number): string =>
    saying(control, group, "AK5*A").replace("AK9*R*1*1*0", "AK9*A*1*1*1");
  puts("997-2.edi", accepting(502, 2));
  await runFlow(engine, flows.invoices, never);
  expect({ causes: causes(), notes }).toMatchObject({ causes: [], notes: [] });
  // The first one counts there after all, so the partner has it twice: somebody must know.
  puts("997-3.edi", accepting(503, 1));
  await runFlow(engine, flows.invoices, never);
  expect(notes).toEqual(["notice"]);
});

test("a 997 that does not come in time lands with a person, and closes it when it comes late", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, causes, hour } = await opened();
  await runFlow(engine, flows.invoices, never);
  hour(23);
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
  hour(1);
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: not-acknowledged"]);
  // A group that is rejected (AK9 R) is rejected with its sets, whatever is said of each.
  puts("997-0.edi", saying(500, 1, "AK5*A"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
  puts("997-1.edi", saying(501, 1, "AK5*A").replace("AK9*R*1*1*0", "AK9*A*1*1*1"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
  expect(engine.store.deliveries.counts(flows.invoices.flow)).toEqual(new Map([["delivered", 1]]));
});

test("what was acknowledged since the backup that is restored is known from the archive, and closes what is late", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, hour, keeps, restored } = await opened();
  await runFlow(engine, flows.invoices, never);
  keeps();
  puts("997-1.edi", saying(501, 1, "AK5*A").replace("AK9*R*1*1*0", "AK9*A*1*1*1"));
  await runFlow(engine, flows.invoices, never);
  hour(25);
  const older = await restored();
  await runFlow(older.engine, older.flows.invoices, never);
  expect({ causes: older.causes(), notes: older.notes }).toEqual({ causes: [], notes: [] });
});

test("a refusal that a person has settled is not told again after a restore", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, keeps, restored, causes } = await opened();
  await runFlow(engine, flows.invoices, never);
  puts("997-1.edi", saying(501, 1, ...rejected));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
  const settled = { by: "Ann", note: "they have it", receiverId: "INV2026000118ACME" };
  for (const one of select(engine, [flows.invoices], "all"))
    engine.store.transaction(() => resolve(engine, [one], settled));
  keeps();
  const older = await restored();
  await runFlow(older.engine, older.flows.invoices, never);
  expect(older.causes()).toEqual([]);
});

test("a 997 that is awaited since a clock was a year ahead is missed in time once that is put right", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, causes, hour } = await opened();
  hour(365 * 24);
  await runFlow(engine, flows.invoices, never);
  hour(-365 * 24);
  expect(
    new Daemon({ ...engine, flows: [flows.invoices] }, [flows.invoices]).clockJump,
  ).not.toBeNull();
  hour(24);
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: not-acknowledged"]);
});

test("a 997 of what was not sent from here is told with what it says, and which set it names", async () => {
  const { engine, flows, puts } = await opened();
  const told: unknown[] = [];
  Object.assign(engine, {
    note: (_event: string, { notice }: object & { notice?: string }) => told.push(notice),
  });
  puts("997-9.edi", saying(509, 77, ...rejected));
  await runFlow(engine, flows.invoices, never);
  expect(told).toEqual([
    expect.stringMatching(
      /\(R rejected; segment 2, .*\) names x12 .* 000000077 0001 as IN, which was not sent/,
    ),
    expect.stringMatching(
      /\(R rejected\) names x12 .* 000000077 as IN, which was not sent from here/,
    ),
  ]);
});

test.each([
  ["another code", "AK1*PO*1", "as PO"],
  ["another release", "AK1*IN*1*005010", "as IN 005010"],
  ["no code", "AK1**1", "as no code"],
])("a 997 of a group of our number with %s is not of our group", async (_, ak1, as) => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, causes } = await opened();
  const told: unknown[] = [];
  Object.assign(engine, {
    note: (_event: string, { notice }: object & { notice?: string }) => told.push(notice),
  });
  await runFlow(engine, flows.invoices, never);
  for (const [name, ...verdict] of [
    ["997-1.edi", "AK5*R*5", "AK9*R*1*1*0"],
    ["997-2.edi", "AK5*A", "AK9*A*1*1*1"],
  ] as const) {
    const set = ["997", ak1, "AK2*810*0001", ...verdict];
    puts(name, envelope({ functionalId: "FA", control: name.slice(4, 5), sets: [set] }));
  }
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
  expect(told).toHaveLength(4);
  for (const one of told) expect(one).toContain(`${as}, which was not sent from here`);
  // Ours, and its release is named.
  const ours = ["997", "AK1*IN*1*004010", "AK2*810*0001", "AK5*R*5", "AK9*R*1*1*0"];
  puts("997-3.edi", envelope({ functionalId: "FA", control: "3", sets: [ours] }));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
});

test("a group that is accepted in part accepts what it names as accepted, and nothing that it may not mean", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, causes, notes, hour } = await opened();
  await runFlow(engine, flows.invoices, never);
  puts(
    "997-1.edi",
    saying(501, 1).replace("AK2*810*0001~", "").replace("AK9*R*1*1*0~SE*5", "AK9*P*3*3*2~SE*4"),
  );
  await runFlow(engine, flows.invoices, never);
  expect({ causes: causes(), notes }).toEqual({ causes: [], notes: ["notice"] });
  hour(24);
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: not-acknowledged"]);
  puts("997-2.edi", saying(502, 1, "AK5*A").replace("AK9*R*1*1*0", "AK9*P*3*3*2"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
});

test("where acknowledgements cannot be read, invoices go out all the same, and it is told", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got, loses } = await opened();
  loses();
  const { trouble } = await runFlow(engine, flows.invoices, never);
  expect(trouble).toMatchObject({ code: "unavailable", message: expect.stringContaining("/in ") });
  expect(got("customer-invoices")).toHaveLength(1);
});

test("an 820 marks the invoice that went out as 810 as paid, and the partner gets no second 810", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got, puts, causes } = await opened();
  await runFlow(engine, flows.invoices, never);
  puts("820-1.edi", envelope({ functionalId: "RA", sets: [golden820] }));
  await runFlow(engine, flows.paid, never);
  const records = await control.stored("invoices", "supplier");
  expect(records).toMatchObject([{ status: "PAID" }]);
  expect(records[0]?.["paidAt"]).toContain("2026-11-28");
  await runFlow(engine, flows.invoices, never);
  expect(got("customer-invoices")).toHaveLength(1);
  expect(causes()).toEqual([]);
});

test.each([
  ["calls the whole another sum", golden820.map((one) => one.replaceAll("20712.42", "100"))],
  ["is in another currency", golden820.map((one) => one.replace("CUR*PR*USD", "CUR*PR*CAD"))],
])("an 820 that %s than our invoice marks nothing as paid", async (_, set) => {
  await control.records("invoices", [INVOICE]);
  const { flows, engine, puts, cause } = await opened();
  await runFlow(engine, flows.invoices, never);
  puts("820-1.edi", envelope({ functionalId: "RA", sets: [set] }));
  await runFlow(engine, flows.paid, never);
  expect(await control.stored("invoices", "supplier")).toMatchObject([{ status: "OUTSTANDING" }]);
  expect(cause()).toMatch(/20,712\.42|CAD/);
});

test("an 832 becomes rack prices and is answered with one 997, whatever comes twice", async () => {
  const { engine, flows, got, lies, puts, causes } = await opened();
  const text = envelope({ functionalId: "SC", sets: [golden832] });
  puts("832-1.edi", text);
  await runFlow(engine, flows.prices, never);
  await runFlow(engine, flows.replies, never);
  expect(got("997")).toEqual([
    expect.stringContaining(
      "~ST*997*0001~AK1*SC*117~AK2*832*0001~AK5*A~AK9*A*1*1*1~SE*6*0001~GE*1*1~",
    ),
  ]);
  puts("832-again.edi", text);
  puts("832-other.edi", text.replace("2.3457", "2.3458"));
  await runFlow(engine, flows.prices, never);
  await runFlow(engine, flows.replies, never);
  expect(got("997")).toHaveLength(1);
  expect(lies("archive")).toHaveLength(2);
  // Another content under a number that came before: nobody can tell which of the two counts.
  expect(lies("failed")).toEqual([
    expect.stringMatching(/^832-other\.\w{8}\.edi$/),
    expect.stringMatching(/^832-other\.\w{8}\.errors\.csv$/),
  ]);
  expect(engine.store.deliveries.counts(flows.prices.flow)).toEqual(new Map([["delivered", 2]]));
  expect(causes()).toEqual([]);
});

test("a number is taken with the bytes that carry it, and never again after a restart", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, again } = await opened();
  await runFlow(engine, flows.invoices, never);
  const sequence = flows.invoices.sink.sequence ?? "";
  expect(engine.store.transaction(() => engine.store.sequences.next(sequence))).toBe(2);
  expect(() =>
    engine.store.transaction(() => {
      engine.store.sequences.next(sequence);
      throw new Error("it was not stored");
    }),
  ).toThrow();
  const after = await again();
  await control.records("invoices", [
    { ...INVOICE, invoiceNumber: "INV-2", createdAt: "2026-11-19T15:00:00Z" },
  ]);
  await runFlow(after.engine, after.flows.invoices, never);
  expect(
    after
      .got("customer-invoices")
      .map((text) => text.slice(90, 99))
      .toSorted(),
  ).toEqual(["000000001", "000000003"]);
  after.engine.store.acknowledge(0);
  const { store } = after.engine;
  expect(store.transaction(() => store.sequences.next(sequence))).toBe(100_004);
});

test("an order goes out as 850, once; a version that says something else is for a person", async () => {
  const [order] = await control.records("orders", [ORDER]);
  const { engine, flows, got, causes } = await opened();
  await runFlow(engine, flows.orders, never);
  expect(got("orders")).toEqual([
    expect.stringContaining("~BEG*00*SA*LN-88121**20261118~CUR*BY*USD~"),
  ]);
  expect(got("orders")[0]).toContain("~PO1*1*8000*GA*2.3457**VP*ULSD2~");
  await control.patch("orders", order?.["id"], {
    updatedAt: "2026-11-18T17:00:00Z",
    notes: "Gate B",
  });
  await runFlow(engine, flows.orders, never);
  expect(got("orders")).toHaveLength(1);
  expect(causes()).toEqual(["orders: changed-after-delivery"]);
  const [told] = select(engine, [flows.orders], "all");
  expect(told?.row.cause).toMatch(/:\nN9\.01: nothing, now ZZ\n.*\nMSG\.01: nothing, now Gate B$/);
});

test("of two orders of one number the first alone goes out, once, whatever changes later", async () => {
  const [first] = await control.records("orders", [ORDER]);
  const { engine, flows, got, causes } = await opened();
  await runFlow(engine, flows.orders, never);
  const other = { createdAt: "2026-11-19T15:00:00Z", locationId: null };
  await control.records("orders", [{ ...ORDER, ...other }]);
  await runFlow(engine, flows.orders, never);
  expect(causes()).toEqual(["orders: reference-taken"]);
  const changed = { updatedAt: "2026-11-20T17:00:00Z", status: "IN_TRANSIT" };
  await control.patch("orders", first?.["id"], changed);
  await runFlow(engine, flows.orders, never);
  expect(got("orders")).toHaveLength(1);
});

test("what the supplier answers to our 850 is a note on that order, and what they ship a ticket of it", async () => {
  const [order] = await control.records("orders", [{ ...ORDER, loadingNumber: null }]);
  const { engine, flows, got, puts, causes } = await opened();
  await runFlow(engine, flows.orders, never);
  // Its number is the platform's id, which has no room in BEG03.
  const [, number = ""] = /BEG\*00\*SA\*(FL\w{20})\*/.exec(got("orders")[0] ?? "") ?? [];
  expect(got("orders")[0]).toContain(`~REF*IL**${String(order?.["id"])}~`);
  const link = { kind: "supplier", born: "platform", content: null, amount: null } as const;
  const ids = { platformId: INVOICE.payerCompanyId, erpId: "V-0007", number: "V-0007" };
  engine.store.transaction(() => engine.store.links.save({ ...link, ...ids }, 0));
  const named = (set: readonly string[]) => set.map((one) => one.replace("LN-88121", number));
  puts("855-1.edi", envelope({ functionalId: "PR", sets: [named(golden855)], control: "201" }));
  puts("856-1.edi", envelope({ functionalId: "SH", sets: [named(golden856)], control: "202" }));
  await runFlow(engine, flows.answered, never);
  await runFlow(engine, flows.shipped, never);
  expect(causes()).toEqual([]);
  const [ticket] = await control.stored("delivery-tickets", "supplier");
  expect(ticket).toMatchObject({
    ticketNumber: "SHP-4471",
    orderId: order?.["id"],
    supplierCompanyId: INVOICE.payerCompanyId,
    bolNumber: "4471182",
  });
  expect(engine.store.deliveries.counts(flows.answered.flow)).toEqual(new Map([["delivered", 1]]));
});

test("an 810 of our ERP becomes an invoice of the platform, once, however often it comes", async () => {
  const { engine, flows, puts, lies, causes } = await opened();
  const link = { kind: "customer", born: "platform", content: null, amount: null } as const;
  const ids = { platformId: INVOICE.payerCompanyId, erpId: "ACME", number: "ACME" };
  engine.store.transaction(() => engine.store.links.save({ ...link, ...ids }, 0));
  const text = envelope({ functionalId: "IN", sets: [positive810] });
  for (const name of ["810-1.edi", "810-again.edi"]) {
    puts(name, text);
    await runFlow(engine, flows.issued, never);
  }
  // The same set under another number: what it says is there already.
  puts("810-2.edi", envelope({ functionalId: "IN", sets: [positive810], control: "118" }));
  await runFlow(engine, flows.issued, never);
  const there = (await control.stored("invoices", "supplier")).map(({ invoiceNumber, total }) => [
    invoiceNumber,
    total,
  ]);
  expect(there).toEqual([["INV2026000118ACME", 20712.42]]);
  expect(causes()).toEqual([]);
  expect(lies("archive")).toHaveLength(3);
});

const ta1 = (verdict: string): string =>
  envelope({ functionalId: "FA", sets: [], control: "600" })
    .replace(/GS\*.*(?=IEA)/, `TA1*000000001*261118*0915*${verdict}~`)
    .replace("IEA*1", "IEA*0");

test("a TA1 that rejects the interchange lands with a person", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, causes, cause } = await opened();
  await runFlow(engine, flows.invoices, never);
  puts("997-ta1-a.edi", ta1("A*000"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
  puts("997-ta1-r.edi", ta1("R*022").replaceAll("000000600", "000000601"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
  expect(cause()).toContain("TA1 R: the whole interchange was rejected (022)");
});

test("a TA1 that rejects our 997 is told as that", async () => {
  const { engine, flows, puts } = await opened();
  const told: unknown[] = [];
  Object.assign(engine, {
    note: (_event: string, { notice }: object & { notice?: string }) => told.push(notice),
  });
  puts("832-1.edi", envelope({ functionalId: "SC", sets: [golden832] }));
  await runFlow(engine, flows.prices, never);
  await runFlow(engine, flows.replies, never);
  puts("997-ta1.edi", ta1("R*022"));
  await runFlow(engine, flows.invoices, never);
  expect(told).toEqual([
    expect.stringMatching(
      /refused the reply x12 .* 000000001 to what came in "prices": TA1 R: the whole interchange was rejected \(022\)/,
    ),
  ]);
});

test("an interchange that mixes 810 and 820 is refused with a report, and nothing of it counts", async () => {
  const { engine, flows, puts, lies, causes } = await opened();
  const [one, other] = [
    envelope({ functionalId: "IN", sets: [golden810] }),
    envelope({ functionalId: "RA", sets: [golden820] }),
  ];
  const [groups] = /GS\*RA.*(?=IEA)/.exec(other) ?? [];
  puts("810-mixed.edi", one.replace("IEA*1", `${groups}IEA*2`));
  await runFlow(engine, flows.issued, never);
  // In one group: the set that does not belong there is refused, the other one is read.
  puts("820-mixed.edi", envelope({ functionalId: "RA", sets: [golden820, golden810] }));
  await runFlow(engine, flows.paid, never);
  expect(lies("failed")).toEqual([
    expect.stringMatching(/^810-mixed\.\w{8}\.edi$/),
    expect.stringMatching(/^810-mixed\.\w{8}\.errors\.csv$/),
  ]);
  expect(lies("archive")).toEqual([expect.stringMatching(/^820-mixed/)]);
  expect(causes().toSorted()).toEqual(["paid: bad-set", "paid: waits-for"]);
});
