/**
 * What Tryton expects to be moved for an order, and why it is told not to. What moves is what the tickets say, net
 * gallons as they were measured, in one load or in several: never what was ordered. Left alone, Tryton would keep a
 * purchase open, and reopen a sale, until the very quantity that was ordered has moved, and plan a second shipment of
 * the 1.3 gallons between both.
 *
 * So the move that is expected of each line is cancelled and ignored, as a person does with a remainder that will not
 * come. Tickets then move whatever they say under the order's line, and the order is done all the same. For a sale
 * Tryton plans nothing itself (`shipment_method` manual); the move that is ignored is made for the purpose.
 */
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { rowsOf } from "./search.ts";
import { exact, float } from "./values.ts";
import { wizard } from "./wizard.ts";

type Type = "sale" | "purchase";

interface LineRow {
  readonly id: number;
  readonly quantity: Decimal | number;
  readonly unit: number;
  readonly unit_price: Decimal | number;
  readonly from_location: number;
  readonly to_location: number;
  readonly product: number;
  readonly "product.": { readonly type: string };
  readonly moves_ignored: readonly number[];
  readonly "moves.": readonly {
    readonly id: number;
    readonly state: string;
    readonly shipment: string | null;
  }[];
}

const FIELDS = `
  quantity unit unit_price from_location to_location product product.type moves_ignored
  moves(state shipment)
`;

/** Does Tryton still expect anything for a confirmed order? @throws TrytonError */
export async function isExpected(books: Books, type: Type, order: number): Promise<boolean> {
  const isAfter = (await books.tryton.release()).ignores === "after";
  return (await linesOf(books, type, order)).some(
    (line) =>
      pending(line).length > 0 ||
      lacksIgnored(type, line) ||
      (isAfter && unignored(line).length > 0),
  );
}

/** @throws TrytonError */
export async function closeExpected(books: Books, type: Type, order: number): Promise<void> {
  const { ignores } = await books.tryton.release();
  if (ignores === "after") await cancelThenIgnore(books, type, order);
  else await ignoreThenCancel(books, type, order);
}

async function ignoreThenCancel(books: Books, type: Type, order: number): Promise<void> {
  const { tryton } = books;
  const lines = await linesOf(books, type, order);
  const writes: unknown[] = [];
  for (const line of lines) {
    const ignored = pending(line).filter((id) => !line.moves_ignored.includes(id));
    if (ignored.length > 0) writes.push([line.id], { moves_ignored: [["add", ignored]] });
    else if (lacksIgnored(type, line))
      writes.push([line.id], { moves_ignored: [["create", [await moveValues(books, line)]]] });
  }
  // Ignored first: a cancelled move that is not ignored puts the order in an exception.
  if (writes.length > 0) await tryton.call(`model.${type}.line.write`, writes);
  const left = writes.length > 0 ? await linesOf(books, type, order) : lines;
  const cancelled = left.flatMap(pending);
  if (cancelled.length > 0) await tryton.call("model.stock.move.cancel", [cancelled]);
}

/** As people do: the order is in an exception while a cancelled move is not ignored. */
async function cancelThenIgnore(books: Books, type: Type, order: number): Promise<void> {
  const { tryton } = books;
  const moves: object[] = [];
  for (const line of await linesOf(books, type, order))
    if (lacksIgnored(type, line) && pending(line).length + unignored(line).length === 0)
      moves.push(await moveValues(books, line));
  if (moves.length > 0) await tryton.call("model.stock.move.create", [moves]);
  const cancelled = (await linesOf(books, type, order)).flatMap(pending);
  if (cancelled.length > 0) await tryton.call("model.stock.move.cancel", [cancelled]);
  const ids = (await linesOf(books, type, order)).flatMap(unignored);
  if (ids.length === 0) return;
  const record = [`${type}.${type}`, order] as const;
  await wizard(tryton, `${type}.handle.shipment.exception`, record, async (execute) => {
    const ask = { domain_moves: ids, ignore_moves: ids, recreate_moves: [] };
    await execute({ ask }, "handle");
  });
}

function linesOf(books: Books, type: Type, order: number): Promise<LineRow[]> {
  const domain = [
    [type, "=", order],
    ["type", "=", "line"],
    ["product.type", "=", "goods"],
  ];
  return rowsOf<LineRow>(books, `${type}.line`, domain, FIELDS);
}

/** Moves that Tryton planned and nobody has put into a shipment. */
const pending = (line: LineRow): number[] =>
  line["moves."]
    .filter(({ state, shipment }) => state === "draft" && shipment === null)
    .map(({ id }) => id);

/** Moves that were cancelled, and that the order still counts. */
const unignored = (line: LineRow): number[] =>
  line["moves."]
    .filter(
      ({ id, state, shipment }) =>
        state === "cancelled" && shipment === null && !line.moves_ignored.includes(id),
    )
    .map(({ id }) => id);

const lacksIgnored = (type: Type, line: LineRow): boolean =>
  type === "sale" && line.moves_ignored.length === 0;

async function moveValues({ tryton, config, lookup }: Books, line: LineRow): Promise<object> {
  return {
    company: (await tryton.session()).company,
    origin: `sale.line,${line.id}`,
    product: line.product,
    quantity: float(exact(line.quantity)),
    [(await tryton.release()).moveUnit]: line.unit,
    from_location: line.from_location,
    to_location: line.to_location,
    unit_price: exact(line.unit_price),
    currency: await lookup.currency(config.currency),
  };
}
