/** What QuickBooks told of its company file in the first session of a day: what `doctor` examines, for it cannot ask. */
import { z } from "zod";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Notebook } from "../../src/core/contract.ts";
import type { Company } from "./company.ts";
import { type Querying, textOf } from "./read.ts";

const names = z.array(z.string()).nullable();

const Told = z.object({
  /** ISO 8601 UTC. */
  at: z.string(),
  company: z.object({
    company: z.string(),
    product: z.string().nullable(),
    country: z.string().nullable(),
    preferences: z.boolean(),
    salesTax: z.boolean().nullable(),
    multiCurrency: z.boolean().nullable(),
    closingDate: z.string().nullable(),
  }),
  /** Full names of what is active there; null: QuickBooks did not tell them. */
  accounts: names,
  items: names,
  taxCodes: names,
  paymentMethods: names,
  terms: names.default(null),
  classes: names.default(null),
});
export type Told = z.infer<typeof Told>;

const NAME = "company";

/** Null: there was no session yet. */
export function toldIn(notebook: Notebook | undefined): Told | null {
  const text = notebook?.get(NAME) ?? null;
  return text === null ? null : (Told.safeParse(JSON.parse(text)).data ?? null);
}

/** Asks for the lists and stores them. @throws LedgerError when the session ended meanwhile, StorageError */
export async function tell(
  wire: Querying,
  notebook: Notebook,
  company: Company,
  at: string,
  signal: AbortSignal,
): Promise<void> {
  const told: Told = {
    at,
    company,
    accounts: await namesOf(wire, "AccountQuery", signal),
    items: await namesOf(wire, "ItemQuery", signal),
    taxCodes: await namesOf(wire, "SalesTaxCodeQuery", signal),
    paymentMethods: await namesOf(wire, "PaymentMethodQuery", signal),
    terms: await namesOf(wire, "StandardTermsQuery", signal),
    classes: await namesOf(wire, "ClassQuery", signal),
  };
  notebook.set(NAME, JSON.stringify(told));
}

/** Null where this edition does not have the list, or it is switched off. */
async function namesOf(
  wire: Querying,
  name: string,
  signal: AbortSignal,
): Promise<string[] | null> {
  try {
    const IncludeRetElement = ["Name", "FullName"];
    const [reply] = await wire.read([{ name, values: { IncludeRetElement } }], signal);
    return (reply?.rets ?? []).flatMap(
      (row) => textOf(row, "FullName") ?? textOf(row, "Name") ?? [],
    );
  } catch (error) {
    if (error instanceof LedgerError && error.phase === "answered") return null;
    throw error;
  }
}
