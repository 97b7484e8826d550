/**
 * What people decide about deliveries in quarantine: retry, resolve, correct a field, assign, note. A correction stands beside
 * what was received, and is applied before the mapping at the next retry (ADR 0007).
 */
import { didYouMean } from "../config/problems.ts";
import { corrected, type Leaf, leavesIn } from "../core/record.ts";
import { Decimal } from "../core/decimal.ts";
import { type Json, parseExact } from "../core/json.ts";
import { revisionOf } from "../core/keys.ts";
import { isFinal } from "../core/request.ts";
import { stillUnfinished } from "../engine/delivered.ts";
import { tellWaiting } from "../engine/awaited.ts";
import { faultOf, linkByHand } from "../engine/lifecycle.ts";
import { endpointOf, type Engine, type Flow, referencesOf } from "../engine/engine.ts";
import { moved } from "../engine/deliver.ts";
import { acceptResolved } from "../engine/reconcile/nightly.ts";
import type { Entry } from "../store/journal.ts";
import { otherId, otherSide } from "../store/deliveries.ts";
import type { QuarantinedRow } from "../store/queries.ts";
import { aboutOf } from "../engine/about.ts";
import { deliveriesOf, groupsOf, whyNotCorrected } from "./quarantine.ts";
import type { Assignment, Decision, Editing, Person } from "./asked.ts";
import { OfficeError } from "../core/errors.ts";
import { helpsWith } from "../core/faults.ts";

export interface Chosen {
  readonly flow: Flow;
  readonly row: QuarantinedRow;
  /** The id of its group. */
  readonly group: string;
  /** What is to be done about it, as it was shown. */
  readonly next: string;
}

/** @throws OfficeError when the selector names nothing */
export function select(engine: Engine, flows: readonly Flow[], selector: string): Chosen[] {
  const chosen: Chosen[] = [];
  for (const group of groupsOf(engine)) {
    const { id, next, flow: name } = group.shown;
    const flow = flows.find((one) => one.name === name);
    if (flow === undefined) continue;
    const whole = selector === "all" || id === selector;
    for (const row of deliveriesOf(engine.store, group))
      if (whole || String(row.delivery) === selector) chosen.push({ flow, row, group: id, next });
  }
  if (chosen.length === 0 && selector !== "all")
    throw new OfficeError(
      `Nothing in the quarantine is called "${selector}".`,
      "`fuelbridge quarantine list` shows the groups, `show GROUP` their deliveries; or say all.",
    );
  return chosen;
}

/**
 * Of those, what a retry may help: also what a person has corrected, not what a table still lacks a row for. `anyway`: all.
 * @throws OfficeError when there are some and it can help none, and they were named
 */
export function helped(
  { store, tables }: Engine,
  chosen: readonly Chosen[],
  selector: string,
  anyway: boolean,
): Chosen[] {
  if (anyway) return [...chosen];
  const lacksRow = ({ lookupTable: table, lookupKey: key }: Chosen["row"]): boolean =>
    table !== null && key !== null && tables.row(table, key) === null;
  const able = chosen.filter(
    ({ row }) =>
      (helpsWith(row.code).includes("retry") && !lacksRow(row)) ||
      store.corrections.standing(row.record).length > 0,
  );
  const [first] = chosen;
  if (able.length > 0 || first === undefined || selector === "all") return able;
  const { cause, number, recordId } = first.row;
  const others = chosen.length > 1 ? ` and ${chosen.length - 1} more` : "";
  throw new OfficeError(
    `A retry does not help ${number ?? recordId}${others}, and nothing was done: ${cause.replace(/\.$/, "")}.`,
    `${first.next} After an update of fuelbridge that may judge otherwise: retry --anyway.`,
  );
}

/**
 * Mapped anew and sent under a key of its own. A request that waited for a person is given up for that; the look before
 * the first send keeps what did arrive from being written twice.
 */
export function retry(engine: Engine, { flow, row }: Chosen, person?: Person): void {
  settleRequest(engine, flow, row, "cancel", "retried by a person");
  const detail = `${person === undefined ? "by a person, who was" : "was"} told: ${row.cause}`;
  note(engine, flow, row, { event: "retried", detail, person });
  engine.store.incidents.retried(row.delivery);
  engine.store.deliveries.reopen(row.delivery);
}

/**
 * Closed by a person. With the receiver's id both sides are linked, so that the document is known when it comes by.
 * @throws OfficeError when the id is missing where it is needed, or given for more than one delivery or at a hub
 */
