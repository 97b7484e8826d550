/**
 * Documents: found by what people know of them, the story of one, and its whole life. Numbers and ids are found in the store
 * as it is; party, amount and day by a table that is made from the records in small steps, so that pulling does not wait for it.
 */
import { Decimal } from "../core/decimal.ts";
import { deliveryStates, type Order } from "../core/record.ts";
import type { DayToBook } from "../core/contract.ts";
import { parseExact } from "../core/json.ts";
import { aboutOf, dayIn, type Field, fieldsOf } from "../engine/about.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { FieldDifference } from "../reconcile/case.ts";
import type { CaseRow } from "../reconcile/report.ts";
import {
  type AuditRow,
  type ChoiceRow,
  type DeliveryRow,
  type FoundRow,
  FEW,
  LOOKED_MAX,
  STATE_COSTS,
  type Sample,
  type Ways,
} from "../store/queries.ts";
import { otherId } from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";
import { amountText, inCents } from "../core/text.ts";
import { iso, MONTHS } from "../core/time.ts";
import {
  partiesOf,
  partyOf,
  partyText,
  shownFacts,
  standing,
  summaryOf,
  correctionsOf,
  groupId,
} from "./quarantine.ts";
import type { Counterparts, Sampling, Searching } from "./asked.ts";
import { OfficeError } from "../core/errors.ts";
import { helpsWith } from "../core/faults.ts";

const PAGE = 50;
/** Deliveries that are taken into the table in one transaction. */
const STEP = 100;

/** Takes into the table what came since, where that is little: whoever searches finds what has just come. */
export function catchUpWithFew(engine: Engine, flows: readonly Flow[]): void {
  if (engine.store.found.unsearchedCount() <= STEP) catchUp(engine, flows, 0);
}

/**
 * The same for about so long, however much it is.
 * @param forMs of the thread that also pulls and sends
 */
export function catchUp(engine: Engine, flows: readonly Flow[], forMs: number): void {
  const { store, dayOf } = engine;
  const byName = new Map(flows.map((flow) => [flow.name, flow]));
  const endMs = performance.now() + forMs;
  const called = partiesOf(engine);
  do {
    const rows = store.found.unsearched(STEP);
    const last = rows.at(-1);
    if (last === undefined) return;
    const facts = rows.map(({ record, flow: name, text, receivedMs, number, recordId }) => {
      const about = aboutOf(byName.get(name), text);
      const { amount = null } = about;
      const party = called(about);
      return {
        record,
        party: partyText(party),
        name: party.name ?? party.code,
        number: number ?? about.number ?? recordId,
        amount: amount === null ? null : inCents(amount),
        currency: amount === null ? null : (about.currency ?? engine.currency),
        cents: amount === null ? null : inWholeCents(amount),
        day: dayIn(about, dayOf) ?? dayOf(new Date(receivedMs).toISOString()),
      };
    });
    store.transaction(() => store.found.search(facts, last.delivery));
  } while (performance.now() < endMs);
}

export function documentsOf(engine: Engine, flows: readonly Flow[], asked: Searching) {
  const { found } = engine.store;
  const { records, next, newest } = chosenBy(engine, asked);
  return {
    documents: records.flatMap((record) => {
      const row = found.row(record);
      return row === null ? [] : [documentOf(engine, flows, row)];
    }),
    /** For the next page; null: this is the last one. A page may be short, or empty, where few of many are asked for. */
    next,
    /** So many of the newest that fit the words were looked through, and there may be older ones; null: all were. */
    newest,
    /** Documents that cannot be found by party, amount and day yet, about. */
    unsearched: found.unsearchedCount(),
  };
}

type Found = ReturnType<typeof documentsOf>;

/** Of all pages together. */
const FILE_MAX = 10_000;
const FILE_PAGE = 500;

/**
 * All pages as one, for a file; the daemon's other work goes on between them. What is not searched yet is taken in first, as far
 * as that goes. `isAll`: nothing that fits is missing.
 */
