/**
 * A whole fuelbridge in this process: the daemon, the engine, the store in a file of memory, the platform's walk and sinks, the
 * floor of books with the adapters of `connectors/example`. Only the two ends of the wire are models.
 */
import { z } from "zod";
import { ExampleConfig } from "../../../connectors/example/config.ts";
import { tablesOf } from "../../../connectors/example/tables.ts";
import { errors } from "../../../connectors/example/wire.ts";
import { Ledger, type Row } from "../../../connectors/example/ledger.fixture.ts";
import { LedgerError } from "../../../src/ledger/port.ts";
import type { Rest } from "../../../src/ledger/rest.ts";
import { bookedPaymentsReceived } from "../../../mappings/invoices.ts";
import { statusOf } from "../../../mappings/values.ts";
import { bookedPaidInvoices } from "../../../mappings/platform/records.ts";
import {
  decimal,
  InvoiceDocument,
  InvoiceRecord,
  PriceRecord,
} from "../../../src/ledger/documents.ts";
import { type Ledger as Books, openLedger } from "../../../src/ledger/table.ts";
import { calendarOf } from "../../../src/core/time.ts";
import {
  defineMapping,
  type Mapping,
  type Sink,
  skip,
  type Source,
} from "../../../src/core/contract.ts";
import { Decimal } from "../../../src/core/decimal.ts";
import { SourceUnavailable } from "../../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../../src/core/json.ts";
import { Daemon } from "../../../src/engine/daemon.ts";
import type { Engine, Flow } from "../../../src/engine/engine.ts";
import { EndedFreightRate, TicketDocument } from "../../../src/platform/contract/documents.ts";
import {
  CreateInvoice,
  invoiceStatuses,
  ListedInvoice,
} from "../../../src/platform/contract/invoice.ts";
import { CreateParty } from "../../../src/platform/contract/network.ts";
import { sinks as platformSinks } from "../../../src/platform/parts.ts";
import { openSink, ourselves } from "../../../src/platform/sinks/write.ts";
import { listingSource, walkSource } from "../../../src/platform/walk.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { Platform } from "./platform.ts";
import { MINUTE, Process, type World } from "./world.ts";

const dayOf = calendarOf("America/Chicago");
const LEDGER_SETTLE_MS = 60_000;

/** A firm as a list of the ERP names it: customers and suppliers have number ranges of their own, which may meet. */
export interface Firm {
  readonly code: string;
  readonly name: string;
}

/** Both sides, which outlive every process. */
export class Sides {
  readonly world: World;
  readonly platform: Platform;
  readonly ledger = new Ledger("");
  readonly lists: Record<"customers" | "suppliers", Firm[]> = { customers: [], suppliers: [] };
  /** Delivery tickets as a list of the ERP has them, with the gallons that it has now. */
  readonly tickets: { id: string; gallons: number }[] = [];
  /** Rates that the ERP says have ended. */
  readonly ended: { id: string; connectionId: string }[] = [];

  constructor(world: World) {
    this.world = world;
    this.platform = new Platform(world);
    this.ledger.now = () => world.wallMs;
    this.ledger.accounts.add("4000");
  }

