/** What people know a document by: its party, its amount, and one line that says what it is and where it stands. */
import type { About } from "../core/contract.ts";
import { amountText, capital, inCents, partyBeside, isUuid } from "../core/text.ts";
import type { Json } from "../core/json.ts";
import { aboutOf, aboutRecord, dayIn, readText } from "../engine/about.ts";
import { type Engine, type Flow, endpointOf } from "../engine/engine.ts";
import { type Link, ownId } from "../store/deliveries.ts";
import { hash } from "node:crypto";
import { Decimal } from "../core/decimal.ts";
import { type Leaf, leavesIn } from "../core/record.ts";
import { added, type CauseRow, type QuarantinedRow } from "../store/queries.ts";
import type { Store } from "../store/store.ts";
import { OfficeError } from "../core/errors.ts";
import { timeOfDay } from "../core/time.ts";
import type { Person } from "./asked.ts";
import { type Action, type FaultCode, helpsWith } from "../core/faults.ts";

interface Party {
  readonly code: string | null;
  readonly name: string | null;
}

/** `000113 Lake Marina` */
export const partyText = ({ code, name }: Party): string | null =>
  [code, name].filter(Boolean).join(" ") || null;

/** By the ERP's code where the platform's id is linked, or in a table of parties. Asks the store. */
export function partyOf(
  engine: Pick<Engine, "store" | "tables" | "flows">,
  { party = null, partyName = null, location }: About,
): Party {
  const { store, tables, flows } = engine;
  if (party === null) return { code: null, name: partyName };
  const link = store.links.parties(party).at(0);
  const row = rowOf(tables, ["customers", "vendors"], party);
  if (link === undefined && row === null && location !== undefined) {
    const site = rowOf(tables, ["sites"], location ?? "");
    return partyOf(engine, { party: site?.["company"] ?? null });
  }
  const code = link?.erpId ?? row?.["account"] ?? party;
  const own = link === undefined ? null : ownName({ store, flows }, link);
  return { code, name: partyName ?? row?.["name"] ?? own };
}

/** Looks each party up once, since that reads and parses its own record. For one synchronous piece of work: no name changes. */
export function partiesOf(
  engine: Pick<Engine, "store" | "tables" | "flows">,
): (about: About) => Party {
  const parties = new Map<string, Party>();
  return (about) => {
    const key = JSON.stringify([about.party, about.partyName, about.location]);
    const known = parties.get(key) ?? partyOf(engine, about);
    parties.set(key, known);
    return known;
  };
}

/** As the party's own record calls it. */
function ownName({ store, flows }: Pick<Engine, "store" | "flows">, link: Link): string | null {
  const flow = flows.find(({ mapping }) => mapping.kind === link.kind);
  if (flow === undefined) return null;
  const [record] = store.samples.named(flow.flow, ownId(link, flow.side));
  return aboutOf(flow, record?.text ?? null).partyName ?? null;
}

/** A table that is being edited names nobody for a moment. */
function rowOf(tables: Engine["tables"], names: readonly string[], key: string) {
  try {
    return names.map((name) => tables.row(name, key)).find((row) => row !== null) ?? null;
  } catch {
    return null;
  }
}

/** What a document is looked at by, beside its number. */
export function shownFacts({ currency, dayOf }: Engine, about: About, { code, name }: Party) {
  const { amount = null } = about;
  return {
    /** The other party, as people call it. */
    partyName: name ?? code,
    /** Decimal digits, in `currency` (ISO 4217); null: it has none, or it cannot be read. */
    amount: amount === null ? null : inCents(amount),
    currency: amount === null ? null : (about.currency ?? currency),
    /** Its own, `YYYY-MM-DD`; null: it tells none. */
    day: dayIn(about, dayOf),
  };
}