export async function wholeOf(
  documents: (asked: Searching) => Promise<Found>,
  asked: Omit<Searching, "before" | "limit">,
) {
  const paged = (before: string | null): Promise<Found> =>
    documents({ ...asked, before, limit: FILE_PAGE });
  let page = await paged(null);
  for (let before = Infinity; page.unsearched > 0 && page.unsearched < before;) {
    before = page.unsearched;
    page = await paged(null);
  }
  const whole = [...page.documents];
  while (page.next !== null && whole.length < FILE_MAX) {
    page = await paged(page.next);
    whole.push(...page.documents);
  }
  const isAll = page.next === null && page.newest === null && page.unsearched === 0;
  return { ...page, documents: whole, isAll };
}

/** What is asked for, as the store knows it. Days and cents: both ends included; null: any. */
interface Wanted {
  readonly ways: Ways | null;
  readonly flow: string | null;
  readonly states: readonly string[] | null;
  readonly parties: ReadonlySet<number> | null;
  readonly days: readonly [from: string, to: string] | null;
  readonly cents: readonly [least: number, most: number] | null;
}

const LAST = Number.MAX_SAFE_INTEGER;

/** What each order goes by, which way, and where it begins. */
const ORDERS: Readonly<
  Record<
    Order,
    {
      readonly of: (row: ChoiceRow) => string | number | null;
      readonly rises: boolean;
      readonly first: string | number;
    }
  >
> = {
  came: { of: ({ record }) => record, rises: false, first: LAST },
  day: { of: ({ day }) => day, rises: false, first: "9999" },
  amount: { of: ({ cents }) => cents, rises: false, first: LAST },
  number: { of: ({ number }) => number, rises: true, first: "" },
  party: { of: ({ name }) => name, rises: true, first: "" },
};

/**
 * Looks at those of the way that has fewest; where each has many, at all in their order, so many in one page: what that
 * finds none of goes on in the next one. So no page takes long, however large the store.
 */
function chosenBy(engine: Engine, asked: Searching) {
  const { found } = engine.store;
  const wanted = wantedBy(engine, asked);
  const { days, cents } = wanted;
  const order = asked.order ?? (days !== null ? "day" : cents !== null ? "amount" : "came");
  const { of, rises, first } = ORDERS[order];
  const limit = asked.limit ?? PAGE;
  const ends: Partial<Record<Order, string | number | undefined>> = {
    day: days?.[1],
    amount: cents?.[1],
  };
  const place = placeIn(asked.before, order) ?? [ends[order] ?? first, rises ? 0 : LAST];
  const few = fewOf(found, wanted);
  const rows = few === null ? found.inOrder(order, place) : inOrder(found, few, order, place);
  const records: ChoiceRow[] = [];
  let looked = 0;
  let last: ChoiceRow | null = null;
  for (const row of rows) {
    looked++;
    last = row;
    if (order === "day" && days !== null && (row.day ?? "") < days[0]) break;
    if (order === "amount" && cents !== null && (row.cents ?? LAST) < cents[0]) break;
    if (!isLike(row, wanted)) continue;
    if (isStanding(found, row, wanted)) records.push(row);
    looked += STATE_COSTS;
    if (records.length > limit || (few === null && looked >= LOOKED_MAX)) break;
  }
  const isCut = few === null && looked >= LOOKED_MAX;
  const end = records.length > limit ? records[limit - 1] : isCut ? last : null;
  return {
    records: records.slice(0, limit).map(({ record }) => record),
    // `2026-10-31~118`
    next: end ? `${of(end)}~${end.record}` : null,
    newest: wanted.ways !== null && few?.length === FEW ? FEW : null,
  };
}

function placeIn(text: string | null, order: Order): readonly [string | number, number] | null {
  const [, value = "", record = ""] = /^(.*)~(\d{1,15})$/s.exec(text ?? "") ?? [];
  const isNumber = typeof ORDERS[order].first === "number";
  return record === "" ? null : [isNumber ? Number(value) : value, Number(record)];
}

