/** A delivery ticket as a shipment that Tryton's server takes. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { ShipmentDocument } from "../../src/books/documents.ts";
import { platformIdIn } from "../../src/books/marks.ts";
import { orderIn } from "../../src/books/orders.ts";
import type { Addressed } from "./parties.ts";
import { ofCompany, rowOf, rowsOf } from "./search.ts";
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

type ShipmentValues = Readonly<Record<string, unknown>>;

/** @throws Refused, TrytonError */
export async function shipmentValues(
  books: Books,
  document: ShipmentDocument,
  party: Addressed,
): Promise<ShipmentValues> {
  const { party: field, address, moves } = KINDS[document.type];
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
    [moves]: [["create", await moveValues(books, document, party.id, warehouse)]],
  };
}

/** What clients fill in of the warehouse. @throws TrytonError */
async function placesOf(books: Books, type: ShipmentDocument["type"], warehouse: number) {
  const places = Object.entries((await books.tryton.release()).places[type]);
  if (places.length === 0) return {};
  const fields = places.flatMap(([, names]) => names).join(" ");
  const row = await rowOf<Places>(books, "stock.location", warehouse, fields);
  const first = (names: readonly string[]) =>
    names.map((name) => row[name] ?? null).find((id) => id !== null) ?? null;
  return Object.fromEntries(places.map(([name, names]) => [name, first(names)]));
}

type Places = Readonly<Record<string, number | null>>;

async function moveValues(
  books: Books,
  document: ShipmentDocument,
  party: number,
  warehouse: number,
): Promise<object[]> {
  const { config, lookup, tryton } = books;
  const { order, partyLocation, ourLocation } = KINDS[document.type];
  const its = await rowOf<Places>(books, "party.party", party, partyLocation);
  const own = await rowOf<Places>(books, "stock.location", warehouse, ourLocation);
  const [theirs, ours] = [its[partyLocation], own[ourLocation]];
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
      ...(ordered === undefined ? {} : { origin: `${order}.line,${ordered.id}` }),
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
  books: Books,
  { type, order }: ShipmentDocument,
): Promise<readonly OrderLine[]> {
  const { order: kind } = KINDS[type];
  const named = order === null ? null : orderIn(order);
  if (named?.side !== kind) return [];
  const which =
    named.id === null ? [`${kind}.number`, "=", named.number] : [kind, "=", Number(named.id)];
  const lines = await rowsOf<OrderLine & Record<string, { comment: string | null }>>(
    books,
    `${kind}.line`,
    [await ofCompany(books, `${kind}.company`), which, ["type", "=", "line"]],
    `product unit_price ${kind}.comment`,
  );
  const [first] = lines;
  const whose = first === undefined ? null : platformIdIn(first[`${kind}.`]?.comment ?? null);
  if (first !== undefined && (named.platformId === null || whose === named.platformId))
    return lines;
  const name = `${kind} ${named.number ?? `#${named.id}`}`;
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