/** What became of a delivery, as people say it. */
export function standing(
  state: string,
  { note, cause }: { readonly note: string | null; readonly cause: string | null },
): string {
  switch (state) {
    case "pending":
      return "is on its way";
    case "frozen":
      return "is being sent";
    case "delivered":
      return "is delivered";
    case "skipped":
      return note === null || note === "" ? "is not to be sent" : `is not to be sent: ${note}`;
    case "echo":
      return "was sent from here, and came back";
    case "quarantined":
      return cause ?? "needs you";
    case "resolved":
      return "is closed";
    default:
      return "was replaced by a newer version";
  }
}

interface Summed {
  readonly number: string;
  readonly about: About;
  readonly party: Party;
  /** What became of it. */
  readonly stands: string;
}

/** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113`. `currency`: of a document that names none, ISO 4217. */
export function summaryOf(
  currency: string,
  { number, about, party: { code, name }, stands }: Summed,
): string {
  const { amount = null } = about;
  const sum = amount === null ? null : amountText(amount, about.currency ?? currency);
  return [about.name || number, partyBeside(number, name ?? code), sum, stands]
    .filter((part) => part !== null && part !== "")
    .join(" · ");
}

/* The quarantine as people see it: deliveries whose next step is the same are one group, told in two voices. */

export type Group = ReturnType<typeof groupOf>;

/** The largest first. */
export function groupsOf(engine: Engine): Group[] {
  const { store, clock } = engine;
  const nowMs = clock.now().wallMs;
  const byId = Map.groupBy(store.questions.quarantine(), groupId);
  const called = partiesOf(engine);
  return [...byId]
    .map(([id, causes]) => ({ id, causes, count: counted(causes) }))
    .toSorted((one, other) => other.count - one.count)
    .map(({ id, causes }, at) =>
      groupOf(engine, { id, causes, nowMs, called: at < LOOKED_MAX ? called : null }),
    );
}

/** So many groups are told with their oldest document: each is read and parsed for it. */
const LOOKED_MAX = 100;

const counted = (causes: readonly CauseRow[]): number =>
  causes.reduce((sum, { count }) => sum + count, 0);

/** Short, stable, and never only digits (those name a delivery). */
export function groupId({ flow, code, key }: { flow: string; code: string; key: string }): string {
  return `q${hash("sha256", JSON.stringify([flow, code, key])).slice(0, 7)}`;
}

/** The oldest first. */
export const deliveriesOf = (store: Store, { causes: [first] }: Group): QuarantinedRow[] =>
  first === undefined ? [] : store.questions.quarantined(first);

/** Those of a group, with what a person knows them by. `flow`: undefined when the configuration has it no more. */
function shownOf(engine: Engine, flow: Flow | undefined, rows: readonly QuarantinedRow[]) {
  const called = partiesOf(engine);
  return rows.map((row) => shown(engine, flow, row, called));
}

function shown(
  engine: Engine,
  flow: Flow | undefined,
  row: QuarantinedRow,
  called: ReturnType<typeof partiesOf>,
) {
  const { delivery, number, recordId, version, origin, cause, field, awaitsId, sinceMs } = row;
  const read = readText(engine.store.waits.text(delivery));
  const about = aboutRecord(flow, read);
  const party = called(about);
  return {
    delivery: String(delivery),
    /** As the question `document` takes it. */
    document: String(row.record),
    /** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113` */
    summary: summaryOf(engine.currency, {
      number: number ?? recordId,
      about,
      party,
      stands: cause,
    }),
    number: number ?? recordId,
    recordId,
    version,
    origin,
    field,
    since: new Date(sinceMs).toISOString(),
    ageMs: ageMs(engine.clock.now().wallMs, sinceMs),
    /** What people call it, where `number` is an id: a payment's reference. */
    name: about.name || null,
    /** The other party, by its code in the ERP and its name so far as they are known. */
    party: partyText(party),
    ...shownFacts(engine, about, party),
    /** Its own, with the values that the group's leaves out. */
    cause,
    /** What people corrected in it; until a newer version comes. */
    corrections: correctionsOf(engine.store, row.record),
    /** Fields that may be corrected here, as they were received; none where it was sent. */
    correctable:
      read !== undefined && isUnsent(engine.store, row)
        ? correctableIn(read, [recordId, number, version]).map((leaf) => ({
            field: leaf.field,
            value: typeof leaf.value === "string" ? leaf.value : "",
          }))
        : [],
    /** Who sees to it; null: nobody. */
    assignee: engine.store.handling.assignee(delivery),
    notes: engine.store.handling
      .notes(delivery)
      .map(({ atMs, who, text }) => ({ at: new Date(atMs).toISOString(), who, text })),
    /** The number, else the id, of the document that it waits for. */
    awaits: awaitsId === null ? null : nameOf(engine.store, awaitsId),
  };
}