/** As the store has them in their order, after a place. */
function inOrder(
  found: Store["found"],
  few: readonly number[],
  order: Order,
  [value, record]: readonly [string | number, number],
): ChoiceRow[] {
  const { of, rises } = ORDERS[order];
  const keys = [...new Set(few)].flatMap((one) => {
    const row = found.chosen(one);
    const key = of(row);
    return key === null ? [] : [{ key, row }];
  });
  type Key = (typeof keys)[number];
  const sign = rises ? 1 : -1;
  const compared = (one: Key, key: string | number, record: number): number => {
    if (one.key === key) return sign * (one.row.record - record);
    return one.key < key ? -sign : sign;
  };
  return keys
    .filter((one) => compared(one, value, record) > 0)
    .toSorted((one, other) => compared(one, other.key, other.row.record))
    .map(({ row }) => row);
}

/** By what is known of it without its deliveries. */
const isLike = ({ day, cents: own, party }: ChoiceRow, { parties, days, cents }: Wanted): boolean =>
  (parties === null || (party !== null && parties.has(party))) &&
  (days === null || (day !== null && day >= days[0] && day <= days[1])) &&
  (cents === null || (own !== null && own >= cents[0] && own <= cents[1]));

function isStanding(
  found: Store["found"],
  { record }: ChoiceRow,
  { flow, states }: Wanted,
): boolean {
  const standing = found.standing(record);
  return (
    standing !== null &&
    (flow === null || standing.flow === flow) &&
    (states === null ? standing.state !== "echo" : states.includes(standing.state))
  );
}

/** Null: one of them has many. */
const all = (some: readonly (readonly number[] | null)[]): readonly number[] | null =>
  some.every((one) => one !== null) ? some.flat() : null;

/** Those of the way that has fewest; null: each way has many. */
function fewOf(found: Store["found"], wanted: Wanted): readonly number[] | null {
  const { ways, flow, states, parties, days, cents } = wanted;
  if (ways !== null) return found.byWays(ways);
  const [fewest = null] = [
    states && all(states.map((state) => fewInState(found, state))),
    parties &&
      found.fewBy(
        "party",
        [...parties].map((party) => [party] as const),
      ),
    days && found.fewBy("days", [days]),
    cents && found.fewBy("cents", [cents]),
    flow === null ? null : found.fewBy("flow", [[flow]]),
  ]
    .filter((one) => one !== null)
    .toSorted((one, other) => one.length - other.length);
  return fewest;
}

function fewInState(found: Store["found"], state: string): readonly number[] | null {
  if (state === "delivered") return null;
  return state === "quarantined" || state === "pending" || state === "frozen"
    ? found.fewBy(state, [[]])
    : found.fewBy("closed", [[state]]);
}

/** @throws OfficeError for what is no amount */
function wantedBy(engine: Engine, asked: Searching): Wanted {
  const { flow = null, state, party, month, least, most } = asked;
  const text = asked.text?.trim() ?? "";
  const today = engine.dayOf(new Date(engine.clock.now().wallMs).toISOString());
  const days = daysIn(text, today);
  return {
    ways: text === "" || days !== null ? null : waysOf(engine, text),
    flow,
    states: state === undefined ? null : statesOf(state),
    parties: party === undefined ? null : new Set(engine.store.found.parties(party.trim())),
    days: days ?? (month === undefined ? null : [`${month}-01`, `${month}-31`]),
    cents:
      least === undefined && most === undefined
        ? null
        : [
            least === undefined ? -LAST : centsOf(least)[0],
            most === undefined ? LAST : centsOf(most)[1],
          ],
  };
}

/** Frozen is on its way as pending is. */
function statesOf(state: NonNullable<Searching["state"]>): readonly string[] {
  if (state === "all") return deliveryStates;
  return state === "pending" ? ["pending", "frozen"] : [state];
}

function waysOf({ store: { found, links } }: Engine, text: string): Ways {
  const upper = text.toUpperCase();
  return {
    numbers: upper === text ? [text] : [text, upper],
    // By an id of either side, or by a number that a link has.
    ids: [text, ...links.search(text).flatMap(({ platformId, erpId }) => [platformId, erpId])],
    cents: eachOf(centsIn(text)),
    parties: text.length < 2 ? [] : found.parties(text),
  };
}

