/**
 * An order or a ticket that the platform has turned round since it was booked: a sale that is a purchase now, a delivery
 * that is a receipt, or the reverse. Both are of one kind for the engine, so it is their sinks that see that Tryton has
 * the first one still. A second one is not booked beside it: a person decides (ADR 0018).
 */
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/books/documents.ts";
import { markOf, orderIn, platformIdIn } from "./marks.ts";
import { ticketsOf } from "./shipments-notes.ts";
import { KINDS } from "./shipments-values.ts";

/**
 * The refusal where the order stands in Tryton as the other kind, by its mark, or by its link where a person had entered
 * it. Null: it does not, or it is cancelled. @throws TrytonError
 */
export async function turnedOrder(
  { tryton }: Books,
  { id, number, type }: OrderDocument,
  counterpart: string | null,
): Promise<Refused | null> {
  const other = type === "sale" ? "purchase" : "sale";
  const named = counterpart === null ? null : orderIn(counterpart);
  const entered = named?.type === other && named.platformId === null ? named : null;
  const domain = [
    ["company", "=", (await tryton.session()).company],
    NOT_CANCELLED,
    [
      "OR",
      ["comment", "like", `%${markOf(id)}%`],
      ...(entered?.number ? [["number", "=", entered.number]] : []),
      ...(entered?.draft ? [["id", "=", entered.draft]] : []),
    ],
  ];
  const rows = await tryton.call<{ id: number; number: string | null; comment: string | null }[]>(
    `model.${other}.${other}.search_read`,
    [domain, 0, null, [["id", "ASC"]], ["number", "comment"]],
  );
  const whose = (comment: string | null): string => platformIdIn(comment) ?? id;
  const first = rows.find(({ comment }) => whose(comment) === id);
  if (first === undefined) return null;
  const name = `${other} ${first.number ?? `#${first.id}`}`;
  const mark = `${markOf(id)} out of its comment`;
  return turned(`order ${number} is booked in Tryton as ${name}`, type, name, mark);
}

/** The same for a ticket, by its number and the note with its mark. @throws TrytonError */
export async function turnedShipment(
  books: Books,
  { id, number, type }: ShipmentDocument,
): Promise<Refused | null> {
  const other = type === "out" ? "in" : "out";
  const { company } = await books.tryton.session();
  const domain = [["company", "=", company], ["number", "=", number], NOT_CANCELLED];
  const method = `model.${KINDS[other].model}.search`;
  const ids = await books.tryton.call<number[]>(method, [domain, 0, null, null]);
  const owners = await ticketsOf(
    books,
    other,
    ids.map((one) => ({ id: one })),
  );
  if (![...owners.values()].some((tickets) => tickets.includes(id))) return null;
  const name = `${WORDS[other]} ${number}`;
  const mark = `the note with ${markOf(id)} away`;
  return turned(`ticket ${number} is booked in Tryton as ${name}`, WORDS[type], name, mark);
}

const NOT_CANCELLED = ["state", "!=", "cancelled"];

const WORDS = { out: "customer shipment", in: "supplier shipment" } as const;

const turned = (booked: string, is: string, name: string, mark: string): Refused =>
  new Refused({
    code: "turned",
    message: `${booked}; the platform now says ${is}`,
    next: `If the platform is right, cancel ${name} in Tryton, or where it cannot be cancelled take ${mark}; then retry: it is booked as ${is}. If not, correct it on the platform, and resolve this.`,
  });
