/** Sessions for tests of the wire, and what they do in Tryton. */
import { expect, onTestFinished } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { openLookup } from "./books.ts";
import { day, float } from "./rows.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { openTryton, type Tryton, type TrytonOptions } from "./wire.ts";

export const now = (): Date => new Date();

/** A session of the test's own, and what it noted. */
export function open(
  options: TrytonOptions,
  clock: () => Date = now,
): Tryton & { readonly notes: string[] } {
  const notes: string[] = [];
  const tryton = openTryton(options, { note: (message) => notes.push(message), now: clock });
  onTestFinished(() => tryton.close());
  return { ...tryton, notes };
}

/** With its code, or what it proves where nobody answered, as `kind`. */
export const faultOf = async (work: Promise<unknown>) => {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(LedgerError);
  const fault = outcome as LedgerError & { readonly warning?: string };
  return Object.assign(fault, { kind: fault.phase === "answered" ? fault.code : fault.phase });
};

export const parties = (tryton: Tryton, ...context: [object?]): Promise<number> =>
  tryton.call("model.party.party.search_count", [[], ...context]);

/** A customer invoice of today, as a draft. */
export async function invoice(tryton: Tryton, dueDate: string): Promise<number> {
  const lookup = openLookup(tryton, { now });
  const [party] = await tryton.call<[number]>("model.party.party.create", [
    [{ name: "A customer", addresses: [["create", [{}]]] }],
  ]);
  const [{ addresses }] = await tryton.call<[{ addresses: [number] }]>("model.party.party.read", [
    [party],
    ["addresses"],
  ]);
  const { id: product, revenue } = await lookup.product("ULSD-CLR");
  const line = {
    type: "line",
    product,
    quantity: float(Decimal.of("7500.1234")),
    unit: (await lookup.unit("gal")).id,
    unit_price: Decimal.of("2.413755"),
    account: revenue?.id,
  };
  const [id] = await tryton.call<[number]>("model.account.invoice.create", [
    [
      {
        type: "out",
        company: (await tryton.session()).company,
        party,
        invoice_address: addresses[0],
        currency: await lookup.currency("USD"),
        journal: await lookup.journal("REV"),
        account: await lookup.account("1200"),
        invoice_date: day("2026-11-21"),
        payment_term_date: day(dueDate),
        lines: [["create", [line]]],
      },
    ],
  ]);
  return id;
}

export const stateOf = async (tryton: Tryton, id: number): Promise<string> => {
  const read = tryton.call<[{ state: string }]>("model.account.invoice.read", [[id], ["state"]]);
  return (await read)[0].state;
};
