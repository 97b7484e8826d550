/** What people decide about deliveries in quarantine. Each runs inside a transaction of its caller. */
import { linkBoth } from "../engine/arrived.ts";
import { tellWaiting } from "../engine/awaited.ts";
import { moved } from "../engine/deliver.ts";
import { Decimal } from "../core/decimal.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { Entry } from "../store/journal.ts";
import { otherId } from "../store/links.ts";
import type { QuarantinedRow } from "../store/questions.ts";
import type { Person } from "./desk.ts";
import { deliveriesOf, groupsOf } from "./groups.ts";
import { type Decision, OfficeError } from "./office.ts";
import { remedyOf } from "./remedies.ts";

export interface Chosen {
  readonly flow: Flow;
  readonly row: QuarantinedRow;
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
      if (whole || String(row.delivery) === selector) chosen.push({ flow, row, next });
  }
  if (chosen.length === 0 && selector !== "all")
    throw new OfficeError(
      `Nothing in the quarantine is called "${selector}".`,
      "`fuelbridge quarantine list` shows the groups, `show GROUP` their deliveries; or say all.",
    );
  return chosen;
}

/**
 * Of those, what a retry may help: also what a person has corrected. `anyway`: all of them.
 * @throws OfficeError when there are some and it can help none, and they were named
 */
export function helped(
  { store }: Engine,
  chosen: readonly Chosen[],
  selector: string,
  anyway: boolean,
): Chosen[] {
  if (anyway) return [...chosen];
  const able = chosen.filter(
    ({ row }) =>
      remedyOf(row.code).helps.includes("retry") ||
      store.corrections.standing(row.record).length > 0,
  );
  const [first] = chosen;
  if (able.length > 0 || first === undefined || selector === "all") return able;
  const { cause, number, recordId } = first.row;
  const others = chosen.length > 1 ? ` and ${chosen.length - 1} more` : "";
  throw new OfficeError(
    `A retry does not help ${number ?? recordId}${others}, and nothing was done: ${cause}.`,
    `${first.next} After an update of fuelbridge that may judge otherwise: retry --anyway.`,
  );
}

/**
 * Mapped anew and sent under a key of its own. A request that waited for a person is given up for that; the look before
 * the first send keeps what did arrive from being written twice.
 */
export function retry(engine: Engine, { flow, row }: Chosen, person?: Person): void {
  settleRequest(engine, flow, row, "cancel", "retried by a person");
  const who = person === undefined ? "by a person" : `${person.by}: ${person.note}`;
  const detail = `${who}, who was told: ${row.cause}`;
  note(engine, flow, row, { event: "retried", detail, person });
  engine.store.incidents.retried(row.delivery);
  engine.store.deliveries.reopen(row.delivery);
}

/**
 * Closed by a person. With the receiver's id both sides are linked, so that the document is known when it comes by.
 * @throws OfficeError when the id is missing where it is needed, or given for more than one delivery
 */
export function resolve(engine: Engine, chosen: readonly Chosen[], decision: Decision): void {
  const { receiverId } = decision;
  if (receiverId !== undefined && chosen.length !== 1)
    throw new OfficeError(
      `${chosen.length} deliveries cannot be linked with one id.`,
      "Name one delivery by its number in the list, and its id at the receiver.",
    );
  for (const { flow, row } of chosen) {
    if (receiverId !== undefined && OTHER_AMOUNT.has(row.code)) expectAmount(row, decision);
    const undecided = settleRequest(
      engine,
      flow,
      row,
      receiverId === undefined ? "cancel" : "done",
      by(decision),
    );
    if (undecided && receiverId === undefined && flow.sink.writes === "create")
      throw new OfficeError(
        `${row.number ?? row.recordId} may be at the receiver; without its id there it would come back as new.`,
        "Resolve it with --receiver-id ID when it is there, or retry it when it is not.",
      );
    note(engine, flow, row, { event: "resolved", detail: by(decision), person: decision });
    if (receiverId === undefined) {
      engine.store.deliveries.end(row.delivery, "resolved", by(decision));
      const at = engine.clock.now().wallMs;
      tellWaiting(engine, flow, row.recordId, { closed: by(decision) }, at);
    } else link(engine, flow, row, receiverId);
  }
}

/** Faults whose document comes to another amount at the receiver than was sent ({@link Fault.amount}). */
const OTHER_AMOUNT: ReadonlySet<string> = new Set(["sales-tax-added"]);

/** Nobody links two amounts by the way. @throws OfficeError unless the person names the one that the cause names */
function expectAmount(row: QuarantinedRow, { amount = "" }: Decision): void {
  const named = amount.replace(/^\$/, "").replaceAll(",", "");
  const told = row.cause.match(/\d+\.\d{2}\b/g) ?? [];
  if (Decimal.is(named) && told[0] !== undefined && Decimal.of(named).equals(Decimal.of(told[0])))
    return;
  throw new OfficeError(
    `${row.number ?? row.recordId} comes to another amount there: ${row.cause}.`,
    `To accept that amount name it: --amount ${told[0] ?? "AMOUNT"}. Else correct it there, then retry.`,
  );
}

/** True when a request of unknown outcome carried it. */
function settleRequest(
  engine: Engine,
  flow: Flow,
  row: QuarantinedRow,
  decision: "cancel" | "done",
  detail: string,
): boolean {
  const { requests, underWay } = engine.store;
  const own = row.request === null ? null : requests.get(row.request);
  // A version that could not be read has no request, and its record may have an earlier one that a person must decide about.
  const earlier = underWay.versions(flow.mapping.kind, flow.flow, [row.record]).at(-1);
  const undecided = earlier?.state === "manual" ? requests.get(earlier.request) : null;
  const request = own?.machine.state === "manual" ? own : undecided;
  if (request === null) return false;
  moved(engine, flow, request, { type: "decision", at: engine.clock.now(), decision }, detail);
  return true;
}

function link(engine: Engine, flow: Flow, row: QuarantinedRow, receiverId: string): void {
  const carried = engine.store.deliveries.carried(row.delivery);
  const { kind } = flow.mapping;
  const other = flow.side === "platform" ? "erp" : "platform";
  const taken = engine.store.links.find(kind, other, receiverId);
  // A code that was changed: the one that has it is this one, as the person was told.
  const isRenamed = row.code === "code-changed";
  if (taken !== null && otherId(taken, other) !== row.recordId && !isRenamed)
    throw new OfficeError(
      `${receiverId} is ${taken.number} already, which came from ${otherId(taken, other)}.`,
      "Look for the id of this document at the receiver, and resolve it with that.",
    );
  if (carried !== null) linkBoth(engine, flow, carried, receiverId, engine.clock.now().wallMs);
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