/** Nothing of it arrived: it was never sent, or what was sent was refused. */
const isUnsent = ({ requests }: Store, { request }: QuarantinedRow): boolean => {
  const state = request === null ? undefined : requests.get(request)?.machine.state;
  return state === undefined || state === "rejected" || state === "cancelled";
};

/** What people corrected in a record, and still stands. `was`: as it was received; null: the field was empty. */
export const correctionsOf = (store: Store, record: number) =>
  store.corrections.standing(record).map(({ field, was, value, who, reason, atMs }) => ({
    field,
    was,
    value,
    by: who,
    reason,
    at: new Date(atMs).toISOString(),
  }));

interface Grouped {
  readonly id: string;
  readonly causes: readonly CauseRow[];
  readonly nowMs: number;
  /** Null: its documents are not looked at. */
  readonly called: ReturnType<typeof partiesOf> | null;
}

function groupOf(engine: Engine, { id, causes, nowMs, called }: Grouped) {
  const { store, flows } = engine;
  const [first] = causes as readonly [CauseRow];
  const { flow, code, field, reason, awaitsKind, lookupTable: table, lookupKey: key } = first;
  const helps = helpsWith(code);
  const sinceMs = causes.reduce((oldest, one) => Math.min(oldest, one.sinceMs), first.sinceMs);
  const isSeveral = causes.length > 1 || first.several === true;
  const together = isSeveral ? (reason ?? togetherOf(code, field ?? "") ?? alike(first)) : null;
  const { cause, next, awaited } =
    awaitsKind === null
      ? { cause: together ?? first.cause, next: first.next, awaited: null }
      : waiting(store, causes, awaitsKind);
  const count = counted(causes);
  const lookup = table === null || key === null ? null : { table, key };
  const of = flows.find(({ name }) => name === flow);
  const counts = of === undefined ? null : store.deliveries.counts(of.flow);
  const many = manyOf(count, of?.mapping.kind ?? null);
  const awaits = lookup === null ? awaited : `one row of ${lookup.table}: ${lookup.key}`;
  const from = of === undefined ? "erp" : endpointOf(of.from);
  const to = of === undefined ? "platform" : endpointOf(of.to);
  const isAll = counts !== null && !counts.has("delivered") && counts.get("quarantined") === count;
  const where = isAll
    ? `Everything that the flow "${flow}" has is refused alike: look at its configuration before the documents.`
    : `Other documents of the flow "${flow}" go through: it is these documents, not the configuration.`;
  const shown = {
    id,
    flow,
    code,
    cause,
    next,
    count,
    /** Of the oldest one, ISO 8601 UTC, and how long ago that is; null: nobody knows, for the clock was set back. */
    since: new Date(sinceMs).toISOString(),
    ageMs: ageMs(nowMs, sinceMs),
    /** What a person can do about it with success. */
    helps,
    /** `12 invoices` */
    many,
    /** What all of them wait for, by its name; null: it is another cause. */
    awaits,
    /** `12 invoices wait for one product: ULSD-DYED` */
    title:
      awaits === null
        ? `${many}: ${cause}`
        : `${many} ${count === 1 ? "waits" : "wait"} for ${awaits}`,
    accountant: forAccountant(code, { key: lookup?.key ?? null, helps, from, to, count }),
    operator: `${flow}, code ${code}. ${where}`,
    /** The row of a cross-reference table that all of them wait for; null: it is another cause. */
    lookup,
    /** What people know the oldest of them by; null: there are too many groups. */
    first: called === null ? null : oldestOf(engine, of, causes, called),
    /** What all of them come to; null: that cannot be said. */
    sum: sumOf(causes),
  };
  return { shown, causes };
}

