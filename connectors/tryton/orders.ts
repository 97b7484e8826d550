/**
 * Orders into Tryton: sales to customers and purchases from suppliers, each once.
 *
 * Tryton invoices nothing of them (`invoice_method` manual): the platform's invoice is the one that is booked. Nor does
 * it plan their delivery: see orders-expected.ts.
 */
import { z } from "zod";
import { singleSink } from "../../src/books/single.ts";
import type { Sink } from "../../src/core/contract.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Books, policyOf } from "./books.ts";
import { OrderDocument } from "../../src/books/documents.ts";

import { markOf, orderIn, platformIdIn } from "./marks.ts";
import { closeExpected, isExpected } from "./orders-expected.ts";
import { findParty, partyFor } from "./parties.ts";
import { fieldsIn } from "./search.ts";
import { reading, TRYTON } from "./errors.ts";
import { turnedOrder } from "./turned.ts";
import { day, exact, float } from "./values.ts";

export const orderSink = (books: Books): Sink =>
  singleSink<OrderDocument, Booked>({
    operation: "order.book",
    target: "orders",
    ended: "cancelled",
    policy: policyOf(books),
    errors: TRYTON.errors,
    frozen: ({ document, counterpart }): Wanted => ({
      document: OrderDocument.parse(document),
      counterpart,
    }),
    wantedIn: (item) => Wanted.parse(item),
    turned: ({ document, counterpart }) => turnedOrder(books, document, counterpart),
    look: (wanted) => look(books, wanted),
    create: async (document) => read(books, document, await create(books, document)),
    bringTo: async (document, standing) => {
      await bringTo(books, document, standing);
      return read(books, document, standing.id);
    },
    faultOf,
    isFinal: (document, standing) => isFinal(books, document, standing),
    idOf,
    told: (document, standing) => `${nameOf(document, standing)} ${standing.state}`,
    several,
    absent: ({ number }) => `there is no order ${number}`,
    conflict,
    missing: (ids, signal) => reading(() => missing(books, ids, signal)),
  });

const Wanted = z.object({ document: OrderDocument, counterpart: z.string().nullable() });
type Wanted = z.infer<typeof Wanted>;

/** An order as it stands in Tryton. */
interface Booked {
  readonly id: number;
  readonly number: string | null;
  readonly state: "draft" | "quotation" | "confirmed" | "processing" | "done" | "cancelled";
  readonly invoice_method: string;
  readonly party: number;
  readonly comment: string | null;
  readonly reference: string | null;
  readonly "lines.": readonly {
    readonly id: number;
    readonly quantity: Decimal | number;
    readonly unit_price: Decimal | number;
    readonly "product.": { readonly code: string | null } | null;
    readonly "unit.": { readonly symbol: string } | null;
  }[];
}

const FIELDS = fieldsIn(`
  number state invoice_method party comment reference
  lines(quantity unit_price product.code unit.symbol)
`);

const modelOf = { sale: "sale.sale", purchase: "purchase.purchase" } as const;

/** `sale 12`, `purchase #5` (a draft has no number): both kinds count from 1, and a name must be of one of them. */
const nameOf = ({ type }: OrderDocument, { number, id }: Booked): string =>
  `${type} ${number ?? `#${id}`}`;

/** `sale 12 platform:0b6f…`; without the mark where a person entered it: see {@link orderIn}. */
const idOf = (document: OrderDocument, standing: Booked): string =>
  platformIdIn(standing.comment) === document.id
    ? `${nameOf(document, standing)} ${markOf(document.id)}`
    : nameOf(document, standing);

