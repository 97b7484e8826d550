/**
 * Delivery tickets into Tryton: customer shipments and supplier shipments, each once, under the ticket's own number.
 *
 * A ticket's moves belong to the lines of its order where it has one. They may be less than was ordered, or more, or
 * one of several loads: nothing is planned for the difference, and the order stays done, for what Tryton expected of it
 * was closed when the order was booked (orders-expected.ts).
 */
import { singleSink } from "../../src/books/single.ts";
import type { Item, Sink } from "../../src/core/contract.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { accept } from "./invoice-steps.ts";
import { type Books, policyOf } from "./books.ts";
import { ShipmentDocument } from "../../src/books/documents.ts";
import { markOf } from "./marks.ts";
import { findParty } from "./parties.ts";
import { buttonIn } from "./release.ts";
import { isNoted, note, ticketsOf } from "./shipments-notes.ts";
import { KINDS, moveValues, shipmentValues } from "./shipments-values.ts";
import { reading, TRYTON, TrytonError } from "./errors.ts";
import { turnedShipment } from "./turned.ts";
import { exact } from "./values.ts";

export const shipmentSink = (books: Books): Sink =>
  singleSink<ShipmentDocument, Booked>({
    operation: "shipment.book",
    target: "shipments",
    ended: "void",
    policy: policyOf(books),
    errors: TRYTON.errors,
    frozen,
    wantedIn: (item) => ({ document: ShipmentDocument.parse(item), counterpart: null }),
    turned: ({ document }) => turnedShipment(books, document),
    look: ({ document }) => look(books, document),
    create: async (document) => readOne(books, document, await create(books, document)),
    bringTo: (document, standing) => bringTo(books, document, standing),
    faultOf,
    isFinal,
    isNoted: (document, standing) => isNoted(books, document, standing),
    idOf,
    told: ({ number }, { state }) => `${number} ${state}`,
    several,
    absent: ({ number }) => `there is no shipment ${number}`,
    conflict,
    missing: (ids, signal) => reading(() => missing(books, ids, signal)),
  });

/** @throws Refused for a line that moves nothing: Tryton would drop it silently */
function frozen({ document }: Item): ShipmentDocument {
  const shipment = ShipmentDocument.parse(document);
  const empty = shipment.lines.find(({ quantity }) => quantity.sign <= 0);
  if (empty !== undefined)
    throw new Refused({
      code: "no-gallons",
      message: `the line of ${empty.product} moves ${empty.quantity.text} ${empty.unit}`,
      next: "Correct the net gallons on the platform's ticket, or void it; the corrected version is delivered by itself.",
      field: "quantity",
    });
  return shipment;
}

type State =
  "draft" | "waiting" | "assigned" | "picked" | "packed" | "received" | "done" | "cancelled";

/** A shipment as it stands in Tryton. */
interface Booked {
  readonly id: number;
  readonly state: State;
  readonly party: number;
  readonly reference: string | null;
  readonly date: string | null;
  /** Those that cross our border; the others are between our own places. */
  readonly moves: readonly Move[];
}

interface Move {
  readonly id: number;
  readonly state: string;
  readonly quantity: Decimal | number;
  /** `sale.line,12` */
  readonly origin: string | null;
  readonly "product.": { readonly code: string | null };
  readonly "unit.": { readonly symbol: string };
}

/**
 * `DT-1001 done platform:1c2d…`: its number, what it was brought to, and whose it is. Books that were restored may have
 * it as it was before, or another one under its number.
 */
const idOf = ({ number, status, id }: Pick<ShipmentDocument, "number" | "status" | "id">): string =>
  `${number} ${status} ${markOf(id)}`;

/** Before they said more, ids were the number. */
const ID = /^(.+) (?:waiting|done|cancelled) platform:\S+$/;

/** @throws TrytonError */
async function missing(
  books: Books,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const there = new Set<string>();
  const domain = [
    ["company", "=", (await books.tryton.session()).company],
    ["number", "in", ids.map((id) => ID.exec(id)?.[1] ?? id)],
  ];
  for (const type of ["out", "in"] as const) {
    const rows = await books.tryton.call<{ id: number; number: string; state: State }[]>(
      `model.${KINDS[type].model}.search_read`,
      [domain, 0, null, null, ["number", "state"]],
      { signal },
    );
    const owners = await ticketsOf(books, type, rows);
    for (const { id, number, state } of rows) {
      there.add(number);
      for (const status of statusesOf(type, state))
        for (const ticket of owners.get(id) ?? []) there.add(idOf({ number, status, id: ticket }));
    }
  }
  return ids.filter((id) => !there.has(id));
}