/** `$20,712.42`, `20712.42`; without cents every amount of these dollars. */
function centsIn(text: string): readonly [least: number, most: number] | null {
  const digits = text.replace(/^(-?)\s*[$€£]\s*/, "$1").replaceAll(/,(?=\d{3}(?!\d))/g, "");
  if (!Decimal.is(digits)) return null;
  const amount = Decimal.of(digits);
  const cents = inWholeCents(amount);
  if (digits.includes(".")) return [cents, cents];
  return amount.sign < 0 ? [cents - 99, cents] : [cents, cents + 99];
}

/** At most 100. */
const eachOf = (cents: ReturnType<typeof centsIn>): number[] =>
  cents === null ? [] : Array.from({ length: cents[1] - cents[0] + 1 }, (_, at) => cents[0] + at);

/** What is searched and sorted by: to the nearest cent, and no further than the store counts. */
const inWholeCents = (amount: Decimal): number =>
  Math.max(-LAST, Math.min(LAST, Number(amount.times(HUNDRED).round(0).text)));

const HUNDRED = Decimal.of("100");

/** @throws OfficeError */
function centsOf(text: string): readonly [least: number, most: number] {
  const cents = centsIn(text.trim());
  if (cents !== null) return cents;
  throw new OfficeError(`"${text}" is no amount.`, "Write it as 20712.42 or 20,712.");
}

/**
 * `2026-11-22`, `11/22/2026`, `Nov 22`, `November 22, 2026`; of a month all its days: `2026-11`, `Nov 2026`. A day without a
 * year is the last one. @param today `YYYY-MM-DD`
 */
function daysIn(text: string, today: string): readonly [from: string, to: string] | null {
  const iso = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(text);
  if (iso !== null) return spanOf(iso[1], iso[2], iso[3]);
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d\d)$/.exec(text);
  if (american !== null) return spanOf(american[3]?.padStart(4, "20"), american[1], american[2]);
  const [, name = "", day, year] =
    /^([a-z]{3,9})\.?(?: (\d{1,2}))?(?:,? (\d{4}))?$/i.exec(text) ?? [];
  const month = MONTHS.findIndex((one) => name.toLowerCase().startsWith(one.toLowerCase())) + 1;
  if (month === 0 || (day === undefined && year === undefined)) return null;
  const span = spanOf(year ?? today.slice(0, 4), String(month), day);
  const isAhead = year === undefined && span !== null && span[0] > today;
  return isAhead ? spanOf(String(Number(today.slice(0, 4)) - 1), String(month), day) : span;
}

function spanOf(year = "", month = "", day?: string): readonly [from: string, to: string] | null {
  const of = `${year}-${month.padStart(2, "0")}`;
  const span = [
    `${of}-${(day ?? "1").padStart(2, "0")}`,
    `${of}-${(day ?? "31").padStart(2, "0")}`,
  ] as const;
  return Number(month) < 1 || Number(month) > 12 || Number(day ?? 1) > 31 ? null : span;
}

function documentOf(engine: Engine, flows: readonly Flow[], row: FoundRow) {
  const flow = flows.find(({ name }) => name === row.flow);
  const about = aboutOf(flow, row.text);
  const number = row.number ?? about.number ?? row.recordId;
  const party = partyOf(engine, about);
  return {
    id: String(row.record),
    flow: row.flow,
    kind: (flow?.mapping.kind ?? "document") as string,
    /** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113` */
    summary: summaryOf(engine.currency, { number, about, party, stands: standing(row.state, row) }),
    number,
    ...shownFacts(engine, about, party),
    ...idsIn(engine, flow, row.recordId),
    state: row.state,
    /** In quarantine, and nobody has to do anything. */
    clears: row.code !== null && helpsWith(row.code).includes("wait"),
    /** Why it is in quarantine; null: it is not. */
    cause: row.cause,
    receivedAt: new Date(row.receivedMs).toISOString(),
  };
}