  /** The ledger's wire as one process has it. */
  wire(process: Process): Rest {
    const { world } = this;
    return {
      pathIn: String,
      call: async (path, body, schema) => {
        const isChange = /(?:create|change|post|cancel|delete)$/.test(path);
        await process.at(isChange ? "before a ledger write" : "before a ledger read");
        if (world.happens(isChange ? "ledger not sent" : "ledger read not sent"))
          throw new LedgerError("not-sent", `${path}: ECONNREFUSED`);
        const isLost = isChange && world.happens("ledger request lost");
        const isLate = isChange && !isLost && world.happens("ledger late");
        const sent = parseExact(stringifyExact(body)) as object;
        const call = () => this.ledger.call(path, ledgerBody(sent));
        if (isLate)
          world.after(world.below("ledger late by", LEDGER_SETTLE_MS - 5_000), () => void call());
        const busy = !isLost && !isLate && isChange && world.happens("ledger busy");
        const done = isLost || isLate || busy ? null : call();
        await process.sleep(20 + world.below("ledger latency", 400));
        await process.at(isChange ? "after a ledger write" : "after a ledger read");
        if (busy) throw new LedgerError("answered", `${path}: busy`, { status: 429, code: "busy" });
        if (done === null || world.happens(isChange ? "ledger answer lost" : "ledger read torn"))
          throw new LedgerError("torn", `${path}: ECONNRESET`);
        const { status, answer } = done;
        if (status !== 200) {
          const { error } = answer as { error: { code: string; message: string } };
          throw new LedgerError("answered", `${path}: ${error.message}`, {
            status,
            code: error.code,
          });
        }
        return schema.parse(parseExact(stringifyExact(answer)));
      },
      close: async () => {},
    };
  }
}

/** The ledger's counters are numbers again. */
const COUNTERS = new Set(["seq", "id", "after", "most", "seqs"]);
function ledgerBody(value: unknown, name = ""): never {
  if (value instanceof Decimal) return (COUNTERS.has(name) ? Number(value.text) : value) as never;
  if (Array.isArray(value)) return value.map((one) => ledgerBody(one, name)) as never;
  if (value === null || typeof value !== "object") return value as never;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, ledgerBody(one, key)]),
  ) as never;
}

/** A started daemon. */
export interface Running {
  readonly process: Process;
  readonly engine: Engine;
  readonly store: Store;
  readonly flows: readonly Flow[];
  readonly daemon: Daemon;
  readonly notes: string[];
  /** Ends it as SIGTERM does. */
  readonly stop: AbortController;
  /** Settles when it has ended; never for one that was killed. */
  readonly ended: Promise<void>;
}

let boots = 0;

export function start(sides: Sides, folder: string): Running {
  const { world } = sides;
  const process = new Process(world, ++boots);
  const real = openStore(folder);
  const { clock } = process;
  const store: Store = {
    ...real,
    transaction(work) {
      process.expectAlive();
      world.active();
      return real.transaction(work);
    },
    async together(work) {
      await process.at("before a commit");
      const result = await real.together(work);
      await process.at("after a commit");
      return result;
    },
  };
  process.onKilled = () => real.close();
  const notes: string[] = [];
  const flows: Flow[] = [];
  const engine: Engine = {
    store,
    clock,
    company: "bluebonnet",
    environment: "test",
    currency: "USD",
    dayOf,
    flows,
    tables: { row: () => null },
    note: (event, details) => notes.push(`${world.iso()} ${event} ${JSON.stringify(details)}`),
  };
  flows.push(...flowsOf(sides, process, store));
  const daemon = new Daemon(engine, flows);
  const stop = new AbortController();
  const ended = daemon.run(stop.signal).catch((error: unknown) => process.orNever(error));
  return { process, engine, store, flows, daemon, notes, stop, ended };
}

