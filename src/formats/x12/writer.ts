/** Documents as interchanges: one group, one transaction set for each document. */
import { hash } from "node:crypto";
import type { Item, Reference } from "../../core/contract.ts";
import { sortableInstant } from "../../core/keys.ts";
import type { X12Sink } from "../../../connectors/files/x12-ends.ts";
import { CustomerInvoiceDocument, documents, OrderDocument } from "../documents.ts";
import type { Site } from "../../../connectors/files/folder/port.ts";
import type { DocumentWriter } from "../format.ts";
import {
  acknowledgementSet,
  exchangeOf,
  type ReplyContent,
  sequenceOf,
} from "./acknowledgement.ts";
import type { X12Options } from "./config.ts";
import { concernsOf, type Context, expectLive, invoiceSet } from "./invoice-out.ts";
import { orderConcerns, orderSet } from "./order-out.ts";
import { interchange, setControlOf } from "./write.ts";

const BATCH_ITEMS_MAX = 200;
const NAME_MAX = 100;
/** The encoding: X12's characters are among those of ASCII. */
const encoding = "latin1";

interface Kind {
  readonly functionalId: string;
  readonly set: (context: Context, document: unknown, place: number) => string[];
  readonly concerns: (context: Context, document: unknown) => unknown;
}

const KINDS: Readonly<Record<X12Sink["document"], Kind>> = {
  "customer-invoices": {
    functionalId: "IN",
    set(context, document, place) {
      const invoice = CustomerInvoiceDocument.parse(document);
      expectLive(invoice.status, "an 810");
      return invoiceSet(context, invoice, place);
    },
    concerns: (context, document) => concernsOf(context, CustomerInvoiceDocument.parse(document)),
  },
  orders: {
    functionalId: "PO",
    set(context, document, place) {
      const order = OrderDocument.parse(document);
      expectLive(order.status, "an 850");
      return orderSet(context, order, place);
    },
    concerns: (context, document) => orderConcerns(context, OrderDocument.parse(document)),
  },
};

/**
 * The partner knows a document by its number, so it goes once: a later version that says something else is work for a
 * person, for X12 has no set that corrects one.
 */
export function x12Writer(config: X12Sink, { currency, dayOf }: Site): DocumentWriter {
  const { x12: options, document: name, per, itemsMax, acknowledgeWithin } = config;
  const { functionalId, set, concerns } = KINDS[name];
  const context = { options, currency, dayOf };
  return {
    form: `files.${name}`,
    operation: documents[name].operation,
    writes: "create",
    itemsMax: per === "batch" ? (itemsMax ?? BATCH_ITEMS_MAX) : 1,
    encoding,
    sequence: sequenceOf(options),
    concerns: (document) => concerns(context, document),
    acknowledged: {
      withinMs: acknowledgeWithin,
      references: ({ target }, items): Reference[] => {
        const exchange = exchangeOf(options, numberIn(target));
        return Array.from({ length: items }, (_, at) => ({ exchange, item: setControlOf(at) }));
      },
    },
    nameOf: (items, number = 0) => nameOf(name, items, number),
    textOf: (items, number = 0) =>
      interchange(
        options,
        { functionalId, control: number, at: newest(items) },
        items.map(({ document }, at) => set(context, document, at)),
      ),
    idsOf: ({ items }) => items.map(({ number }) => number),
  };
}

/** Writes what the reader of this folder has to say of what it read. */
export function replyWriter(options: X12Options): DocumentWriter {
  return {
    form: "x12.997",
    operation: "file.x12-997.deliver",
    writes: "create",
    itemsMax: 1,
    encoding,
    sequence: sequenceOf(options),
    nameOf: (items, number = 0) => nameOf("997", items, number),
    textOf(items, number = 0) {
      const [content] = items.map(
        ({ document }) => (document as { content: ReplyContent }).content,
      );
      if (content === undefined) throw new TypeError("a 997 of nothing");
      const sets = [acknowledgementSet(options, content)];
      return interchange(options, { functionalId: "FA", control: number, at: content.at }, sets);
    },
  };
}

/** The interchange is dated by the newest version in it: the same documents give the same bytes. */
function newest(items: readonly Item[]): string {
  const versions = items.map(({ document }) => (document as { version: string }).version);
  return (
    versions
      .map((version) => sortableInstant(version) ?? version)
      .toSorted()
      .at(-1) ?? ""
  );
}

/** `customer-invoices_INV-1_0a1b2c3d_000000117.edi`: the last is the control number, so no name comes twice. */
function nameOf(document: string, items: readonly Item[], number: number): string {
  const [item] = items;
  const content = JSON.stringify(items.map(({ id, revision }) => [id, revision]));
  const rest = `_${hash("sha256", content, "hex").slice(0, 8)}_${String(number).padStart(9, "0")}.edi`;
  const named = items.length === 1 ? (item?.number ?? "") : String(items.length);
  const safe = named.replace(/[^A-Za-z0-9.-]+/g, "-");
  return `${`${document}_${safe}`.slice(0, NAME_MAX - rest.length)}${rest}`;
}

/** Of a name that was made here. */
function numberIn(target: string): number {
  return Number(/_(\d{9})\.edi$/.exec(target)?.[1] ?? "0");
}