function oldestOf(
  engine: Engine,
  flow: Flow | undefined,
  causes: readonly CauseRow[],
  called: ReturnType<typeof partiesOf>,
) {
  const { first, number } = causes.reduce((old, one) => (one.first < old.first ? one : old));
  const about = aboutRecord(flow, readText(engine.store.waits.text(first)));
  return {
    /** What people call it; null: nobody can tell. */
    number: about.name || (number ?? about.number ?? null),
    ...shownFacts(engine, about, called(about)),
  };
}

function sumOf(causes: readonly CauseRow[]): { amount: string; currency: string } | null {
  const [{ currency }] = causes as readonly [CauseRow];
  const sum = causes.map(({ amount }) => amount).reduce((all, amount) => added(all, amount));
  const isOne = causes.every((one) => one.currency === currency);
  return sum === null || currency === null || !isOne
    ? null
    : { amount: inCents(Decimal.of(sum)), currency };
}

/**
 * What deliveries of a code (and field) have in common, where their causes differ in values. Left out: the fault's reason says
 * it, or one of the causes does.
 */
const TOGETHER: Readonly<Partial<Record<FaultCode, string>>> = {
  "bad-email": "the e-mail address is not an address",
  "does-not-add-up": "the document does not add up",
  "negative-price": "the price is negative",
  "no-cents": "an amount is not in cents",
  "no-constant": "the price is a formula, not a number",
  "no-single-price": "the product has several prices; the platform takes one",
  "price-too-high": "the price is higher than the platform takes",
  "quantity-break": "the price holds from a quantity on; the platform has one",
  "too-many-lines": "the invoice has more lines than the platform takes",
  "cancelled-in-tryton": "the invoice is cancelled in Tryton, not on the platform",
  "cancelled-in-books": "it is cancelled in the books, not on the platform",
  "credit-note": "this is a credit note; the platform takes none",
  "left-the-list": "the list that it came from no longer has it; the receiver has it still",
  "negative-line": "a line has a negative amount; the platform takes none",
  "one-at-receiver": "the receiver has two of ours as one document",
  "no-pdf": "the platform's PDF could not be fetched",
  "needs-decision": "nobody can tell by machine whether it arrived",
  "number-alike": "a person entered one there whose number differs only in its signs",
  "number-kept": "a cancelled document of the receiver keeps the number",
  "number-taken": "the receiver has another document under this number",
  "amount-changed-after-posting": "the amount changed after the document was delivered",
  "partly-paid": "the invoice is paid in part; the platform takes no part of a payment",
};

const togetherOf = (code: string, field: string): string | undefined =>
  code === "too-long" ? `${field} is longer than the platform takes` : TOGETHER[code as FaultCode];

/** Where nothing says what the causes of a group have in common, one of them stands for all. */
const alike = ({ cause }: CauseRow): string => `${cause.replace(/\.$/, "")}, and others like it`;

/** So many are named. */
const NAMED_MAX = 3;

/** Waits that nothing ends by itself (engine/lifecycle.ts), by their code. */
const NOT_COMING: Readonly<Partial<Record<FaultCode, string>>> = {
  "waits-for-closed": "which were closed by hand",
  "waits-for-skipped": "which are skipped",
  "waits-without-flow": "which no flow delivers now",
  "waits-for-unread": "which their flow has not read",
};