function flowsOf(sides: Sides, process: Process, store: Store): Flow[] {
  const { platform, lists, ended, tickets } = sides;
  const { clock } = process;
  const client = platform.client(process);
  const reads = { client, clock, purpose: "read-back" } as const;
  const context = { ...reads, settleMs: null, ourselves: ourselves(reads) };
  const opened = (name: keyof typeof platformSinks) => openSink(platformSinks[name], context);
  const books = booksOver(sides.wire(process), process);
  const flow = (
    name: string,
    from: string,
    to: string,
    parts: { mapping: Mapping<never, never>; source: Source; sink: Sink },
  ): Flow => ({
    ...parts,
    mapping: parts.mapping,
    flow: store.flows.open(name).flow,
    name,
    from,
    to,
    side: from.startsWith("platform") ? "platform" : "erp",
    schedule: { everyMs: 5 * MINUTE },
    paused: false,
  });
  const walked = walkSource(client, {
    list: "listInvoices",
    query: { role: "issuer" },
    overlapMs: 5 * MINUTE,
    clock,
  });
  return [
    flow("customers", "erp.customers", "platform.customers", {
      mapping: partyMapping("customer"),
      source: listed(process, () => lists.customers.map((one) => ({ ...one, id: one.code }))),
      sink: opened("customers"),
    }),
    flow("suppliers", "erp.suppliers", "platform.suppliers", {
      mapping: partyMapping("supplier"),
      source: listed(process, () => lists.suppliers.map((one) => ({ ...one, id: one.code }))),
      sink: opened("suppliers"),
    }),
    flow("sales", "platform.invoicesIssued", "erp.invoices", {
      mapping: salesMapping,
      source: walked,
      sink: books.sinks["invoices"] as Sink,
    }),
    flow("billing", "erp.invoices", "platform.invoices", {
      mapping: billingMapping,
      source: books.sources["invoices"] as Source,
      sink: opened("invoices"),
    }),
    flow("payments", "platform.paymentsReceived", "erp.payments", {
      mapping: bookedPaymentsReceived as never,
      source: listingSource(client, { list: "listPayments", query: { role: "issuer" }, clock }),
      sink: books.sinks["payments"] as Sink,
    }),
    flow("paid", "erp.paidInvoices", "platform.paidInvoices", {
      mapping: bookedPaidInvoices as never,
      source: books.sources["paidInvoices"] as Source,
      sink: opened("paidInvoices"),
    }),
    flow("tickets", "erp.tickets", "platform.tickets", {
      mapping: ticketMapping,
      source: listed(process, () => tickets),
      sink: opened("tickets"),
    }),
    flow("prices", "erp.prices", "platform.rackPrices", {
      mapping: priceMapping,
      source: books.sources["prices"] as Source,
      sink: opened("rackPrices"),
    }),
    flow("rates", "erp.ended", "platform.endedFreightRates", {
      mapping: rateMapping,
      source: listed(process, () => ended),
      sink: opened("endedFreightRates"),
    }),
  ];
}

const config = ExampleConfig.parse({
  url: "http://127.0.0.1:1",
  token: "unused-token",
  accounts: { revenue: "4000", expense: "5000" },
  batch: 4,
  settleMs: LEDGER_SETTLE_MS,
});

/** Of the ledger's tables those that flows use here. */
function booksOver(wire: Rest, process: Process): Books {
  const { invoice, payment, party, price } = tablesOf(wire, config);
  const now = () => new Date(process.clock.now().wallMs);
  return openLedger({
    name: "the ledger",
    tables: { invoice, payment, party, price },
    errors,
    config: { settleMs: LEDGER_SETTLE_MS, settleAfter: 120 * MINUTE },
    surroundings: { now, ignore: {}, currency: "USD" },
  });
}

/** A whole list, two records a page; now and then it cannot be read. */
function listed(process: Process, rows: () => readonly { readonly id: string }[]): Source {
  return {
    whole: true,
    async *read() {
      const all = [...rows()];
      for (let at = 0; at < Math.max(all.length, 1); at += 2) {
        await process.at("before a page");
        await process.sleep(20);
        if (process.world.happens("list torn"))
          throw new SourceUnavailable("the list ended early", {
            next: "It is read again by itself.",
          });
        const changes = all
          .slice(at, at + 2)
          .map((row) => ({ id: row.id, version: null, text: stringifyExact(row) }));
        yield { changes, position: at };
        await process.at("after a page was stored");
      }
    },
  };
}

const noFigures = () => ({ amount: null, gallons: null });