/** What a ticket may have said to bring it there. Not what a person cancelled since then: that is not lost. */
function statusesOf(type: ShipmentDocument["type"], state: State): ShipmentDocument["status"][] {
  if (state === "cancelled") return ["waiting", "done", "cancelled"];
  if (state === "done") return ["waiting", "done"];
  return type === "out" && state === "draft" ? [] : ["waiting"];
}

const several = (found: readonly Booked[]): string =>
  `Tryton has it ${found.length} times (${found.map(({ id }) => `#${id}`).join(", ")})`;

/** `detail`: why the one that is there cannot be taken for it. @throws TrytonError, Refused */
async function look(
  books: Books,
  document: ShipmentDocument,
): Promise<{ found: readonly Booked[]; detail: string | null }> {
  const { tryton } = books;
  const { model } = KINDS[document.type];
  const domain = [
    ["company", "=", (await tryton.session()).company],
    ["number", "=", document.number],
  ];
  const ids = await tryton.call<number[]>(`model.${model}.search`, [domain, 0, null, null]);
  if (ids.length === 0) return { found: [], detail: null };
  const standings = await read(books, document, ids);
  const party = await findParty(books, document.party);
  const found: Booked[] = [];
  for (const standing of standings) {
    const tickets = (await ticketsOf(books, document.type, [standing])).get(standing.id) ?? [];
    const own = tickets.includes(document.id);
    const taken = tickets.length > 0 && !own;
    const detail = `${model} ${document.number} (#${standing.id})`;
    if (taken) return { found: [], detail: `${detail} is of another ticket of the platform` };
    if (standing.party !== party?.id)
      return { found: [], detail: `${detail} is of another party than ${document.party.code}` };
    // Made by us and cut off before its note, or by a person: it is ours when it says the same.
    if (!own && !hasSame(document, standing))
      return { found: [], detail: `${detail} has other quantities, date or reference` };
    found.push(standing);
  }
  return { found, detail: null };
}

async function create(books: Books, document: ShipmentDocument): Promise<number> {
  const values = await shipmentValues(books, document);
  const method = `model.${KINDS[document.type].model}.create`;
  const [id] = await books.tryton.call<[number]>(method, [[values]]);
  return id;
}

async function read(
  { tryton }: Books,
  { type }: ShipmentDocument,
  ids: readonly number[],
): Promise<Booked[]> {
  const { model, moves, party } = KINDS[type];
  const { moveUnit } = await tryton.release();
  const parts = ["state", "quantity", "origin", "product.code", `${moveUnit}.symbol`];
  const fields = ["state", party, "reference", "effective_date"];
  const rows = await tryton.call<Record<string, unknown>[]>(`model.${model}.read`, [
    ids,
    [...fields, ...parts.map((part) => `${moves}.${part}`)],
  ]);
  return rows.map((row) => ({
    id: row["id"] as number,
    state: row["state"] as State,
    party: row[party] as number,
    reference: row["reference"] as string | null,
    date: row["effective_date"] as string | null,
    moves: (row[`${moves}.`] as (Move & Record<string, unknown>)[])
      .map((move) => ({ ...move, "unit.": move[`${moveUnit}.`] as Move["unit."] }))
      .toSorted((a, b) => a.id - b.id),
  }));
}

const readOne = async (books: Books, document: ShipmentDocument, id: number): Promise<Booked> =>
  (await read(books, document, [id]))[0] as Booked;

function hasSame(document: ShipmentDocument, { reference, date, moves }: Booked): boolean {
  return (
    reference === document.reference &&
    (document.date === null || date === document.date) &&
    moves.length === document.lines.length &&
    document.lines.every((line, at) => {
      const move = moves[at];
      return (
        move?.["product."].code === line.product &&
        move["unit."].symbol === line.unit &&
        exact(move.quantity).equals(line.quantity)
      );
    })
  );
}

/** From these a person can still go back, and so can we. */
const OPEN: readonly State[] = ["draft", "waiting", "assigned"];

/** What only a person can decide. */
function faultOf(document: ShipmentDocument, standing: Booked): Refused | null {
  const { number, status } = document;
  if (status === "cancelled" && standing.state === "done")
    return refused(
      "void-after-delivery",
      `ticket ${number} is void on the platform, and its shipment in Tryton is done`,
      "Book the return in Tryton by hand, then resolve it here.",
    );
  if (status !== "cancelled" && standing.state === "cancelled")
    return refused(
      "cancelled-in-tryton",
      `shipment ${number} was cancelled in Tryton, and the ticket is not void`,
      "Void the ticket on the platform too, or give the cancelled shipment another number; then retry.",
    );
  if (status !== "cancelled" && !OPEN.includes(standing.state) && !hasSame(document, standing))
    return refused(
      "changed-after-delivery",
      `ticket ${number} says other quantities, date or reference than its shipment in Tryton, which is ${standing.state}`,
      "Correct the stock in Tryton by hand, then resolve it here.",
    );
  return null;
}

