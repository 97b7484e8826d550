/**
 * One seed: people work on both sides for half an hour in bad weather, the process is thrown away now and then; then the
 * weather is fine, and everything must come to rest. What both sides and the store hold in the end is judged here.
 */
import Database from "better-sqlite3";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Decimal } from "../../../src/core/decimal.ts";
import { released } from "../../../src/engine/restored.ts";
import { shownId } from "../../../src/store/statements.ts";
import { storeFile } from "../../../src/store/database.ts";
import { connectionOf, type Stored, US } from "./platform.ts";
import { type Row, type Running, Sides, start } from "./site.ts";
import { HOUR, MINUTE, type Weather, World } from "./world.ts";

const BUSY_MS = 30 * MINUTE;
/** Nothing waits for longer than a day in fine weather: a key that the platform holds. */
const LONGEST_MS = 40 * HOUR;

/** What a person does on one side, and when, ms since the beginning. `pick` chooses among what is there. */
export interface Deed {
  readonly at: number;
  readonly what: (typeof deeds)[number];
  readonly pick: number;
}

const deeds = [
  "customer",
  "supplier",
  "sale",
  "sale",
  "sale",
  "sale that does not add up",
  "sale that a clerk books otherwise",
  "new due date",
  "void",
  "bill",
  "bill",
  "paid on the platform",
  "paid in the books",
  "ticket",
  "ticket corrected",
  "price",
  "rate ends",
] as const;

export interface Plan {
  readonly seed: number;
  readonly weather: Weather;
  readonly deeds: readonly Deed[];
}

/** After these a person has to decide, and may be asked to. */
const PERSONS = new Set([
  "invalid",
  "not found",
  "unsupported",
  "key conflict",
  "unknown conflict",
  "timed out",
]);

const USUAL: Weather = {
  "killed in a pause": 0.002,
  "killed before a commit": 0.004,
  "killed after a commit": 0.004,
  "killed before a page": 0.01,
  "killed after a page was stored": 0.01,
  "killed before a platform write": 0.02,
  "killed after a platform write": 0.02,
  "killed before a platform read": 0.004,
  "killed after a platform read": 0.004,
  "killed before a ledger write": 0.02,
  "killed after a ledger write": 0.02,
  "killed before a ledger read": 0.004,
  "killed after a ledger read": 0.004,
  "read not sent": 0.02,
  "read torn": 0.02,
  "read failed": 0.02,
  "list torn": 0.03,
  "not sent": 0.05,
  "request lost": 0.05,
  "answer lost": 0.08,
  "slow down": 0.05,
  "month spent": 0.005,
  slow: 0.04,
  failed: 0.08,
  "timed out": 0.03,
  "delivered twice": 0.01,
  unreadable: 0.03,
  undecided: 0.02,
  "moved, maybe done": 0.01,
  "unknown conflict": 0.01,
  unauthorised: 0.005,
  forbidden: 0.005,
  retired: 0.005,
  unsupported: 0.005,
  moved: 0.005,
  invalid: 0.01,
  "not found": 0.01,
  "key missing": 0.005,
  "key conflict": 0.002,
  "ledger not sent": 0.03,
  "ledger read not sent": 0.02,
  "ledger request lost": 0.03,
  "ledger answer lost": 0.06,
  "ledger read torn": 0.02,
  "ledger busy": 0.03,
  "ledger late": 0.02,
};

export const faults = Object.keys(USUAL);

/** Each fault is in the weather of about half of the seeds; those that a person must settle in every second seed at all. */
export function planOf(seed: number): Plan {
  const chance = new World(seed, {});
  const withPersons = chance.random("persons") < 0.5;
  const weather = Object.fromEntries(
    Object.entries(USUAL).filter(
      ([fault]) => chance.random("weather") < 0.6 && (withPersons || !PERSONS.has(fault)),
    ),
  );
  const at = (): number => chance.below("at", BUSY_MS);
  const first = ["customer", "customer", "supplier", "price"].map(
    (what) => ({ at: 0, what, pick: chance.below("pick", 1_000) }) as Deed,
  );
  const rest = Array.from({ length: 8 + chance.below("deeds", 16) }, () => ({
    at: at(),
    what: deeds[chance.below("what", deeds.length)] ?? "sale",
    pick: chance.below("pick", 1_000),
  }));
  return { seed, weather, deeds: [...first, ...rest].toSorted((a, b) => a.at - b.at) };
}

