/**
 * What is wrong now, out of what `status` says: one concern for each thing that a person would act on, the most dangerous
 * first. `status`, the page Today and the alerts tell the same list, and nothing else.
 */
import { WAITS_FOR_BUDGET, waitsForRequests } from "../core/budget.ts";
import { fateOf } from "../core/contract.ts";
import type { Condition } from "../store/journal.ts";
import { counted, money } from "../core/text.ts";
import type { DriftStatus, FlowStatus, QuarantineGroup, Status } from "./answers.ts";

export interface Concern extends Condition {
  /** ISO 8601 UTC; null: nobody knows. */
  readonly since: string | null;
  /** When what is stopped is tried again by itself, ISO 8601 UTC; null: nothing is, or nobody knows. */
  readonly retryAt: string | null;
  /** The page of the console that shows more, and what is shown there; null: none does. */
  readonly page: Page | null;
  /** More that a person on the command line is told. */
  readonly also: readonly string[];
}

export type Page =
  | { readonly name: "flows"; readonly flow: string | null }
  | { readonly name: "needs-you"; readonly group: string }
  | { readonly name: "reconciliation" | "match" | "budget" };

/** Of the console. */
export function pathOf(page: Page): string {
  if (page.name === "needs-you") return `/needs-you/${encodeURIComponent(page.group)}`;
  return page.name === "flows" && page.flow !== null
    ? `/flows#flow-${encodeURIComponent(page.flow)}`
    : `/${page.name}`;
}

type Told = Pick<Concern, "key" | "title" | "detail" | "next"> & Partial<Concern>;

const concern = (told: Told): Concern => ({
  urgent: false,
  since: null,
  retryAt: null,
  page: null,
  also: [],
  ...told,
});

/** Of what there may be. */
const concernOf = <Value>(value: Value | null, told: (value: Value) => Told): Concern[] =>
  value === null ? [] : [concern(told(value))];

export const concernsOf = (status: Status): Concern[] => [...wrongIn(status), ...ofDrift(status)];

/** Without what the platform tells beyond its contract: that stops nothing. */
export const wrongIn = (status: Status): Concern[] => [
  ...ofStops(status),
  ...status.warnings.map(({ endpoint, code, title, message, next, urgent = false }) =>
    // Its day may move; it is the same one.
    concern({
      key: `warning ${endpoint} ${code}`,
      title: title ?? `${endpoint} will stop unless a person acts`,
      urgent,
      detail: message,
      next,
    }),
  ),
  ...ofBothSides(status),
  ...ofMatching(status),
  ...status.matching.large.map(({ key, since, what, party, amount, cause, next }) =>
    concern({
      key: `finding ${key}`,
      title: `${party}: ${amount} differ in ${what}`,
      since,
      detail: cause,
      next,
      page: { name: "match" },
    }),
  ),
  ...status.flows.flatMap(ofFailure),
  ...status.flows.flatMap(ofUnread),
  ...status.flows.flatMap(ofSilence),
  ...status.flows.flatMap(ofLate),
  ...ofCallers(status),
  ...ofQuarantine(status),
  ...ofBudget(status),
];

const ofStops = ({ stops }: Status): Concern[] =>
  stops.map(({ breaker, scope, message, ...stop }) =>
    concern({
      ...stop,
      key: `stop ${breaker} ${scope}`,
      urgent: true,
      title: `Stopped: ${breaker}, ${scope}`,
      detail: message,
      page: { name: "flows", flow: null },
    }),
  );