export function resolve(engine: Engine, chosen: readonly Chosen[], decision: Decision): void {
  const { receiverId } = decision;
  const isHub = engine.sites?.own === null;
  if (receiverId !== undefined && isHub)
    throw new OfficeError(
      "A hub has no receiver, and an id there links nothing.",
      "Close it without an id.",
    );
  if (receiverId !== undefined && chosen.length !== 1)
    throw new OfficeError(
      `${chosen.length} deliveries cannot be linked with one id.`,
      "Name one delivery by its number in the list, and its id at the receiver.",
    );
  for (const { flow, row } of chosen) {
    if (receiverId !== undefined && helpsWith(row.code).includes("link-amount"))
      expectAmount(row, decision);
    const settled = settleRequest(
      engine,
      flow,
      row,
      receiverId === undefined ? "cancel" : "done",
      by(decision),
    );
    if (settled !== null && receiverId === undefined && flow.sink.writes === "create")
      throw new OfficeError(
        `${row.number ?? row.recordId} may be at the receiver; without its id there it would come back as new.`,
        "Close it with its id there when it is there, or retry it when it is not.",
      );
    const detail = decision.amount === undefined ? "" : `at ${decision.amount}`;
    note(engine, flow, row, { event: "resolved", detail, person: decision });
    const { deliveries, links, unfinished } = engine.store;
    const at = engine.clock.now().wallMs;
    const open = stillUnfinished(engine, flow, row);
    // Of a party under another name: it is the firm that it was.
    const own =
      row.code === "code-changed" ? links.find(flow.mapping.kind, flow.side, row.recordId) : null;
    const there = receiverId ?? open?.counterpart ?? (own && otherId(own, flow.side));
    if (receiverId === undefined) acceptResolved(engine, flow, row);
    if (there) link(engine, flow, row, there, settled);
    else {
      deliveries.end(row.delivery, "resolved", by(decision));
      tellWaiting(engine, flow, row.recordId, { closed: by(decision) }, at);
      if (isHub) engine.store.routes.add(flow.flow, row.record, null, at);
    }
    if (open !== null) unfinished.leave(row.delivery, open.fault, at);
  }
}

/** Nobody links two amounts by the way. @throws OfficeError unless the person names the receiver's ({@link Fault.amount}) */
function expectAmount(row: QuarantinedRow, { amount = "" }: Decision): void {
  const named = amount.replace(/^\$/, "").replaceAll(",", "");
  const { amountThere } = row;
  if (
    amountThere !== null &&
    Decimal.is(named) &&
    Decimal.of(named).equals(Decimal.of(amountThere))
  )
    return;
  throw new OfficeError(
    `${row.number ?? row.recordId} comes to another amount there: ${row.cause}.`,
    `To accept that amount name it: --amount ${amountThere ?? "AMOUNT"}. Else correct it there, then retry.`,
  );
}

/** The request of unknown outcome that carried it, or an earlier version of it; null: none did. */
function settleRequest(
  engine: Engine,
  flow: Flow,
  row: QuarantinedRow,
  decision: "cancel" | "done",
  detail: string,
): number | null {
  const { requests, underWay } = engine.store;
  const own = row.request === null ? null : requests.get(row.request);
  // A version that could not be read has no request, and its record may have an earlier one that a person must decide about.
  const earlier = underWay.versions(flow.mapping.kind, flow.flow, [row.record]).at(-1);
  const undecided = earlier?.state === "manual" ? requests.get(earlier.request) : null;
  const request = own?.machine.state === "manual" ? own : undecided;
  if (request === null) return null;
  moved(engine, flow, request, { type: "decision", at: engine.clock.now(), decision }, detail);
  return request.request;
}

/** `settled`: the request that is settled by it. A newer version that waited for that is judged by what is there. */
function link(
  engine: Engine,
  flow: Flow,
  row: QuarantinedRow,
  receiverId: string,
  settled: number | null,
): void {
  const { deliveries, requests, underWay } = engine.store;
  const { kind } = flow.mapping;
  const other = otherSide(flow.side);
  const taken = engine.store.links.find(kind, other, receiverId);
  // A code that was changed: the one that has it is this one, as the person was told.
  const isRenamed = row.code === "code-changed";
  if (taken !== null && otherId(taken, other) !== row.recordId && !isRenamed)
    throw new OfficeError(
      `${receiverId} is ${taken.number} already, which came from ${otherId(taken, other)}.`,
      "Look for the id of this document at the receiver, and close it with that.",
    );
  const newer = settled === null ? [] : underWay.newer(settled);
  const earlier = settled === null ? [] : requests.carried(settled);
  for (const { delivery } of earlier)
    if (delivery !== row.delivery) linkByHand(engine, flow, delivery, receiverId);
  for (const delivery of newer) deliveries.reopen(delivery);
  if (!newer.includes(row.delivery)) linkByHand(engine, flow, row.delivery, receiverId);
}