/** Its ids on both sides; null: there is none, as far as is known. */
function idsIn(
  { store: { links } }: Engine,
  flow: Flow | undefined,
  recordId: string,
): Record<"platformId" | "erpId", string | null> {
  const link = flow === undefined ? null : links.find(flow.mapping.kind, flow.side, recordId);
  const { platformId = null, erpId = null } = link ?? {};
  if (link !== null || flow === undefined) return { platformId, erpId };
  return flow.side === "platform"
    ? { platformId: recordId, erpId }
    : { platformId, erpId: recordId };
}

/** One line of a document's story, oldest first. */
export interface TraceStep {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly flow: string;
  readonly event: string;
  /** The whole of it, also of an answer that lists every document of a batch. */
  readonly detail: string;
  /** What an answer about several documents says of this one, and of how many others; null: it is no such answer. */
  readonly own: { readonly detail: string; readonly others: number } | null;
  readonly platformId: string | null;
  readonly erpId: string | null;
}

export interface Story {
  /** Oldest first; empty when nothing is known under this number or id. */
  readonly steps: readonly TraceStep[];
  /** Ids of the quarantine groups that a version of it is in now. */
  readonly groups: readonly string[];
}

type Told = Pick<TraceStep, "event" | "detail"> & {
  readonly atMs: number;
  /** As {@link AuditRow.parts}. */
  readonly parts?: string | null;
  /** Null: that of the delivery. */
  readonly flow?: string | null;
};

export function trace(store: Store, text: string): Story {
  const links = store.links.search(text);
  const texts = new Set([text, ...links.flatMap(({ platformId, erpId }) => [platformId, erpId])]);
  const rows = new Map<number, DeliveryRow>();
  for (const one of texts)
    for (const row of store.questions.deliveries(one)) {
      rows.set(row.delivery, row);
      // Versions that were replaced before they were mapped have no number: only the record tells that they are of it.
      texts.add(row.recordId);
    }
  const ordered = [...rows.values()].toSorted((one, other) => one.delivery - other.delivery);
  const told = new Set<number>();
  const steps: TraceStep[] = [];
  for (const [at, row] of ordered.entries()) {
    const newer = ordered.slice(at + 1).find((one) => isSameRecord(one, row)) ?? null;
    const ids = idsOf(links, row.recordId);
    for (const { atMs, flow, event, detail, parts } of versionSteps(store, row, newer, told)) {
      const own = ownOf(parts ?? null, row.delivery);
      steps.push({ at: iso(atMs), flow: flow ?? row.flow, event, detail, own, ...ids });
    }
  }
  for (const link of links)
    steps.push({
      at: iso(link.linkedMs),
      flow: link.kind,
      event: "linked",
      detail: `${link.number}, entered ${link.born === "erp" ? "in the ERP" : "on the platform"} first${link.amount === null ? "" : `, amount ${amountText(Decimal.of(link.amount))}`}`,
      own: null,
      platformId: link.platformId,
      erpId: link.erpId,
    });
  return {
    steps: steps.sort((one, other) => one.at.localeCompare(other.at)),
    groups: [...new Set(ordered.flatMap(groupOf))],
  };
}

const isSameRecord = (one: DeliveryRow, other: DeliveryRow): boolean =>
  one.flow === other.flow && one.recordId === other.recordId;

/** What an answer to a request that carried several documents says of this one. */
function ownOf(parts: string | null, delivery: number): TraceStep["own"] {
  if (parts === null) return null;
  const { [delivery]: detail, ...others } = JSON.parse(parts) as Record<string, string>;
  return detail === undefined ? null : { detail, others: Object.keys(others).length };
}

function groupOf({ flow, state, code, key }: DeliveryRow): string[] {
  if (state !== "quarantined" || code === null || key === null) return [];
  return [groupId({ flow, code, key })];
}