/** @throws TrytonError */
async function missing(
  { tryton }: Books,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const there = new Set<string>();
  const { company } = await tryton.session();
  for (const type of ["sale", "purchase"] as const) {
    const asked = ids.flatMap((id) => orderIn(id) ?? []).filter((order) => order.type === type);
    if (asked.length === 0) continue;
    const numbers = asked.flatMap(({ number }) => number ?? []);
    const drafts = asked.flatMap(({ draft }) => draft ?? []);
    const named = ["OR", ["number", "in", numbers], ["id", "in", drafts]];
    const rows = await tryton.call<Pick<Booked, "id" | "number" | "state" | "comment">[]>(
      `model.${modelOf[type]}.search_read`,
      [[["company", "=", company], named], 0, null, null, ["number", "state", "comment"]],
      { signal },
    );
    for (const { id, number, state, comment } of rows) {
      // What has its number was confirmed: one that is open again is of books set back to before that.
      const names = [`#${id}`, ...(OPEN.includes(state) ? [] : [number])];
      const mark = platformIdIn(comment);
      for (const name of names) {
        there.add(`${type} ${name}`);
        if (mark !== null) there.add(`${type} ${name} ${markOf(mark)}`);
      }
    }
  }
  return ids.filter((id) => !there.has(id));
}

const several = (found: readonly Booked[]): string =>
  `Tryton has it ${found.length} times: ${found.map(({ number, id }) => number ?? `#${id}`).join(", ")}`;

/** `detail`: why the one that is there cannot be taken for it. @throws TrytonError, Refused */
async function look(
  books: Books,
  { document, counterpart }: Wanted,
): Promise<{ found: readonly Booked[]; detail: string | null }> {
  const model = modelOf[document.type];
  const number = (counterpart === null ? null : orderIn(counterpart)?.number) ?? null;
  const rows = await books.tryton.call<Booked[]>(`model.${model}.search_read`, [
    [
      ["company", "=", (await books.tryton.session()).company],
      [
        "OR",
        ["comment", "=", markOf(document.id)],
        ["reference", "=", document.number],
        ...(number === null ? [] : [["number", "=", number]]),
      ],
    ],
    0,
    null,
    [["id", "ASC"]],
    FIELDS,
  ]);
  const marked = rows.filter(({ comment }) => platformIdIn(comment) === document.id);
  // What a person entered before us is taken for it, when it says the same; another document's is not, though books
  // that were restored have given it our number.
  const entered = rows.filter(({ comment }) => platformIdIn(comment) === null);
  const known = entered.filter((row) => row.number !== null && row.number === number);
  const found = marked.length > 0 ? marked : known.length > 0 ? known : entered;
  const party = found.length === 0 ? null : await findParty(books, document.party);
  const ours = found.filter((row) => row.party === party?.id);
  if (found === entered) {
    const invoiced = ours.find((row) => !OPEN.includes(row.state) && row.invoice_method !== MANUAL);
    if (invoiced !== undefined)
      return { found: [], detail: `${nameOf(document, invoiced)} is invoiced by Tryton itself` };
    const other = ours.find((row) => row.state !== "cancelled" && !hasSame(document, row));
    return other === undefined
      ? { found: ours.filter((row) => row.state !== "cancelled"), detail: null }
      : { found: [], detail: `${nameOf(document, other)} has this reference and other lines` };
  }
  const [stranger] = found.filter((row) => !ours.includes(row));
  if (stranger === undefined) return { found, detail: null };
  const detail = `${nameOf(document, stranger)} is of another party than ${document.party.code}`;
  return { found: [], detail };
}

async function create(books: Books, document: OrderDocument): Promise<number> {
  const { tryton, config, lookup } = books;
  const party = await partyFor(books, document.party);
  const { type, date, number, description } = document;
  const values = {
    company: (await tryton.session()).company,
    party: party.id,
    invoice_address: party.address,
    currency: await lookup.currency(config.currency),
    warehouse: await lookup.location(config.warehouse),
    ...methodsOf(document),
    ...(type === "sale" ? { shipment_address: party.address } : {}),
    ...(date === null ? {} : { [`${type}_date`]: day(date) }),
    reference: number,
    description: description?.replaceAll(/\s+/g, " ") ?? null,
    comment: markOf(document.id),
    lines: [["create", await lineValues(books, document)]],
  };
  const [id] = await tryton.call<[number]>(`model.${modelOf[type]}.create`, [[values]]);
  return id;
}

const MANUAL = "manual";

const methodsOf = ({ type }: OrderDocument): object => ({
  invoice_method: MANUAL,
  ...(type === "sale" ? { shipment_method: MANUAL } : {}),
});