function note(
  engine: Engine,
  flow: Flow,
  row: QuarantinedRow,
  told: Pick<Entry, "event" | "detail" | "person">,
): void {
  const entry = { flow: flow.flow, delivery: row.delivery, ...told };
  engine.store.journal.audit(engine.clock.now().wallMs, entry);
}

const by = ({ by, note, amount }: Decision): string =>
  `${by}: ${note}${amount === undefined ? "" : ` (at ${amount})`}`;

/** Who sees to them; it is written down. Returns how many deliveries it is about. */
export function assign(
  engine: Engine,
  chosen: readonly Chosen[],
  { to, ...person }: Assignment,
): number {
  return handle(
    engine,
    chosen,
    { event: "assigned", detail: `to ${to ?? "nobody"}`, person },
    (delivery, atMs) => engine.store.handling.assign(delivery, to, atMs),
  );
}

/** The same for a note. */
export function remark(engine: Engine, chosen: readonly Chosen[], person: Person): number {
  const { by: who, note: text } = person;
  return handle(engine, chosen, { event: "note", detail: "", person }, (delivery, atMs) =>
    engine.store.handling.write({ delivery, atMs, who, text }),
  );
}

function handle(
  engine: Engine,
  chosen: readonly Chosen[],
  told: Pick<Entry, "event" | "detail" | "person">,
  write: (delivery: number, atMs: number) => void,
): number {
  const atMs = engine.clock.now().wallMs;
  engine.store.transaction(() => {
    for (const { flow, row } of chosen) {
      write(row.delivery, atMs);
      note(engine, flow, row, told);
    }
  });
  return chosen.length;
}

/** @throws OfficeError for a field or value that cannot be corrected here, with where it can */
export function edit(
  engine: Engine,
  flows: readonly Flow[],
  selector: string,
  { field, value }: Editing,
  person: Person,
) {
  const { store, clock } = engine;
  const chosen = onlyOne(select(engine, flows, selector), selector);
  const { row, flow } = chosen;
  expectUnsent(engine, chosen);
  const text = store.waits.text(row.delivery) ?? "";
  const received = recordOf(text);
  const leaf = leafOf(received, field, [row.recordId, row.number, row.version]);
  const was = correctableText(leaf, chosen);
  const standing = store.corrections.standing(row.record);
  const before = corrected(text, standing);
  const old = standing.find((one) => one.field === field)?.value ?? was ?? "";
  if (value === old)
    throw new OfficeError(`${field} is "${value}" already.`, "Give the value that it should have.");
  const others = standing.filter((one) => one.field !== field);
  const after =
    value === (was ?? "")
      ? corrected(text, others)
      : corrected(text, [...others, { field, was, value }]);
  expectSame(chosen, field, { before, after });

  const revised = store.transaction(() => {
    const atMs = clock.now().wallMs;
    // As if the source had told it: the revision before and the content (ADR 0003).
    const known = store.deliveries.carried(row.delivery)?.revision ?? "";
    const revision = revisionOf(null, known, after);
    const { record, delivery } = row;
    const why = { who: person.by, reason: person.note, atMs };
    store.corrections.correct({ record, delivery, field, was, value, revision, ...why });
    const detail = `${field}: "${old}" is "${value}" now`;
    store.journal.audit(atMs, { flow: flow.flow, delivery, event: "corrected", detail, person });
    return revision;
  });
  const still = stillWrong(engine, flow, after);
  return {
    delivery: String(row.delivery),
    field,
    /** What it was until now. */
    was: old,
    value,
    /** The record's revision with it. */
    revision: revised,
    /** What keeps the document from going out even so, as far as can be told; null: nothing. */
    still,
  };
}

function onlyOne(chosen: readonly Chosen[], selector: string): Chosen {
  const [first] = chosen;
  if (first !== undefined && chosen.length === 1) return first;
  throw new OfficeError(
    `"${selector}" is ${chosen.length} deliveries, and a field is corrected in one document at a time.`,
    "Name one delivery by its number: `fuelbridge quarantine show GROUP` lists them.",
  );
}