/** From the arrival of one version to what became of it. `told`: audit rows that another version has told already. */
function versionSteps(
  store: Store,
  row: DeliveryRow,
  newer: DeliveryRow | null,
  told: Set<number>,
): Told[] {
  const all = [
    ...store.questions.audit(row.delivery, row.request),
    ...(row.number === null ? [] : store.questions.givenUp(row.number)),
  ]
    .filter(({ audit }) => !told.has(audit))
    .toSorted((one, other) => one.audit - other.audit);
  const audit = [...new Map(all.map((one) => [one.audit, one])).values()];
  for (const one of audit) told.add(one.audit);
  const version = row.version === null ? "" : `, version ${row.version}`;
  return [
    { atMs: row.receivedMs, event: "received", detail: `${row.origin ?? row.recordId}${version}` },
    ...audit.flatMap((one) => oneLine(one, audit)),
    ...outcome(row, newer, audit),
    ...(row.goneMs === null ? [] : [{ atMs: row.goneMs, ...GONE }]),
  ];
}

const GONE = {
  event: "bytes removed",
  detail:
    "a newer version had replaced what was sent, and it was kept for long enough; its hash and all answers are kept",
};

/** A decision is written down where it was taken and where it took effect: it is told once. */
function oneLine(one: AuditRow, audit: readonly AuditRow[]): Told[] {
  const { atMs, flow, event, detail, who, reason, parts } = one;
  const isWith = (events: readonly string[]): boolean =>
    audit.some((other) => other.atMs === atMs && events.includes(other.event));
  if (event === "decision" && isWith(["retried", "resolved"])) return [];
  if (REASONS.has(event) && isWith(["quarantined"])) return [];
  if (event === "quarantined" && isWith(["differs"])) return [];
  // It has every value, where the quarantine has one cause for many documents.
  const told = [who !== null && `${who}: ${reason ?? ""}`, detail].filter(Boolean).join(", ");
  return [{ atMs, flow, event: event === "differs" ? "quarantined" : event, detail: told, parts }];
}

/** Each comes with a quarantine, whose cause says the same. */
const REASONS: ReadonlySet<string> = new Set([
  "gone",
  "refused-later",
  "not-acknowledged",
  "other-receiver",
  "row-twice",
  "turned",
  "unfinished",
]);

/** What became of it, unless the audit has told that. */
function outcome(row: DeliveryRow, newer: DeliveryRow | null, audit: readonly AuditRow[]): Told[] {
  const lastOf = (...events: string[]): number | undefined =>
    audit.findLast(({ event }) => events.includes(event))?.atMs;
  const last = audit.at(-1)?.atMs ?? row.receivedMs;
  const { state: event } = row;
  switch (event) {
    case "quarantined":
      // Stores of older versions have not written it down.
      return lastOf("quarantined", "differs") === undefined
        ? [{ atMs: row.sinceMs ?? last, event, detail: row.cause ?? "" }]
        : [];
    case "resolved":
      return lastOf("resolved") === undefined
        ? [{ atMs: last, event, detail: row.note ?? "" }]
        : [];
    case "superseded":
      return [
        { atMs: newer?.receivedMs ?? last, event, detail: "a newer version takes its place" },
      ];
    case "delivered":
      return [{ atMs: lastOf("done", "finished") ?? last, event, detail: row.note ?? "" }];
    default:
      return [{ atMs: last, event, detail: row.note ?? "" }];
  }
}

function idsOf(
  links: readonly { platformId: string; erpId: string }[],
  recordId: string,
): Pick<TraceStep, "platformId" | "erpId"> {
  const link = links.find(({ platformId, erpId }) => platformId === recordId || erpId === recordId);
  return { platformId: link?.platformId ?? null, erpId: link?.erpId ?? null };
}

const VERSIONS_MAX = 50;
const REQUESTS_MAX = 10;