/** What is waited for by its number, where people have one for it. */
function waiting(
  store: Store,
  causes: readonly CauseRow[],
  kind: string,
): { readonly cause: string; readonly next: string; readonly awaited: string | null } {
  const [first] = causes as readonly [CauseRow];
  const ids = causes.flatMap(({ awaitsId }) => awaitsId ?? []);
  const names = ids.length > NAMED_MAX ? [] : ids.map((id) => nameOf(store, id));
  const [only] = names;
  const why = NOT_COMING[first.code as FaultCode];
  if (why !== undefined) {
    const told = names.length === 0 ? "" : `: ${names.join(", ")}`;
    const cause = `waits for ${ids.length} ${kind}s, ${why}${told}`;
    return { cause: ids.length === 1 ? first.cause : cause, next: first.next, awaited: null };
  }
  if (names.length === 1)
    return {
      awaited: `${kind} ${only}`,
      cause: `waits for ${kind} ${only}`,
      next: `It goes out by itself once ${kind} ${only} is delivered. To see what holds that up: fuelbridge trace ${only}`,
    };
  const isNamed = names.length > 0 && names.every((name, at) => name !== ids[at] || !isUuid(name));
  const awaited = isNamed
    ? `${ids.length} ${kind}s: ${names.join(", ")}`
    : `${ids.length} ${kind}s that are not delivered yet`;
  return {
    awaited,
    cause: `waits for ${awaited}`,
    next: `Each goes out by itself once its ${kind} is delivered. To see what holds one up: fuelbridge trace and its number under WAITS FOR.`,
  };
}

/** A number where the store knows one for it: what a platform's record names is an id. */
const nameOf = (store: Store, id: string): string =>
  isUuid(id) ? (store.questions.numberOf(id) ?? id) : id;

/** Null: it was written down by a clock that was ahead, and nobody knows. */
const ageMs = (nowMs: number, sinceMs: number): number | null =>
  nowMs < sinceMs ? null : nowMs - sinceMs;

/** One group with its deliveries, the oldest first, `limit` of them (all) after `skip`. @throws OfficeError when it is not there */
export function shownGroup(engine: Engine, id: string, limit?: number, skip = 0) {
  const found = groupsOf(engine).find(({ shown }) => shown.id === id);
  if (found === undefined) throw gone(engine, id);
  const flow = engine.flows.find(({ name }) => name === found.shown.flow);
  const rows = deliveriesOf(engine.store, found).slice(skip, limit && skip + limit);
  return { ...found.shown, deliveries: shownOf(engine, flow, rows) };
}

/** What people decided lately, by group: for whoever comes second, as long as this process runs. */
const decided = new WeakMap<
  Store,
  Map<string, Person & { readonly atMs: number; readonly what: string }>
>();
const DECIDED_MAX = 1_000;

/** `what`: in the past, of the documents of these groups. */
export function remember(
  { store, clock }: Engine,
  groups: readonly string[],
  what: string,
  person: Person,
): void {
  const all = decided.get(store) ?? new Map<string, Person & { atMs: number; what: string }>();
  decided.set(store, all);
  for (const group of groups) all.set(group, { ...person, what, atMs: clock.now().wallMs });
  for (const group of [...all.keys()].slice(0, Math.max(all.size - DECIDED_MAX, 0)))
    all.delete(group);
}

function gone({ store, dayOf }: Engine, id: string): OfficeError {
  const last = decided.get(store)?.get(id);
  if (last === undefined)
    return new OfficeError(
      `There is no quarantine group "${id}".`,
      "`fuelbridge quarantine list` shows the groups.",
    );
  const at = new Date(last.atMs).toISOString();
  // As the company's clocks showed it.
  const clock = timeOfDay(at, dayOf)?.replace(/..$/, ":$&") ?? `${at.slice(11, 16)} UTC`;
  return new OfficeError(
    `Nothing is left to do here: ${last.by} ${last.what} on ${dayOf(at)} at ${clock}: ${last.note}`,
    "What was done about each document stands in its own story.",
  );
}

