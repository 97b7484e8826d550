/**
 * A receiver holds other values than those that a document was brought to: a person has it until both agree again
 * (ADR 0009). Verification tells of what it inspected, reconciliation of what it compared; each closes its own only.
 */
import { inWords, labelOf } from "../ledger/compare.ts";
import { holdingKindOf } from "../core/kinds.ts";
import type { Fault } from "../core/fault.ts";
import type { Difference } from "../core/holdings.ts";
import { sha256 } from "../core/keys.ts";
import type { Disagreement, Finder } from "../store/reconciliation.ts";
import { type Link, otherId, ownId } from "../store/links.ts";
import { linkBoth } from "./arrived.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { differs } from "./faults.ts";

export interface Compared {
  readonly link: Link;
  /** None: both agree. */
  readonly differences: readonly Difference[];
  /** What is told of it, where more is known than its fields. */
  readonly fault?: Fault | null;
}

/** So many that differ in the same fields, and such a share of those compared, have one cause. */
const MANY = 20;
const SHARE = 0.2;
/** Lines of a cause. */
const LINES_MAX = 12;

type Fresh = Omit<Disagreement, "state"> & Compared;

/**
 * Opens what is new, and closes what agrees again. A disagreement is told once for the same values, also when a person
 * has resolved it; other values are told anew. A record of which a newer version is on its way, or that a person has
 * for another reason, is left alone. Call it inside a transaction.
 * @returns how many were opened
 */
export function settleDifferences(
  engine: Engine,
  flow: Flow,
  compared: readonly Compared[],
  finder: Finder,
): number {
  const fresh: Fresh[] = [];
  for (const one of compared)
    if (one.differences.length === 0) agree(engine, flow, one, finder);
    else fresh.push(...unlessTold(engine, flow, one, finder));
  const alike = Map.groupBy(fresh, ({ differences }) => fieldsOf(flow, differences));
  for (const [fields, group] of alike) {
    const isStorm =
      group.every(({ fault }) => fault === null) &&
      group.length > MANY &&
      group.length > compared.length * SHARE;
    if (isStorm) announce(engine, flow, fields, group.length);
    for (const one of group) open(engine, flow, one, finder, isStorm ? fields : null);
  }
  return fresh.length;
}

/**
 * A person has brought there by hand what the receiver had refused because it differs: it is delivered. Inside a
 * transaction.
 */
export function arrivedByHand(engine: Engine, flow: Flow, link: Link, delivery: number): void {
  const carried = engine.store.deliveries.carried(delivery);
  if (carried === null) return;
  const at = engine.clock.now().wallMs;
  linkBoth(engine, flow, carried, otherId(link, flow.side), at);
  audit(engine, flow, "agrees again", { delivery, detail: link.number });
}

function agree(engine: Engine, flow: Flow, { link }: Compared, finder: Finder): void {
  const { disagreements } = engine.store;
  const id = ownId(link, flow.side);
  const last = disagreements.last(flow.flow, id);
  const row = last === null ? null : disagreements.find(last.record, finder);
  if (row !== null) {
    disagreements.close(finder, row);
    audit(engine, flow, "agrees again", { delivery: row.delivery, detail: link.number });
  }
  // Reconciliation compares the newest version, whether the receiver took it or not.
  const refused = disagreements.refused(flow.flow, id);
  if (finder === "reconciliation" && refused !== null)
    arrivedByHand(engine, flow, link, refused.delivery);
}

function unlessTold(
  { store }: Engine,
  flow: Flow,
  { link, differences, fault = null }: Compared,
  finder: Finder,
): Fresh[] {
  const last = store.disagreements.last(flow.flow, ownId(link, flow.side));
  if (last === null) return [];
  const { record, delivery, state } = last;
  const row = store.disagreements.find(record, finder);
  const digest = digestOf(differences);
  const isTold = row?.state === "quarantined" || row?.state === "resolved";
  if (isTold && row?.digest === digest) return [];
  const fresh = { record, digest, link, differences, fault };
  if (state === "delivered" || state === "skipped") return [{ ...fresh, delivery, was: state }];
  // Other values than those that a person has, or has accepted.
  return isTold && row?.delivery === delivery ? [{ ...fresh, delivery, was: row.was }] : [];
}

function open(
  engine: Engine,
  flow: Flow,
  { record, delivery, was, digest, link, differences, fault: known }: Fresh,
  finder: Finder,
  storm: string | null,
): void {
  const at = engine.clock.now().wallMs;
  const lines = linesOf(flow, differences);
  const fault = known ?? faultOf(flow, lines, storm);
  engine.store.disagreements.open(finder, { record, delivery, was, digest }, fault, at);
  audit(engine, flow, "differs", { delivery, detail: `${link.number}: ${lines.join("; ")}` });
}

const audit = (
  { store, clock }: Engine,
  { flow }: Flow,
  event: string,
  told: { readonly delivery?: number; readonly detail: string },
): void => store.journal.audit(clock.now().wallMs, { flow, event, ...told });

function faultOf(flow: Flow, lines: readonly string[], storm: string | null): Fault {
  const takesChanges = flow.sink.writes === "upsert";
  const endpoint = endpointOf(flow.to);
  const field = lines.join("; ");
  if (storm === null) return differs(endpoint, shortened(lines).join("\n"), takesChanges);
  const many = `many documents differ in "${endpoint}" from what was delivered: ${storm}`;
  return { ...differs(endpoint, many, takesChanges), field };
}

/** `payer: erp A-1038, platform A-1001`: the receiver's value, and that of the side where the document began. */
function linesOf(flow: Flow, differences: readonly Difference[]): string[] {
  const sides = { held: endpointOf(flow.to), expected: endpointOf(flow.from) };
  return differences.map((one) => inWords(kindOf(flow), one, sides));
}

const shortened = (lines: readonly string[]): readonly string[] =>
  lines.length <= LINES_MAX
    ? lines
    : [...lines.slice(0, LINES_MAX - 1), `and ${lines.length - LINES_MAX + 1} more`];

function announce(engine: Engine, flow: Flow, fields: string, documents: number): void {
  const to = endpointOf(flow.to);
  const notice = `${documents} documents differ in "${to}" from what was delivered, all in: ${fields}`;
  audit(engine, flow, "notice", { detail: notice });
  engine.note("many differ", { flow: flow.name, documents, fields });
}

/** `due date, payer`; lines of a document are one field, whichever differ. */
function fieldsOf(flow: Flow, differences: readonly Difference[]): string {
  const names = differences.map(({ field }) => labelOf(kindOf(flow), field));
  return [...new Set(names.map((name) => name.replace(/^line \d+/, "line")))].toSorted().join(", ");
}

/** Only for the words of people: orders and tickets have those of invoices. */
const kindOf = ({ mapping }: Flow) => holdingKindOf(mapping.kind) ?? "invoice";

const digestOf = (differences: readonly Difference[]): string =>
  sha256(
    JSON.stringify(differences.map(({ field, expected, held }) => [field, expected, held])),
  ).slice(0, 22);