/** @throws OfficeError when there is no such document */
export function lifeOf(engine: Engine, flows: readonly Flow[], id: string) {
  const { store } = engine;
  const row = /^\d{1,15}$/.test(id) ? store.found.row(Number(id)) : null;
  if (row === null)
    throw new OfficeError(`There is no document ${id}.`, "Search for its number, party or amount.");
  const flow = flows.find(({ name }) => name === row.flow);
  const told = trace(store, row.recordId);
  const linked = told.steps.find(({ platformId }) => platformId !== null);
  const document = documentOf(engine, flows, row);
  const record = fieldsOf(row.text);
  const requests = store.found.sent(row.record, REQUESTS_MAX);
  return {
    ...document,
    recordId: row.recordId,
    from: flow?.from ?? "",
    to: flow?.to ?? "",
    mapping: flow?.mapping.name ?? "",
    platformId: document.platformId ?? linked?.platformId ?? null,
    erpId: document.erpId ?? linked?.erpId ?? null,
    /** The newest first. */
    versions: store.found.versions(row.record, VERSIONS_MAX).map((one) => ({
      version: one.version,
      origin: one.origin,
      receivedAt: iso(one.receivedMs),
      stands: standing(one.state, one),
    })),
    story: told.steps,
    groups: told.groups,
    /** Its newest version, field by field, as it was received. */
    record,
    /** What people call the parties whose ids or codes stand in it, or in what was sent of it last. */
    names: namesIn(engine, [...record, ...fieldsOf(requests[0]?.body ?? "")]),
    corrections: correctionsOf(store, row.record),
    /** The newest first. */
    requests: requests.map((one) => ({
      operation: one.operation,
      key: one.key,
      target: one.target,
      body: one.body,
      sha256: one.sha256,
      state: one.state,
      frozenAt: iso(one.createdMs),
      sentAt: one.sentMs === null ? null : iso(one.sentMs),
      /** When its bytes went, for they had been kept for long enough; null: they are here. */
      removedAt: one.goneMs === null ? null : iso(one.goneMs),
    })),
    /** What the last reconciliation found to differ. */
    differences: differencesOf(engine, document.number),
  };
}

function namesIn(engine: Engine, fields: readonly Field[]): Readonly<Record<string, string>> {
  const called = partiesOf(engine);
  return Object.fromEntries(
    fields.flatMap(({ path, value }) => {
      const { name } = PARTY.test(path) ? called({ party: value }) : { name: null };
      return name === null || name === value ? [] : [[value, name]];
    }),
  );
}

/** Fields that name a party by its id or code. */
const PARTY = /(?:compan|customer|vendor|supplier|carrier|part(?:y|ies)|payer|issuer|account)/i;

function differencesOf({ store: { sweeps } }: Engine, number: string): FieldDifference[] {
  const rows = [...sweeps.inState("open"), ...sweeps.inState("seen")];
  return rows.flatMap((one) =>
    one.number !== number || one.row === null ? [] : (JSON.parse(one.row) as CaseRow).differences,
  );
}

/** Empty where the flow has never run. */
export function samplesOf(store: Store, { flow, text, last }: Sampling): readonly Sample[] {
  const row = store.flows.find(flow);
  if (row === null || row === undefined) return [];
  return text === null ? store.samples.latest(row.flow, last) : store.samples.named(row.flow, text);
}

/** In the order they were asked; null: there is none yet. */
export const counterpartsOf = (store: Store, { side, asked }: Counterparts): (string | null)[] =>
  asked.map(({ kind, id }) => {
    const link = store.links.find(kind, side, id);
    return link === null ? null : otherId(link, side);
  });

/** Of flows that book; what cannot be read has no day. */
export function toBook({ store, dayOf }: Engine, flows: readonly Flow[]): DayToBook[] {
  return flows.flatMap((flow) => {
    const { name, mapping } = flow;
    const counts = new Map<string, number>();
    if (mapping.bookedOn === undefined) return [];
    for (const text of store.openRecords.waiting(flow.flow)) {
      const record = mapping.input.safeParse(parseExact(text));
      const day = record.success ? mapping.bookedOn(record.data, { dayOf }) : null;
      if (day !== null) counts.set(day, (counts.get(day) ?? 0) + 1);
    }
    return [...counts].map(([day, count]) => ({ day, flow: name, count }));
  });
}