const partyMapping = (kind: "customer" | "supplier") =>
  defineMapping({
    name: `sim/${kind}s`,
    kind,
    input: z.looseObject({ code: z.string(), name: z.string() }),
    output: CreateParty,
    number: ({ code }) => code,
    map: ({ code, name }) => ({ name, externalId: code }),
    figures: noFigures,
  }) as never;

const SALES = {
  kind: "invoice",
  what: "invoice",
  known: invoiceStatuses,
  booked: { OUTSTANDING: "open", PAID: "paid" },
  ended: { VOID: "void" },
} as const;

const salesMapping = defineMapping({
  name: "sim/sales",
  kind: "invoice",
  input: ListedInvoice,
  output: InvoiceDocument,
  number: ({ invoiceNumber }) => invoiceNumber,
  map(invoice, references) {
    const { id, invoiceNumber, subtotal, tax, total, payerCompanyId, dueDate, paidAt } = invoice;
    const booked = statusOf(references, SALES, invoice);
    if (typeof booked !== "string") return booked;
    const companyId = payerCompanyId ?? "";
    const code = references.counterpart("customer", companyId);
    return {
      id,
      number: invoiceNumber,
      party: { code, name: String(invoice["payerName"]), companyId },
      type: "out" as const,
      status: booked,
      invoiceDate: dayOf(invoice.createdAt),
      dueDate: dueDate === null ? null : dayOf(dueDate),
      paidDate: paidAt === null ? null : dayOf(paidAt),
      ...(booked === "void" ? { endedDate: dayOf(invoice.updatedAt) } : {}),
      description: null,
      lines: (invoice.lineItems ?? []).map(({ gallons, rate, amount }) => ({
        product: "ULSD-CLR",
        account: null,
        quantity: gallons ?? Decimal.zero,
        unit: "gal",
        unitPrice: rate ?? Decimal.zero,
        amount,
        description: "ULSD",
      })),
      taxes: [],
      subtotal,
      tax,
      total,
    };
  },
  figures: ({ total }) => ({ amount: total, gallons: null }),
  posts: true,
}) as never;

const billingMapping = defineMapping({
  name: "sim/billing",
  kind: "invoice",
  input: InvoiceRecord,
  output: CreateInvoice,
  number: ({ number, id }) => number ?? id,
  map({ number, state, platformId, untaxed, tax, total, partyCode, lines }, references) {
    if (platformId !== null || state === "cancelled") return skip("not to be sent");
    return {
      invoiceNumber: number ?? "",
      subtotal: untaxed,
      tax,
      total,
      payerCompanyId: references.counterpart("customer", partyCode),
      lineItems: (lines ?? []).map(({ amount }) => ({
        description: "ULSD",
        amount: amount ?? Decimal.zero,
      })),
    };
  },
  figures: ({ total }) => ({ amount: total as Decimal, gallons: null }),
  posts: true,
}) as never;

const priceMapping = defineMapping({
  name: "sim/prices",
  kind: "rack-price",
  input: PriceRecord,
  output: z.looseObject({ terminalId: z.string(), product: z.string() }),
  number: ({ list, product }) => `${list} ${product}`,
  map: ({ list, product, price }) => ({ terminalId: list, product, price, unit: "gal" }),
  figures: noFigures,
}) as never;

const ticketMapping = defineMapping({
  name: "sim/tickets",
  kind: "delivery-ticket",
  input: z.looseObject({ id: z.string(), gallons: decimal }),
  output: TicketDocument,
  number: ({ id }) => id,
  map: ({ id, gallons }) => ({ ticketNumber: id, productLines: [{ gross_gallons: gallons }] }),
  figures: noFigures,
}) as never;

const rateMapping = defineMapping({
  name: "sim/rates",
  kind: "ended-freight-rate",
  input: z.looseObject({ id: z.string(), connectionId: z.string() }),
  output: EndedFreightRate,
  number: ({ id }) => id,
  map: ({ id, connectionId }) => ({ freightRateId: id, connectionId }),
  figures: noFigures,
}) as never;

export type { Row };