interface Voiced {
  /** Of the row that is missing; null: it is another cause. */
  readonly key: string | null;
  /** Where the record is, and where it goes: `erp`, `platform`. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly helps: readonly Action[];
}

function forAccountant(code: string, { key, helps, from, to, count }: Voiced): string {
  const [it, is] = count === 1 ? ["it", "is"] : ["they", "are"];
  if (key !== null)
    return (
      `Nobody has said yet what ${sideName(to)} calls ${key}. Add that row, then retry: ` +
      `${it} ${is} delivered as ${it} ${is}.`
    );
  const own = BY_CODE[code as FaultCode];
  if (own !== undefined) return own;
  if (helps.includes("wait"))
    return `Nothing is to be done now: ${it} ${count === 1 ? "goes" : "go"} out once what ${it} ${count === 1 ? "waits" : "wait"} for is there.`;
  if (helps.includes("link"))
    return `Nobody can tell whether ${sideName(to)} has ${count === 1 ? "it" : "them"}. Look there; then say whether ${it} arrived.`;
  if (helps.includes("correct"))
    return `Something is wrong in ${sideName(from)}. Correct it there; the corrected version is taken by itself.`;
  if (!helps.includes("retry"))
    return `${capital(sideName(to))} cannot be told this by machine. Do it there by hand, then close ${count === 1 ? "it" : "them"} here with a note.`;
  return `${capital(sideName(to))} did not take ${count === 1 ? "it" : "them"}. Do what is said below, then retry.`;
}

/** Where a sentence of its own says more. */
const BY_CODE: Readonly<Partial<Record<FaultCode, string>>> = {
  "not-mapped":
    "What the other side calls it has not been filled in yet. Fill that cell, then retry: nothing was sent.",
  "credit-note":
    "The platform takes no credit notes. Enter the credit there by hand, then close it here with a note.",
  differs:
    "Both sides have it, with different values. Look which side is right; the next step says what to do then.",
  "partly-paid":
    "It is paid in part. The platform is told once it is paid in full; nothing is to be done now.",
  "amount-changed-after-posting":
    "The amount was changed after the document was delivered. Posted amounts are never overwritten: agree with the other side which one is right.",
  "needs-decision":
    "It was sent, and no answer came back. Look whether the other side has it: then say so here, or retry.",
  "number-taken":
    "The other side has another document under this number. Look which one is right before anything is sent again.",
};

const sideName = (side: string): string => (side === "platform" ? "the platform" : "the ERP");

/** `12 invoices`, `1 delivery ticket` */
function manyOf(count: number, kind: string | null): string {
  const name = (kind ?? "document").replaceAll("-", " ");
  return `${count} ${count === 1 ? name : `${name}s`}`;
}

/**
 * Why a field may not be corrected here; null: it may, so far as its name and value tell. Sources write amounts as texts,
 * too, so the words of the name count. `names`: what the document is known by.
 */
export function whyNotCorrected(
  { field, value }: Leaf,
  names: readonly (string | null)[],
): string | null {
  if (typeof value === "boolean") return "a yes or no decides what the document is";
  if (value !== null && typeof value !== "string")
    return "it is a number, and an amount or quantity is never changed on the way";
  const last = field.split(".").at(-1) ?? "";
  const words = last.split(/(?=[A-Z])|[_\s-]/).map((word) => word.toLowerCase());
  if (words.some((word) => STATES.has(word)) && !PLACE.test(field))
    return "it says what the document is and how far it has come";
  if (words.some((word) => AMOUNTS.has(word)))
    return "it says an amount, a quantity or their unit, and those are never changed on the way";
  if (value !== null && FRACTION.test(value))
    return "it is a number with a fraction, and an amount or quantity is never changed on the way";
  if (OWN.has(last) || words.some((word) => STAMPS.has(word)) || names.includes(value ?? ""))
    return "it names the document, one of its parts or its version";
  return null;
}

/** The fields of a received record, as it was read, that may be corrected. */
const correctableIn = (read: Json, names: readonly (string | null)[]): readonly Leaf[] =>
  leavesIn(read).filter((leaf) => whyNotCorrected(leaf, names) === null);

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const AMOUNTS = wordsOf(
  "amount amounts total totals subtotal untaxed sum quantity quantities qty gallons volume net gross price prices " +
    "rate rates cost costs fee fees margin balance percent discount unit units uom currency",
);
const STATES = wordsOf(
  "status state type kind posted cancelled voided paid reconciled settled formula",
);
/** A state of the United States is a text like any other. */
const PLACE = /address|location/i;
const OWN = wordsOf("id number version revision");
const STAMPS = wordsOf("updated edited created modified");
const FRACTION = /^[-+]?\d*[.,]\d+$/;