function isFinal(document: ShipmentDocument, standing: Booked): boolean {
  if (document.status === "cancelled") return standing.state === "cancelled";
  if (!hasSame(document, standing)) return false;
  if (document.status === "done") return standing.state === "done";
  return document.type === "in" || standing.state !== "draft";
}

/** Each button leads from one state to the next. What moved has moved, whatever Tryton takes the stock to be. */
const BUTTONS: Readonly<Record<ShipmentDocument["type"], Partial<Record<State, string>>>> = {
  out: { draft: "wait", waiting: "assign", assigned: "pick", picked: "pack", packed: "end" },
  in: { draft: "receive", received: "end" },
};

/** @throws Refused, TrytonError */
async function bringTo(books: Books, document: ShipmentDocument, before: Booked): Promise<Booked> {
  const fault = faultOf(document, before);
  if (fault !== null) throw fault;
  const press = async (button: string, { id }: Booked): Promise<Booked> => {
    await pressed(books, document, button, id);
    return readOne(books, document, id);
  };
  if (document.status === "cancelled") {
    if (!(await isNoted(books, document, before))) await note(books, document, before);
    if (before.state === "cancelled") return before;
    await ignoreMoves(books, before);
    return press("cancel", before);
  }
  let standing = before;
  if (!hasSame(document, standing)) {
    if (standing.state === "assigned") standing = await press("wait", standing);
    if (standing.state === "waiting") standing = await press("draft", standing);
    await rewrite(books, document, standing);
    standing = await readOne(books, document, standing.id);
  }
  if (!(await isNoted(books, document, standing))) await note(books, document, standing);
  while (!isFinal(document, standing)) {
    const button = BUTTONS[document.type][standing.state];
    const after = button === undefined ? standing : await press(button, standing);
    if (after.state === standing.state) break;
    standing = after;
  }
  return standing;
}

/** @throws TrytonError */
async function pressed(
  books: Books,
  { type }: ShipmentDocument,
  button: string,
  id: number,
): Promise<void> {
  const { tryton } = books;
  const method = `model.${KINDS[type].model}.${buttonIn(await tryton.release(), button)}`;
  try {
    await tryton.call(method, [[id]]);
  } catch (error) {
    if (!(error instanceof TrytonError) || error.warning === undefined) throw error;
    if (!NO_ORIGIN.test(error.message)) throw error;
    await accept(books, [error.warning]);
    await tryton.call(method, [[id]]);
  }
}

/** Tryton's question about a move without an order: a ticket may have none, or a product that nobody ordered. */
const NO_ORIGIN = /have no origin/;

async function rewrite(books: Books, document: ShipmentDocument, { id, moves }: Booked) {
  const { model, moves: field } = KINDS[document.type];
  const { reference, effective_date } = await shipmentValues(books, document);
  const values = {
    reference,
    effective_date,
    [field]: [
      ["delete", moves.map((move) => move.id)],
      ["create", await moveValues(books, document)],
    ],
  };
  await books.tryton.call(`model.${model}.write`, [[id], values]);
}

/**
 * A cancelled move that its order does not ignore puts the order in an exception. Where it can be ignored only
 * afterwards, it is made no move of the order any more: the note says which ticket it was.
 */
async function ignoreMoves({ tryton }: Books, { moves }: Booked): Promise<void> {
  const ofOrders = moves.filter(({ origin }) => /^(?:sale|purchase)\.line,/.test(origin ?? ""));
  if (ofOrders.length === 0) return;
  if ((await tryton.release()).ignores === "after") {
    const ids = ofOrders.map(({ id }) => id);
    await tryton.call("model.stock.move.write", [ids, { origin: null }]);
    return;
  }
  for (const { id, origin } of ofOrders) {
    const [model, line] = origin?.split(",") ?? [];
    await tryton.call(`model.${model}.write`, [[Number(line)], { moves_ignored: [["add", [id]]] }]);
  }
}

const conflict = ({ number }: ShipmentDocument, detail: string): Refused =>
  refused(
    "another-shipment",
    `ticket ${number} cannot be told from another shipment in Tryton: ${detail}`,
    "Give the other shipment another number in Tryton, or enter the ticket by hand and resolve it here.",
  );

const refused = (code: string, message: string, next: string): Refused =>
  new Refused({ code, message, next });