/** A night that could not compare is told, and so is what may have been committed late and is not known. */
function ofBothSides({ reconciliation }: Status): Concern[] {
  const { notCompared, notWalked, differences } = reconciliation;
  const { confirmed, first } = differences;
  const named = first.map(({ kind, number, cause }) => `${kind} ${number}: ${cause}`).join("\n");
  return [
    ...concernOf(confirmed === 0 ? null : confirmed, (count) => ({
      key: "differences",
      urgent: true,
      title: `Both sides differ in ${counted(count, "record")}`,
      detail: named,
      next: "fuelbridge reconcile --last names each with both values.",
      page: { name: "reconciliation" },
    })),
    ...notCompared.map(({ endpoint, kind = "", what = "", why, next }) =>
      concern({
        key: `not compared ${endpoint} ${kind} ${what}`.trim(),
        title: `Not compared: ${[kind, what, endpoint].filter((part) => part !== "").join(", ")}`,
        detail: why,
        next,
      }),
    ),
    ...notWalked.map(({ flow, since, message, next }) =>
      concern({
        key: `not walked ${flow}`,
        title: `${flow}: changes that came late on the platform may be missing`,
        detail: `${since === null ? "It was never read anew" : `It was last read anew at ${since}`}: ${message}`,
        next,
      }),
    ),
  ];
}

const ofMatching = ({ matching: { trouble } }: Status): Concern[] =>
  concernOf(trouble, ({ at, message, next }) => ({
    key: "papers not compared",
    title: "Orders, tickets, invoices and prices could not be compared",
    since: at,
    detail: message,
    next,
    page: { name: "match" },
  }));

const toFlow = ({ name }: FlowStatus): Page => ({ name: "flows", flow: name });

function ofFailure(flow: FlowStatus): Concern[] {
  const { name, lastError, failingSince } = flow;
  const failed = lastError === null || waitsForRequests(lastError.code) ? null : lastError;
  return concernOf(failed, ({ code, message, next }) => ({
    key: `flow ${name} ${code}`,
    urgent: true,
    title: `Flow ${name} is stopped`,
    since: failingSince,
    detail: message,
    next,
    page: toFlow(flow),
  }));
}

/** What lies there and is not read, and what waits behind it; not what is still being written. */
const ofUnread = (flow: FlowStatus): Concern[] =>
  flow.unread
    .filter(({ awaited }) => !awaited)
    .map(({ what, code, since, message, next, lasts, behind }) => {
      const fate = fateOf({ code, lasts });
      return concern({
        key: `unread ${flow.name} ${code} ${what}`,
        title: `${flow.name}: ${what} ${fate}`,
        since,
        detail: message,
        next,
        page: toFlow(flow),
        also: [
          ...(lasts
            ? [`Once it is seen to: fuelbridge settle ${flow.name} "${what}" --note <text>`]
            : []),
          ...(behind.count === 0 ? [] : [heldBack(behind)]),
        ],
      });
    });

function heldBack({ count, names }: FlowStatus["unread"][number]["behind"]): string {
  const more = count - names.length;
  const named = more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
  return `${counted(count, "newer file")} wait${count === 1 ? "s" : ""} until then: ${named}`;
}

const ofSilence = (flow: FlowStatus): Concern[] =>
  concernOf(flow.silence, ({ message, next }) => ({
    key: `silent flow ${flow.name}`,
    title: `Flow ${flow.name} brings nothing`,
    detail: message,
    next,
    page: toFlow(flow),
  }));

const ofLate = (flow: FlowStatus): Concern[] =>
  flow.late
    .filter(({ expected }) => !expected)
    .map(({ code, count, since, message, next }) =>
      concern({
        key: `late ${flow.name} ${code}`,
        title: `${flow.name}: ${counted(count, "document stands", "documents stand")} still`,
        since,
        detail: message,
        next,
        page: toFlow(flow),
      }),
    );

/** One that calls us, and has not for too long. */
const ofCallers = ({ callers }: Status): Concern[] =>
  callers.flatMap(({ endpoint, silence, waiting }) =>
    concernOf(silence, ({ message, next }) => ({
      key: `silent ${endpoint}`,
      urgent: true,
      title: `${endpoint} does not call`,
      detail: `${message} ${counted(waiting, "document waits", "documents wait")} for it.`,
      next,
    })),
  );

