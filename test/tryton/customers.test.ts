/** Who is a customer, with the engine, the real mappings, a real Tryton and the sandbox. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Books } from "../../connectors/tryton/books.ts";
import {
  byId,
  type Desk,
  deskIn,
  reader,
  invoices as invoiceSource,
  parties,
} from "../../connectors/tryton/sources/source.fixture.ts";
import {
  bookedCustomers as customers,
  bookedInvoices as invoices,
  bookedSuppliers as suppliers,
} from "../../mappings/platform/records.ts";
import type { Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Daemon } from "../../src/engine/daemon.ts";
import type { PartyRecord } from "../../src/ledger/documents.ts";
import { usePlatform } from "../platform/support.ts";
import { engineOn } from "../support/engine.ts";
import { tempFolder } from "../support/folder.ts";
import { trytonIsThere, useTryton } from "../support/tryton.ts";
import { newInvoice } from "./office.ts";
import { logIn, type Rpc } from "./rpc.ts";

const signal = new AbortController().signal;

describe.skipIf(!trytonIsThere)("customers of Tryton", () => {
  const server = useTryton();
  const platform = usePlatform();
  let desk: Desk;
  let tryton: Rpc;
  beforeEach(() => platform.control.reset());

  async function open(more: object = {}): Promise<void> {
    desk = deskIn(server, more);
    tryton = await logIn(desk.database, desk.database.clerk);
  }
  /** Neither a payment term nor a category. */
  const newParty = (code: string): Promise<number> =>
    desk.create("party.party", {
      code,
      name: `Party ${code}`,
      addresses: [["create", [{ city: "Seguin" }]]],
    });
  const invoiceOf = (code: string, more: object = {}) =>
    newInvoice(tryton, code, "2026-11-20", ["1000", "2.50"], more);
  async function billOf(code: string): Promise<void> {
    const one = (model: string, value: string) => desk.one(model, "code", value);
    const account = await one("account.account", "5000");
    const line = { type: "line", quantity: 1, unit_price: Decimal.of("5"), account };
    await invoiceOf(code, {
      type: "in",
      account: await one("account.account", "2100"),
      journal: await one("account.journal", "EXP"),
      lines: [["create", [line]]],
    });
  }

  async function site() {
    const clock = await platform.clock();
    const bench = engineOn(tempFolder(), clock);
    const engine = { ...bench.engine, tables: { row: () => ({ product: "ULSD-CLR" }) } };
    const { sinks } = platform.endpoint({ clock });
    const flow = (
      name: string,
      mapping: typeof customers | typeof suppliers | typeof invoices,
      source: Source,
    ) =>
      bench.flow({
        name,
        mapping,
        source,
        from: `books.${name}`,
        to: `platform.${name}`,
        sink: sinks[name] as never,
      });
    const flows = [
      flow("invoices", invoices, invoiceSource(desk.books)),
      flow("customers", customers, parties(desk.books)),
      flow("suppliers", suppliers, parties(desk.books)),
    ];
    return {
      bench,
      once: () => new Daemon(engine, flows).once(signal),
      counts: (name: string) =>
        Object.fromEntries(
          bench.store.deliveries.counts(flows.find((one) => one.name === name)?.flow ?? 0),
        ),
    };
  }

  test("a party becomes a customer with its first posted invoice, without a change of its own: both arrive", async () => {
    await open();
    await newParty("CASH-1");
    const { once, counts, bench } = await site();
    await once();
    expect(counts("customers")).toMatchObject({ skipped: expect.any(Number) as number });
    expect(counts("customers")).not.toHaveProperty("delivered");

    await invoiceOf("CASH-1");
    await once();
    expect(bench.store.questions.quarantine()).toEqual([]);
    expect(counts("invoices")).toEqual({ delivered: 1 });
    expect(counts("customers")).toMatchObject({ delivered: 1 });
    expect(counts("suppliers")).not.toHaveProperty("delivered");
  });

  test("an invoice of the platform makes nobody a customer, and which signs count is configured", async () => {
    await open();
    for (const code of ["OWN", "PLATFORM", "VENDOR", "NOBODY"]) await newParty(code);
    await invoiceOf("OWN");
    await invoiceOf("PLATFORM", { comment: "platform:0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b" });
    await billOf("VENDOR");
    const rolesOf = async (it: ReturnType<typeof reader>) => {
      const told = Object.entries(byId((await it.read()).changes)) as [string, PartyRecord][];
      const having = (is: (party: PartyRecord) => boolean) =>
        told.filter(([, party]) => is(party)).map(([code]) => code);
      return {
        customers: having(({ isCustomer }) => isCustomer),
        suppliers: having(({ isSupplier }) => isSupplier),
      };
    };
    const config = (roles: object): Books => ({
      ...desk.books,
      config: { ...desk.books.config, roles: { ...desk.books.config.roles, ...roles } },
    });
    // As it was read before invoices counted.
    const before = reader(parties(config({ customer: ["payment-term", "category"] })));
    expect(await rolesOf(before)).toEqual({ customers: [], suppliers: [] });
    const since = reader(parties(desk.books), before.position);
    expect(await rolesOf(since)).toEqual({ customers: ["OWN"], suppliers: [] });
    const both = reader(parties(config({ supplier: ["invoice"] })));
    expect(await rolesOf(both)).toEqual({ customers: ["OWN"], suppliers: ["VENDOR"] });
  });
});
