/** Invoices and bills in the ledger. */
import {
  type LedgerAdapter,
  type Capabilities,
  type Entry,
  type Desired,
  PLAIN_ENTRY,
} from "../../src/ledger/port.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { invoiceFacts } from "../../src/ledger/entries.ts";
import { spellingsOf } from "../../src/core/keys.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Facts } from "../../src/core/holdings.ts";
import type { ExampleConfig } from "./config.ts";
import { factsOf, InvoiceRow, STATUSES } from "./rows.ts";
import { invoiceChange } from "./sources.ts";
import { reading, table } from "./tables.ts";
import type { Wire } from "./wire.ts";

type Kind = "invoice" | "bill";

/** The ledger keeps texts up to this length. */
const TEXT_MAX = 200;

export function invoiceAdapter<K extends Kind>(
  wire: Wire,
  config: ExampleConfig,
  currency: string,
  kind: K,
): LedgerAdapter<K, InvoiceRow> {
  const rows = table(wire, kind === "invoice" ? "invoices" : "bills", InvoiceRow);
  const entry = (row: InvoiceRow): Entry<InvoiceRow> => entryOf(currency, kind, row);
  return {
    ...reading(rows, entry),
    can: capabilitiesOf(config, kind),
    accept,
    expected: async (documents) => documents.map((one) => expectedOf(config, currency, kind, one)),
    async locate(desired, { signal }) {
      const found = await rows.search(
        {
          marks: desired.map(({ mark }) => mark),
          ids: desired.flatMap(({ binding }) => binding ?? []),
          numbers: desired.flatMap(({ number }) => spellingsOf(number)),
        },
        signal,
      );
      return found.map(entry);
    },
    create: (desired, call) => rows.create(desired.map(valuesOf), call),
    async apply(to, steps, call) {
      const records = steps.map(({ desired, entry: { native } }) => ({
        id: native.id,
        version: native.version,
        ...(to === "amended"
          ? {
              due: desired.expected.days?.due,
              order: desired.expected.words?.order,
              disputed: desired.disputed,
            }
          : {}),
      }));
      await rows.step(STEPS[to], records, call);
    },
  };
}

const STEPS = {
  amended: "change",
  posted: "post",
  cancelled: "cancel",
  retracted: "delete",
} as const;

const capabilitiesOf = ({ posting, batch }: ExampleConfig, kind: Kind): Capabilities => ({
  has: ["draft", "posted", "settled", "cancelled"],
  byUs: posting === "post" ? "settled" : "draft",
  amend: { "days.due": "posted", order: "posted", state: "posted" },
  atomic: batch,
  numbered: kind === "invoice" ? "once" : "per-party",
});

/** @throws Refused for a text that the ledger would cut */
function accept(document: InvoiceDocument): void {
  if (document.lines.some(({ description }) => description.length > TEXT_MAX))
    throw new Refused({
      code: "text-too-long",
      message: `a line's text has more than the ${TEXT_MAX} characters that the ledger keeps`,
      next: "Shorten the text where the document comes from; it is delivered by itself.",
      field: "lines.description",
    });
}

/** The number is the ledger's, and not known before. */
function expectedOf(
  { accounts }: ExampleConfig,
  currency: string,
  kind: Kind,
  document: InvoiceDocument,
): Facts {
  const account = kind === "invoice" ? accounts.revenue : accounts.expense;
  const lines = document.lines.map(({ description, ...line }) => ({
    ...line,
    account: line.account ?? account,
    text: description,
  }));
  return invoiceFacts(document, currency, lines);
}

/** What the ledger takes. It adds up by itself: what it makes of it is compared before it is posted. */
function valuesOf({ mark, number, party, expected, disputed }: Desired): object {
  const { days, words, lines, taxes } = expected;
  return {
    mark,
    reference: number,
    party,
    date: days?.date,
    due: days?.due,
    order: words?.order,
    disputed,
    lines,
    taxes: taxes?.map(({ code, ...tax }) => ({ account: code, ...tax })),
  };
}

const entryOf = (currency: string, kind: Kind, row: InvoiceRow): Entry<InvoiceRow> => ({
  ...PLAIN_ENTRY,
  id: row.id,
  mark: row.mark,
  number: row.reference,
  party: row.party,
  status: STATUSES[row.state],
  touched: row.touched,
  disputed: row.disputed,
  payments: row.payments,
  facts: factsOf(currency, kind, row),
  paid: row.paid,
  // Flows read customer invoices only.
  ...(kind === "invoice" ? { change: invoiceChange(currency, row) } : {}),
  version: row.version,
  native: row,
});