/** Each cause by itself: one that is new beside an old one is told. What clears by itself is not. */
const ofQuarantine = ({ quarantine }: Status): Concern[] =>
  quarantine
    .filter(({ helps }) => !helps.includes("wait"))
    .map(({ id, flow, count, since, cause, next, first, sum }) =>
      concern({
        key: `person ${flow} ${id}`,
        title: `${flow}: ${counted(count, "document needs", "documents need")} a person`,
        since,
        detail: [knownBy(first, sum, count), cause].filter(Boolean).join(": "),
        next: `${next} (fuelbridge quarantine show ${id})`,
        page: { name: "needs-you", group: id },
      }),
    );

/** `INV-118, Prairie Fuel, $20,712.42 and 3 more, $41,000.00 together` */
function knownBy(
  first: QuarantineGroup["first"],
  sum: QuarantineGroup["sum"],
  count: number,
): string {
  if (first === null) return "";
  const { number, partyName, amount, currency } = first;
  const own = [number, partyName, amount && currency && money(amount, currency)];
  const all = sum === null ? "" : `, ${money(sum.amount, sum.currency)} together`;
  return own.filter(Boolean).join(", ") + (count > 1 ? ` and ${count - 1} more${all}` : "");
}

function ofBudget({ requests, flows }: Status): Concern[] {
  const { used, perMonth, forecast, month, slowed } = requests;
  const page: Page = { name: "budget" };
  if (used >= perMonth || flows.some(({ lastError }) => lastError?.code === WAITS_FOR_BUDGET))
    return [
      concern({
        key: `budget spent ${month}`,
        urgent: true,
        title: `The requests of ${month} are used up`,
        detail: `${used} of ${perMonth} requests to the platform are used.`,
        next: "Work goes on by itself when the month allows it. fuelbridge budget status says what used them.",
        page,
      }),
    ];
  return [
    // A fault uses up no month within an hour: looks go slowly until a person has seen to it, or the month has caught up.
    ...concernOf(slowed, (fast) => ({
      key: "budget haste",
      urgent: true,
      title: "The platform is read so fast that the month would not last",
      detail: slowedText(fast),
      next: `If it is a fault (a clock that is wrong, a program that asks again and again), mend it, or pause the flow until then: fuelbridge pause. If it is meant (a first reading, a backfill), it goes on by itself; platform.budget.share.hour lets it go faster.`,
      page,
    })),
    ...concernOf(forecast.runsOut, ({ at, stops }) => ({
      key: `budget forecast ${month}`,
      title: `The requests of ${month} will not last`,
      detail: `${used} of ${perMonth} are used; as it goes they end at ${at} (${stops} stop then).`,
      next: "fuelbridge budget plan proposes intervals that fit.",
      page,
    })),
  ];
}

type Slowed = NonNullable<Status["requests"]["slowed"]>;

/** The one sentence about it, here and on the page Budget. */
export function slowedText({ requests, most, by }: Slowed): string {
  const whose =
    by === null
      ? ""
      : `; most of today's were for ${by.flow ?? "no flow"}: ${by.purpose} ${by.requests}`;
  return `Looks are ${requests} requests ahead of what the month allows; from ${most} on they go slowly, and writes as always${whose}.`;
}

/** What came new in the last days: it stops nothing, and its mapping may want it. */
const ofDrift = ({ drift }: Status): Concern[] =>
  drift
    .filter(({ isNews }) => isNews)
    .map((one) =>
      concern({
        key: `drift ${one.flow} ${one.what} ${one.field} ${one.value}`.trim(),
        title: `${one.from}: ${driftText(one)}`,
        since: one.first,
        detail: `It came with ${counted(one.count, "record")}, first with ${one.record}. Nothing stops for it.`,
        next: `Ask the platform what it means. If it matters, these mappings may need it: ${one.mappings.join(", ")}. fuelbridge drift tells all of it.`,
      }),
    );

/** `the new field lineItems.carbonTax` */
export function driftText({
  what,
  field,
  value,
}: Pick<DriftStatus, "what" | "field" | "value">): string {
  if (what === "value") return `the field ${field} has the new value "${value}"`;
  return what === "new" ? `the new field ${field}` : `the field ${field} does not come any more`;
}