export interface Verdict {
  /** What is wrong, each with the invariant's name first; empty: nothing. */
  readonly problems: readonly string[];
  readonly hits: ReadonlyMap<string, number>;
  readonly notes: readonly string[];
  /** Documents that came to the other side, and those that a person has to settle. */
  readonly delivered: number;
  readonly persons: number;
}

export async function simulate({ seed, weather, deeds }: Plan): Promise<Verdict> {
  const folder = mkdtempSync(
    join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "fuelbridge-sim-"),
  );
  const world = new World(seed, weather);
  const sides = new Sides(world);
  const people = new People(sides);
  const notes: string[] = [];
  let running = start(sides, folder);
  const isGone = (): boolean => running.process.isGone;
  const restart = async (): Promise<void> => {
    notes.push(...running.notes, `${world.iso()} killed`);
    const until = world.time + world.below("down for", 10 * MINUTE);
    world.after(until - world.time, () => {});
    await world.run(() => world.time >= until);
    running = start(sides, folder);
  };
  const liveUntil = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await world.run(() => isGone() || isOver());
      if (isGone()) await restart();
    }
  };
  /** Whether everything came to rest, in fine weather: each flow has looked once more at what the last writes changed. */
  const rested = async (): Promise<boolean> => {
    let wasQuiet = false;
    let goesOnFrom = world.time;
    let next = world.time;
    while (world.time < LONGEST_MS) {
      next += 5 * MINUTE;
      world.after(next - world.time, () => {});
      await liveUntil(() => world.time >= next);
      // Where a breaker was open, nothing was read: what waits on the other side comes with the next looks.
      if (running.store.journal.breakers().length > 0) goesOnFrom = world.time;
      release(running, world);
      const isStill = isQuiet(running);
      if (world.time > goesOnFrom + 15 * MINUTE && isStill && wasQuiet) return true;
      wasQuiet = isStill;
    }
    return false;
  };
  try {
    for (const deed of deeds) world.after(deed.at, () => people.do(deed));
    world.after(BUSY_MS, () => {});
    await liveUntil(() => world.time >= BUSY_MS);
    world.weather = {};
    let isResting = await rested();
    while (true) {
      running.stop.abort();
      let ended = false;
      void running.ended.then(() => (ended = true));
      await world.run(() => ended);
      // What fell due while it was ending goes on in the next process.
      if (!isResting || isQuiet(running)) break;
      notes.push(...running.notes, `${world.iso()} ended in the middle of work`);
      running.store.close();
      running = start(sides, folder);
      isResting = await rested();
    }
    const open = isResting ? [] : [`stuck: ${JSON.stringify(openIn(running))}`];
    notes.push(...running.notes);
    running.store.close();
    return { ...judged(sides, folder, weather, open), hits: world.hits, notes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A person sees to what only a person may clear. */
function release({ engine, store, process }: Running, world: World): void {
  for (const { breaker, retryMs } of store.journal.breakers()) {
    if (retryMs !== null) continue;
    process.clock.now();
    store.transaction(() => {
      store.journal.release(breaker, "the model's person", world.wallMs);
      released(engine, breaker);
    });
  }
}

const openIn = ({ flows, store }: Running): object =>
  Object.fromEntries(
    flows.map(({ name, flow }) => [
      name,
      {
        requests: store.requests.openCount(flow),
        pending: store.deliveries.counts(flow).get("pending") ?? 0,
        frozen: store.deliveries.counts(flow).get("frozen") ?? 0,
      },
    ]),
  );

const isQuiet = (running: Running): boolean =>
  running.flows.every(
    ({ flow }) =>
      running.store.requests.openCount(flow) === 0 &&
      (running.store.deliveries.counts(flow).get("pending") ?? 0) === 0 &&
      (running.store.deliveries.counts(flow).get("frozen") ?? 0) === 0,
  );

/** What people do on both sides. A deed for which nothing is there yet is left undone. */
class People {
  readonly #sides: Sides;
  #count = 0;

  constructor(sides: Sides) {
    this.#sides = sides;
  }

  do({ what, pick }: Deed): void {
    const { platform, ledger, lists, tickets, ended, world } = this.#sides;
    const n = ++this.#count;
    const payers = [...platform.companies].filter(([, { role }]) => role === "customers");
    const [company, firm] = payers[pick % Math.max(payers.length, 1)] ?? [];
    const sales = [...platform.invoices.values()].filter(({ fields }) => fields["byUs"] !== true);
    const sale = sales[pick % Math.max(sales.length, 1)];
    switch (what) {
      case "customer":
      case "supplier": {
        const list = lists[`${what}s`];
        // Both lists number from one: their codes meet, and are other firms.
        list.push({ code: `0001${list.length + 1}`, name: `${what} ${n} Fuel` });
        break;
      }
      case "sale":
      case "sale that does not add up":
        if (company !== undefined && firm !== undefined)
          platform.put(platform.invoices, platform.newId(), {
            ...saleOf(world, n, what === "sale" ? 0 : 1),
            payerCompanyId: company,
            payerName: firm.name,
          });
        break;
      case "sale that a clerk books otherwise":
        if (company === undefined || firm === undefined) break;
        platform.put(platform.invoices, platform.newId(), {
          ...saleOf(world, n, 0),
          payerCompanyId: company,
          payerName: firm.name,
        });
        ledger.enter("invoices", {
          ...billOf(world, n + 1, firm.externalId),
          reference: `FL-${n}`,
        });
        break;
      case "new due date":
        if (sale?.fields["status"] === "OUTSTANDING")
          platform.put(platform.invoices, sale.id, { dueDate: world.iso((30 + n) * 24 * HOUR) });
        break;
      case "void":
        if (sale !== undefined) platform.put(platform.invoices, sale.id, { status: "VOID" });
        break;
      case "bill":
        if (firm !== undefined) ledger.enter("invoices", billOf(world, n, firm.externalId));
        break;
      case "paid on the platform": {
        if (sale === undefined || sale.fields["status"] !== "OUTSTANDING") break;
        const paidAt = world.iso();
        platform.put(platform.payments, platform.newId(), {
          invoiceId: sale.id,
          amount: sale.fields["total"],
          method: "CHECK",
          reference: `CHK-${n}`,
          status: "SUCCEEDED",
          paidAt,
          processorChargeId: null,
          failureReason: null,
          surchargeAmount: null,
        });
        platform.put(platform.invoices, sale.id, { status: "PAID", paidAt });
        break;
      }
      case "paid in the books": {
        const open = ledger.rows("invoices").filter(({ state }) => state === "posted");
        const row = open[pick % Math.max(open.length, 1)];
        if (row === undefined) break;
        const { id: document, open: amount, party } = row;
        const date = world.iso().slice(0, 10);
        const side = "sale";
        const paid = ledger.enter("payments", { side, document, party, date, amount, text: "" });
        const payments = [{ id: paid.id, mark: null, amount }];
        ledger.edit("invoices", document, { state: "paid", paid: date, payments });
        break;
      }
      case "ticket":
        tickets.push({ id: `BOL-${n}`, gallons: 7_000 + n });
        break;
      case "ticket corrected": {
        const at = pick % Math.max(tickets.length, 1);
        const ticket = tickets[at];
        if (ticket !== undefined) tickets[at] = { ...ticket, gallons: ticket.gallons + 1 };
        break;
      }
      case "price": {
        const [known] = ledger.rows("prices");
        const price = Decimal.of(`2.${4000 + n}`);
        if (known === undefined || pick % 3 === 0)
          ledger.enter("prices", { list: `T-${n}`, product: "ULSD-CLR", price, unit: "gal" });
        else ledger.edit("prices", known.id, { price });
        break;
      }
      case "rate ends": {
        const connection = [...platform.connections.values()][0];
        if (connection === undefined) break;
        const id = platform.newId();
        const isGoneAlready = pick % 4 === 0;
        if (!isGoneAlready) platform.put(platform.rates, id, rateOf(world, connection.id));
        ended.push({ id, connectionId: connection.id });
        break;
      }
    }
  }
}

const amountOf = (n: number): Decimal => Decimal.of(`${1_000 + n}.${10 + (n % 80)}`);

function saleOf(world: World, n: number, off: number): Record<string, unknown> {
  const amount = amountOf(n);
  const total = amount.plus(Decimal.of(`${off}.00`));
  const line = { description: "ULSD", gallons: 1, rate: amount, amount };
  return {
    companyId: US,
    invoiceNumber: `FL-${n}`,
    orderId: null,
    status: "OUTSTANDING",
    subtotal: total,
    tax: 0,
    total,
    dueDate: world.iso(14 * 24 * HOUR),
    paidAt: null,
    createdAt: world.iso(),
    lineItems: [{ ...line, id: US, invoiceId: US }],
    taxLines: [],
  };
}

const billOf = (world: World, n: number, party: string): object => ({
  state: "posted",
  reference: `PO ${n}`,
  party,
  date: world.iso().slice(0, 10),
  due: null,
  lines: [
    {
      product: "ULSD-CLR",
      account: "4000",
      quantity: Decimal.of("1"),
      unit: "gal",
      unitPrice: amountOf(n),
      amount: amountOf(n),
      text: "ULSD",
    },
  ],
  taxes: [],
});

const rateOf = (world: World, connectionId: string): Record<string, unknown> => ({
  ...connectionOf("", ""),
  connectionId,
  distanceUnit: "MILES",
  flatFee: 10,
  effectiveAt: world.iso(),
});

interface Newest {
  readonly flow: string;
  readonly id: string;
  readonly state: string;
  readonly code: string | null;
  readonly awaitsKind: string | null;
  readonly awaitsId: string | null;
}

/** The newest delivery of each record, as the store has it. */
function newestIn(folder: string): Map<string, Newest> {
  const database = new Database(storeFile(folder), { readonly: true });
  try {
    const rows = database
      .prepare<[], Omit<Newest, "id"> & { id: Buffer | string }>(
        `select flow.name as flow, record.id, delivery.state, code, awaits_kind as awaitsKind, awaits_id as awaitsId
         from delivery join record using (record) join flow on flow.flow = record.flow
           left join quarantine using (delivery)
         where delivery = (select max(delivery) from delivery newer where newer.record = record.record)`,
      )
      .all();
    return new Map(
      rows.map(({ id, ...row }) => [`${row.flow} ${shownId(id)}`, { ...row, id: shownId(id) }]),
    );
  } finally {
    database.close();
  }
}

/** Both sides beside each other and beside what the store says of them. */
function judged(
  sides: Sides,
  folder: string,
  weather: Weather,
  open: readonly string[],
): Pick<Verdict, "problems" | "delivered" | "persons"> {
  const { platform, ledger, lists } = sides;
  const newest = newestIn(folder);
  const problems = [...open];
  let delivered = 0;
  const expect = (isMet: boolean, what: string): void => void (isMet || problems.push(what));
  const mayNeedPerson = Object.keys(weather).some((fault) => PERSONS.has(fault));
  const isWithPerson = (key: string): boolean => newest.get(key)?.state === "quarantined";

  const rows = ledger.rows("invoices");
  for (const kind of ["customers", "suppliers"] as const)
    for (const { code, name } of lists[kind]) {
      const key = `${kind} ${code}`;
      const theirs = [...platform.companies].filter(
        ([, one]) => one.role === kind && one.externalId === code,
      );
      expect(theirs.length <= 1, `doubled: ${key} is there ${theirs.length} times`);
      expect(
        theirs.every(([, one]) => one.name === name),
        `wrong: ${key} has another name`,
      );
      if (theirs.length === 1) delivered++;
      else
        expect(
          isWithPerson(key),
          `lost: ${key} is ${newest.get(key)?.state ?? "unknown"}, and not there`,
        );
    }
  for (const sale of platform.invoices.values()) {
    if (sale.fields["byUs"] === true) continue;
    const key = `sales ${sale.id}`;
    const booked = rows.filter((row) => row["mark"] === sale.id);
    const standing = booked.filter((row) => row["state"] !== "cancelled");
    expect(standing.length <= 1, `doubled: ${key} is booked ${standing.length} times`);
    const difference = bookedOtherwise(sides, sale, standing[0], booked.length);
    if (difference === null) delivered++;
    else
      expect(
        isWithPerson(key),
        `silent: ${key} is ${newest.get(key)?.state ?? "unknown"}: ${difference}`,
      );
  }
  for (const row of rows) {
    if (row["mark"] !== null) continue;
    const key = `billing ${row.id}`;
    const sent = [...platform.invoices.values()].filter(
      ({ fields }) => fields["byUs"] === true && fields["invoiceNumber"] === row.id,
    );
    expect(sent.length <= 1, `doubled: ${key} is there ${sent.length} times`);
    const payer = platform.companies.get(String(sent[0]?.fields["payerCompanyId"]));
    expect(
      sent[0] === undefined || (payer?.externalId === row["party"] && payer?.role === "customers"),
      `wrong: ${key} is billed to ${payer?.name}`,
    );
    if (sent.length === 1) delivered++;
    else
      expect(
        isWithPerson(key),
        `lost: ${key} is ${newest.get(key)?.state ?? "unknown"}, and not there`,
      );
  }
  for (const row of ledger.rows("prices")) {
    const key = `prices ${String(row["list"])}|${String(row["product"])}`;
    const there = [...platform.prices.values()].find(
      (one) => one.fields["terminalId"] === row["list"],
    );
    const isThere = String(there?.fields["price"]) === String(row["price"]);
    if (isThere) delivered++;
    else
      expect(
        isWithPerson(key),
        `silent: ${key} is ${newest.get(key)?.state ?? "unknown"}: ${String(there?.fields["price"])} instead of ${String(row["price"])}`,
      );
  }
  for (const { id, fields } of platform.payments.values()) {
    const key = `payments ${id}`;
    const booked = ledger
      .rows("payments")
      .filter(({ mark }) => mark === id || mark === `settlement:${String(fields["invoiceId"])}`);
    expect(booked.length <= 1, `doubled: ${key} is booked ${booked.length} times`);
    if (String(booked[0]?.["amount"]) === String(fields["amount"])) delivered++;
    else
      expect(
        isWithPerson(key),
        `lost: ${key} is ${newest.get(key)?.state ?? "unknown"}, and booked as ${String(booked[0]?.["amount"])}`,
      );
  }
  for (const { id, state, mark } of rows) {
    if (state !== "paid") continue;
    const there = [...platform.invoices.values()].find((one) =>
      mark === null
        ? one.fields["byUs"] === true && one.fields["invoiceNumber"] === id
        : one.id === mark,
    );
    if (there?.fields["status"] === "PAID") delivered++;
    else
      expect(
        [`paid ${id}`, `sales ${String(mark)}`].some(isWithPerson),
        `silent: paid ${id} is ${newest.get(`paid ${id}`)?.state ?? "unknown"}, and ${String(there?.fields["status"])}`,
      );
  }
  for (const { id, gallons } of sides.tickets) {
    const key = `tickets ${id}`;
    const there = [...platform.tickets.values()].filter(
      ({ fields }) => fields["ticketNumber"] === id,
    );
    expect(there.length <= 1, `doubled: ${key} is there ${there.length} times`);
    const [line] = (there[0]?.fields["productLines"] ?? []) as { gross_gallons: unknown }[];
    if (Number(String(line?.gross_gallons)) === gallons) delivered++;
    else
      expect(
        isWithPerson(key),
        `silent: ${key} is ${newest.get(key)?.state ?? "unknown"}: ${String(line?.gross_gallons)} instead of ${gallons}`,
      );
  }
  for (const { id } of sides.ended)
    if (platform.rates.has(id))
      expect(
        isWithPerson(`rates ${id}`),
        `silent: rates ${id} is ${newest.get(`rates ${id}`)?.state ?? "unknown"}, and still there`,
      );
    else delivered++;

  let persons = 0;
  for (const [key, { state, code, awaitsKind, awaitsId }] of newest) {
    expect(state !== "pending" && state !== "frozen", `stuck: ${key} is ${state}`);
    if (state !== "quarantined") continue;
    persons++;
    const isTheirs = mayNeedPerson || isBad(sides, key);
    if (awaitsKind === null)
      expect(isTheirs, `stuck: ${key} waits for a person for nothing (${code})`);
    else if (code !== "waits-for-skipped") {
      const codeOf = platform.companies.get(awaitsId ?? "")?.externalId ?? awaitsId;
      expect(
        [`customers ${codeOf}`, `sales ${awaitsId}`, `billing ${awaitsId}`].some(isWithPerson),
        `stuck: ${key} waits for ${awaitsKind} ${awaitsId}, which waits for nobody`,
      );
    }
  }
  return { problems, delivered, persons };
}

/**
 * A sale that does not add up, one that a clerk has booked otherwise, and what the clerk has booked; one that ended in two ways
 * (void, paid there, paid in the books), and one that was paid before its new due date came. A firm whose code
 * another firm has in the other list: after a lost answer nothing proves which of the two a company is.
 */
function isBad({ platform, ledger, lists }: Sides, key: string): boolean {
  const [flow, id = ""] = key.split(" ");
  if (flow === "customers" || flow === "suppliers")
    return Object.values(lists).every((list) => list.some(({ code }) => code === id));
  const isByHand = (number: unknown): boolean =>
    String(number).startsWith("FL-") &&
    ledger.rows("invoices").some((row) => row["mark"] === null && row["reference"] === number);
  const saleOf = platform.payments.get(id)?.fields["invoiceId"] ?? id;
  const row = ledger.rows("invoices").find((one) => one.id === id || one["mark"] === saleOf);
  const sale = platform.invoices.get((row?.["mark"] ?? saleOf) as string);
  if (sale === undefined) return isByHand(row?.["reference"]);
  const [line] = sale.fields["lineItems"] as { amount: Decimal }[];
  const paidInBooks = ((row?.["payments"] ?? []) as { mark: unknown }[]).some(
    ({ mark }) => mark === null,
  );
  const paidThere = [...platform.payments.values()].some(
    ({ fields }) => fields["invoiceId"] === sale.id,
  );
  const ends = [sale.fields["status"] === "VOID", paidInBooks, paidThere].filter(Boolean);
  const isDueOtherwise = row?.["due"] !== String(sale.fields["dueDate"]).slice(0, 10);
  return (
    ends.length > 1 ||
    (row?.["state"] === "paid" && isDueOtherwise) ||
    String(line?.amount) !== String(sale.fields["total"]) ||
    isByHand(sale.fields["invoiceNumber"])
  );
}

/** Null: the ledger has a sale as the platform has it now. */
function bookedOtherwise(
  { platform }: Sides,
  { fields }: Stored,
  row: Row | undefined,
  everBooked: number,
): string | null {
  const isVoid = fields["status"] === "VOID";
  if (row === undefined)
    return isVoid || everBooked > 0 ? (isVoid ? null : "it was cancelled") : "it is not booked";
  if (isVoid) return `it is void, and ${row.id} is ${String(row["state"])}`;
  const isPaid = fields["status"] === "PAID";
  if (row["state"] !== "paid" && (isPaid || row["state"] !== "posted"))
    return `${row.id} is ${String(row["state"])}, and ${String(fields["status"])} there`;
  const payer = platform.companies.get(String(fields["payerCompanyId"]));
  if (row["party"] !== payer?.externalId) return `${row.id} is billed to ${String(row["party"])}`;
  if (String(row["total"]) !== String(fields["total"]))
    return `${row.id} is ${String(row["total"])}`;
  const due = String(fields["dueDate"]).slice(0, 10);
  return row["due"] === due ? null : `${row.id} is due ${String(row["due"])} instead of ${due}`;
}

/** The smallest plan that still has a problem of the same kind: fewer faults, then fewer deeds. */
export async function shrunk(plan: Plan, kind: string): Promise<Plan> {
  const fails = async (smaller: Plan): Promise<boolean> =>
    (await simulate(smaller)).problems.some((problem) => problem.startsWith(kind));
  let smallest = plan;
  for (const fault of Object.keys(plan.weather)) {
    const { [fault]: _, ...weather } = smallest.weather;
    if (await fails({ ...smallest, weather })) smallest = { ...smallest, weather };
  }
  for (const deed of plan.deeds) {
    const without = { ...smallest, deeds: smallest.deeds.filter((one) => one !== deed) };
    if (await fails(without)) smallest = without;
  }
  return smallest;
}