/** @throws OfficeError for what was sent: the bytes that left are what counts */
function expectUnsent({ store }: Engine, { row, flow }: Chosen): void {
  const name = row.number ?? row.recordId;
  const state = row.request === null ? null : store.requests.get(row.request)?.machine.state;
  if (state === null || state === undefined || state === "rejected" || state === "cancelled")
    return;
  if (!isFinal(state))
    throw new OfficeError(
      `${name} was sent, and nobody knows yet whether it arrived, so it cannot be corrected.`,
      "Decide that first: look for it at the receiver; `fuelbridge quarantine close` when it is there, `retry` when it is not.",
    );
  throw new OfficeError(
    `${name} was delivered to "${endpointOf(flow.to)}", so it cannot be corrected here.`,
    "Correct it where it comes from: the newer version is taken by itself.",
  );
}

function recordOf(text: string): Json {
  try {
    return parseExact(text);
  } catch {
    throw new OfficeError(
      "The record could not be read, so it has no fields to correct.",
      "Correct it where it comes from: the corrected one is taken by itself.",
    );
  }
}

/** @throws OfficeError with fields of nearly that name that may be corrected */
function leafOf(record: Json, field: string, known: readonly (string | null)[]): Leaf {
  const leaves = leavesIn(record);
  const leaf = leaves.find((one) => one.field === field);
  if (leaf !== undefined) return leaf;
  const able = leaves.filter((one) => whyNotCorrected(one, known) === null);
  const names = able.map((one) => one.field);
  const ending = names.filter((name) => name.split(".").at(-1) === field).slice(0, NAMED_MAX);
  throw new OfficeError(
    `The document has no field "${field}".`,
    didYouMean(field, ending.length > 0 ? ending : names.slice(0, NAMED_MAX)),
  );
}

/** So many fields are named. */
const NAMED_MAX = 40;

/** @throws OfficeError when it is nothing that may be corrected here */
function correctableText({ field, value }: Leaf, { row }: Chosen): string | null {
  const names = [row.recordId, row.number, row.version];
  const why = whyNotCorrected({ field, value }, names);
  if (why === null && (value === null || typeof value === "string")) return value;
  throw new OfficeError(
    `${field} cannot be corrected here: ${why}.`,
    "Correct it where it comes from: the corrected document is taken by itself.",
  );
}

/** @throws OfficeError when the record is worse with it, or says another amount or number */
function expectSame(
  { flow }: Chosen,
  field: string,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  const schema = flow.mapping.input;
  const [old, now] = [before, after].map((text) => schema.safeParse(parseExact(text)));
  const refused = now?.success === false ? complaintAt(now.error.issues, field) : null;
  if (refused !== null)
    throw new OfficeError(
      `${field} does not take that value: ${refused}.`,
      "Give a value of the kind that the field had, and look at a document that went through.",
    );
  if (now?.success === true && valueAt(now.data, field) instanceof Decimal)
    throw new OfficeError(
      `${field} cannot be corrected here: it is an amount, a quantity or a price.`,
      "Correct it where it comes from: the corrected document is taken by itself.",
    );
  const [one, other] = [aboutOf(flow, before), aboutOf(flow, after)];
  const isKnown = old?.success === true && now?.success === true;
  const isSame =
    one.number === other.number &&
    one.currency === other.currency &&
    (one.amount?.plain() ?? null) === (other.amount?.plain() ?? null);
  if (isKnown && !isSame)
    throw new OfficeError(
      `${field} cannot be corrected here: the document would have another number, amount or currency.`,
      "Correct it where it comes from: the corrected document is taken by itself.",
    );
}

/** What the schema says against that field; null: nothing. Its places count from 0. */
function complaintAt(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  field: string,
): string | null {
  const found = issues.find(({ path }) => {
    const way = path.map((part) => (typeof part === "number" ? part + 1 : String(part))).join(".");
    return way === field;
  });
  return found === undefined ? null : found.message.replace(/\.$/, "");
}

function valueAt(value: unknown, field: string): unknown {
  let at = value;
  for (const part of field.split(".")) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Array.isArray(at)
      ? (at as unknown[])[Number(part) - 1]
      : (at as Readonly<Record<string, unknown>>)[part];
  }
  return at;
}

/** What keeps it from being mapped even so; null: it goes out at the next retry, as far as can be told. */
function stillWrong(engine: Engine, flow: Flow, text: string): string | null {
  const record = flow.mapping.input.safeParse(parseExact(text));
  if (!record.success) {
    const [issue] = record.error.issues;
    return `${issue?.path.join(".") ?? "record"}: ${issue?.message ?? "does not fit"}`;
  }
  try {
    flow.mapping.map(record.data, referencesOf(engine, flow));
    return null;
  } catch (error) {
    return faultOf(error).message;
  }
}
