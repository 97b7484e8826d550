/** What changed in the ledger: parties, customer invoices and prices, by the stamp of their last change. */
import { z } from "zod";
import type { Books } from "../../src/ledger/port.ts";
import { invoiceRecord, payersOfEntry } from "../../src/ledger/entries.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import type { PartyRecord } from "../../src/ledger/documents.ts";
import { stampSource } from "../../src/ledger/stamps.ts";
import type { Change, Source } from "../../src/core/contract.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { factsOf, InvoiceRow, PartyRow, PriceRow, STATUSES, whole } from "./rows.ts";
import type { Wire } from "./wire.ts";

export const partySource = (wire: Wire, books: Books): Source =>
  source(wire, books, "parties", PartyRow, partyChange);

export const invoiceSource = (wire: Wire, books: Books, currency: string): Source =>
  source(wire, books, "invoices", InvoiceRow, (row) => invoiceChange(currency, row));

export const priceSource = (wire: Wire, books: Books): Source =>
  source(wire, books, "prices", PriceRow, priceChange);

const Places = z.object({ rows: z.array(z.object({ seq: whole, stamp: z.string() })) });
const Newest = z.object({ stamp: z.string().nullable() });

/** The floor walks; the ledger says which rows come next, and what they are now. */
function source<Row>(
  wire: Wire,
  books: Books,
  name: string,
  schema: z.ZodType<Row>,
  changeOf: (row: Row) => Change | null,
): Source {
  return stampSource({
    feeds: [
      {
        name,
        once: true,
        newest: async (signal) => (await wire.call(`/${name}/newest`, {}, Newest, signal)).stamp,
        async page(after, until, most, signal) {
          const { rows } = await wire.call(
            `/${name}/changed`,
            { after, until, most },
            Places,
            signal,
          );
          return rows.map(({ seq, stamp }) => ({
            at: stamp,
            id: seq,
            record: seq,
          }));
        },
      },
    ],
    async details(seqs, signal) {
      const Rows = z.object({ rows: z.array(schema) });
      const { rows } = await wire.call(`/${name}/search`, { seqs }, Rows, signal);
      return rows.flatMap((row) => changeOf(row) ?? []);
    },
    now: () => books.surroundings.now(),
    unavailable: (error) => unavailable(error, books),
  });
}

export function partyChange(row: PartyRow): Change {
  const { id, name, isCustomer, isSupplier, mark, email, active } = row;
  const nothing = { phone: null, street: null, city: null, state: null, zip: null, country: null };
  const record = {
    code: id,
    name,
    isCustomer,
    isSupplier,
    companyId: mark,
    email,
    ...nothing,
    active,
  };
  return { id, version: null, text: stringifyExact(record satisfies PartyRecord) };
}

/** A draft is not told: it may still change. */
export function invoiceChange(currency: string, row: InvoiceRow): Change | null {
  const { id, state, due, open, total, paid, payments, mark } = row;
  if (state === "draft") return null;
  const record = invoiceRecord(factsOf(currency, "invoice", row), {
    number: id,
    id,
    state,
    partyCompanyId: null,
    dueDate: due,
    open,
    paidDate: paid,
    ...payersOfEntry({ status: STATUSES[state], payments }, total, open),
    platformId: mark,
  });
  return { id, version: null, text: stringifyExact(record) };
}

function priceChange({ list, product, price, unit }: PriceRow): Change {
  const change = { id: `${list}|${product}`, version: null };
  const text = stringifyExact({ list, product, price, unit });
  if (price !== null) return { ...change, text };
  const fault = {
    code: "no-price",
    message: `${product} has no price in the list ${list}`,
    next: "Enter the price in the ledger; it is read again by itself.",
    field: "price",
  };
  return { ...change, text, fault };
}