async function lineValues({ lookup }: Books, { lines }: OrderDocument): Promise<object[]> {
  const values: object[] = [];
  for (const { product, quantity, unit, unitPrice, description } of lines)
    values.push({
      type: "line",
      product: (await lookup.product(product)).id,
      quantity: float(quantity),
      unit: (await lookup.unit(unit)).id,
      unit_price: unitPrice,
      description,
    });
  return values;
}

async function read(books: Books, { type }: OrderDocument, id: number): Promise<Booked> {
  const method = `model.${modelOf[type]}.read`;
  const [row] = await books.tryton.call<[Booked]>(method, [[id], FIELDS]);
  return row;
}

const OPEN: readonly string[] = ["draft", "quotation"];

/** Line by line what the document says; the words beside it do not count. */
const hasSame = ({ lines }: OrderDocument, standing: Booked): boolean =>
  lines.length === standing["lines."].length &&
  lines.every((line, at) => {
    const row = standing["lines."][at];
    return (
      row !== undefined &&
      row["product."]?.code === line.product &&
      row["unit."]?.symbol === line.unit &&
      exact(row.quantity).equals(line.quantity) &&
      exact(row.unit_price).equals(line.unitPrice)
    );
  });

/** What only a person can decide. */
function faultOf(document: OrderDocument, standing: Booked): Refused | null {
  const what = nameOf(document, standing);
  if (document.status === "cancelled" && ![...OPEN, "cancelled"].includes(standing.state))
    return refused(
      "cancelled-after-confirmation",
      `the order is cancelled on the platform, and ${what} in Tryton is ${standing.state}: Tryton cancels it no more`,
      "Settle it with the other side, close what is left of it in Tryton by hand, then resolve it here.",
    );
  if (document.status !== "cancelled" && standing.state === "cancelled")
    return refused(
      "cancelled-in-tryton",
      `${what} was cancelled in Tryton, and on the platform it is ${document.status}`,
      "Cancel it on the platform too, or set it back to draft in Tryton and retry.",
    );
  if (
    !OPEN.includes(standing.state) &&
    standing.state !== "cancelled" &&
    !hasSame(document, standing)
  )
    return refused(
      "changed-after-confirmation",
      `the lines of ${what} are not those of the platform's order any more, and Tryton has it ${standing.state}`,
      "Correct the order in Tryton by hand, or enter the difference as another one; then resolve it here.",
    );
  return null;
}

async function isFinal(books: Books, document: OrderDocument, standing: Booked): Promise<boolean> {
  if (document.status === "cancelled") return standing.state === "cancelled";
  if (!hasSame(document, standing)) return false;
  if (document.status === "draft") return true;
  return !OPEN.includes(standing.state) && !(await isExpected(books, document.type, standing.id));
}

/** @throws Refused, TrytonError */
async function bringTo(books: Books, document: OrderDocument, standing: Booked): Promise<void> {
  const fault = faultOf(document, standing);
  if (fault !== null) throw fault;
  const model = `model.${modelOf[document.type]}`;
  const press = (button: string) => books.tryton.call(`${model}.${button}`, [[standing.id]]);
  if (document.status === "cancelled") {
    if (standing.state !== "cancelled") await press("cancel");
    return;
  }
  if (!hasSame(document, standing)) {
    if (standing.state === "quotation") await press("draft");
    const old = standing["lines."].map(({ id }) => id);
    const lines = [
      ["delete", old],
      ["create", await lineValues(books, document)],
    ];
    await books.tryton.call(`${model}.write`, [[standing.id], { lines }]);
  }
  if (document.status === "draft") return;
  if (OPEN.includes(standing.state)) {
    if (standing.invoice_method !== MANUAL)
      await books.tryton.call(`${model}.write`, [[standing.id], methodsOf(document)]);
    await press("quote");
    await press("confirm");
  }
  await closeExpected(books, document.type, standing.id);
}

const conflict = ({ number }: OrderDocument, detail: string): Refused =>
  refused(
    "another-order",
    `order ${number} cannot be told from another in Tryton: ${detail}`,
    "Give the other order another reference in Tryton, or cancel it there; then retry.",
  );

const refused = (code: string, message: string, next: string): Refused =>
  new Refused({ code, message, next });
