/** A delivery ticket as a shipment that Tryton's server takes. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { ShipmentDocument } from "../../src/books/documents.ts";
import { orderIn, platformIdIn } from "./marks.ts";
import { type Addressed, partyFor } from "./parties.ts";
import { day, exact, float } from "./values.ts";

/** How Tryton calls the parts of both kinds. */
export const KINDS = {
  out: {
    model: "stock.shipment.out",
    party: "customer",
    address: "delivery_address",
    moves: "outgoing_moves",
    order: "sale",
    partyLocation: "customer_location",
    ourLocation: "output_location",
  },
  in: {
    model: "stock.shipment.in",
    party: "supplier",
    address: "contact_address",
    moves: "incoming_moves",
    order: "purchase",
    partyLocation: "supplier_location",
    ourLocation: "input_location",
  },
} as const;

interface ShipmentValues {
  readonly reference: string;
  readonly effective_date: unknown;
  readonly [field: string]: unknown;
}

/** A party that is not there yet is created. @throws Refused, TrytonError */
export async function shipmentValues(
  books: Books,
  document: ShipmentDocument,
): Promise<ShipmentValues> {
  const { party: field, address, moves } = KINDS[document.type];
  const party = await partyFor(books, document.party);
  const warehouse = await books.lookup.location(books.config.warehouse);
  return {
    ...(await placesOf(books, document.type, warehouse)),
    company: (await books.tryton.session()).company,
    number: document.number,
    reference: document.reference,
    effective_date: document.date === null ? null : day(document.date),
    warehouse,
    [field]: party.id,
    [address]: party.address,
    [moves]: [["create", await moveValues(books, document, party)]],
  };
}

/** What clients fill in of the warehouse. @throws TrytonError */
async function placesOf({ tryton }: Books, type: ShipmentDocument["type"], warehouse: number) {
  const places = Object.entries((await tryton.release()).places[type]);
  if (places.length === 0) return {};
  const [row] = await tryton.call<[Record<string, number | null>]>("model.stock.location.read", [
    [warehouse],
    places.flatMap(([, fields]) => fields),
  ]);
  const first = (fields: readonly string[]) =>
    fields.map((name) => row[name] ?? null).find((id) => id !== null) ?? null;
  return Object.fromEntries(places.map(([name, fields]) => [name, first(fields)]));
}

/** @throws Refused, TrytonError */
export async function moveValues(
  books: Books,
  document: ShipmentDocument,
  addressed?: Addressed,
): Promise<object[]> {
  const { config, lookup, tryton } = books;
  const kind = KINDS[document.type];
  const party = addressed ?? (await partyFor(books, document.party));
  const theirs = await field(books, "party.party", party.id, kind.partyLocation);
  const warehouse = await lookup.location(config.warehouse);
  const ours = await field(books, "stock.location", warehouse, kind.ourLocation);
  const [from_location, to_location] = document.type === "out" ? [ours, theirs] : [theirs, ours];
  const lines = await orderLines(books, document);
  const { moveUnit } = await tryton.release();
  const values: object[] = [];
  for (const line of document.lines) {
    const product = await lookup.product(line.product);
    const ordered = lines.find((row) => row.product === product.id);
    values.push({
      company: (await tryton.session()).company,
      product: product.id,
      quantity: float(line.quantity),
      [moveUnit]: (await lookup.unit(line.unit)).id,
      from_location,
      to_location,
      // For the value of the stock only: what is billed is the platform's invoice.
      unit_price: ordered === undefined ? Decimal.zero : exact(ordered.unit_price),
      currency: await lookup.currency(config.currency),
      ...(ordered === undefined ? {} : { origin: `${kind.order}.line,${ordered.id}` }),
    });
  }
  return values;
}

interface OrderLine {
  readonly id: number;
  readonly product: number | null;
  readonly unit_price: Decimal | number;
}

/** Of the ticket's order. None for one of the other kind: what we sell, somebody else delivers. */
async function orderLines(
  { tryton }: Books,
  { type, order }: ShipmentDocument,
): Promise<readonly OrderLine[]> {
  const { order: kind } = KINDS[type];
  const named = order === null ? null : orderIn(order);
  if (named?.type !== kind) return [];
  const which =
    named.draft === null ? [`${kind}.number`, "=", named.number] : [kind, "=", named.draft];
  const lines = await tryton.call<(OrderLine & Record<string, { comment: string | null }>)[]>(
    `model.${kind}.line.search_read`,
    [
      [[`${kind}.company`, "=", (await tryton.session()).company], which, ["type", "=", "line"]],
      0,
      null,
      [["id", "ASC"]],
      ["product", "unit_price", `${kind}.comment`],
    ],
  );
  const [first] = lines;
  const whose = first === undefined ? null : platformIdIn(first[`${kind}.`]?.comment ?? null);
  if (first !== undefined && (named.platformId === null || whose === named.platformId))
    return lines;
  const name = `${kind} ${named.number ?? `#${named.draft}`}`;
  throw new Refused({
    code: "not-in-tryton",
    message:
      first === undefined
        ? `Tryton has no ${name}, which the ticket is of`
        : `the ${name} in Tryton is not the order that the ticket is of: its number was given again`,
    next: "Deliver the order again, or restore it in Tryton; then retry.",
    field: "order",
  });
}

async function field(books: Books, model: string, id: number, name: string): Promise<number> {
  const method = `model.${model}.read`;
  const [row] = await books.tryton.call<[Record<string, number>]>(method, [[id], [name]]);
  return row[name] as number;
}
