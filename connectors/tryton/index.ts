/** Tryton over its JSON-RPC: the books of one company, as any of its clients writes them. */
import { defineConnector, type Offer } from "../../src/core/contract.ts";
import { files } from "./attachments.ts";
import type { Books } from "./books.ts";
import { TrytonConfig } from "./config.ts";
import { controlOf } from "./control.ts";
import { ledgerHoldings } from "../../src/ledger/held.ts";
import {
  PAGE_RECORDS,
  partyHoldings,
  priceHoldings,
  type Told,
} from "../../src/ledger/holdings.ts";
import { offered, opened } from "../../src/ledger/parts.ts";
import { TRYTON, unavailable } from "./errors.ts";
import { openLookup } from "./lookup.ts";
import { openTryton } from "./wire.ts";
import { checkTryton, examineTryton } from "./examine.ts";
import { driven, sinks } from "./sinks.ts";
import { invoices, paidInvoices } from "./sources/invoices.ts";
import { parties, partyChanges } from "./sources/parties.ts";
import { prices } from "./sources/prices.ts";
import { idsOf } from "./search.ts";

const sources = { parties, invoices, paidInvoices, prices };
const filesOf: Readonly<Record<string, Partial<Offer>>> = {
  invoices: { pdf: "invoiceFiles" },
  bills: { pdf: "billFiles" },
  shipments: { pdf: "shipmentFiles" },
};

export const tryton = defineConnector<TrytonConfig>({
  name: "tryton",
  config: TrytonConfig,
  offers: () => ({ sources: offered(sources), sinks: offered(sinks, filesOf) }),
  open(settings, surroundings) {
    const config = { ...settings, currency: surroundings.currency };
    const wire = openTryton(config, surroundings);
    const books: Books = {
      config,
      tryton: wire,
      lookup: openLookup(wire, surroundings),
      surroundings,
    };
    return {
      sources: opened(sources, books),
      sinks: opened({ ...sinks, ...files }, books),
      check: (signal) => checkTryton(books, signal),
      readAgain: () => books.lookup.forget(),
      examine: (signal, needs) => examineTryton(books, signal, needs),
      holdings: {
        ...ledgerHoldings(driven(books), {
          party: partyHoldings(TRYTON.name, toldParties(books)),
          price: priceHoldings(TRYTON.name, config.currency, prices(books)),
        }),
        control: (kind, signal) => controlOf(books, kind, signal),
      },
      close: () => wire.close(),
    };
  },
});

const toldParties = (books: Books): Told => ({
  idsAfter: (id, signal) =>
    idsOf(books, "party.party", [["id", ">", id]], { most: PAGE_RECORDS, inactive: true, signal }),
  idsNamed: (codes, signal) =>
    idsOf(books, "party.party", [["code", "in", codes]], { inactive: true, signal }),
  changes: (ids, signal) => partyChanges(books, ids, signal),
  unavailable,
});
