/** A flow: a mapping put to work. What the parts cannot say alone is checked here: both ends exist, one schedule. */
import { validate as isCron } from "node-cron";
import { z } from "zod";
import type { Mapping, Offers } from "../core/contract.ts";
import { duration } from "../core/settings.ts";
import type { ListLimits } from "../engine/engine.ts";
import { usualLimits } from "../engine/pull.ts";
import { type Complaint, didYouMean, shown } from "./problems.ts";

export interface FlowConfig {
  readonly name: string;
  readonly mapping: string;
  /** As the mapping's schema parsed them; left out: it declares none. */
  readonly options?: unknown;
  /** The line of the configuration that its options begin in. */
  readonly optionsLine?: number;
  readonly from: End;
  readonly to: End;
  readonly schedule: { readonly everyMs: number } | { readonly cron: string };
  /** ms; infinite: `off`. Left out: as its source says, else it is learned. */
  readonly silenceMs?: number;
  readonly limits?: ListLimits;
  readonly paused: boolean;
  /** Does a document that looks like another one wait for a person? */
  readonly duplicates: "wait" | "deliver";
  /** `pdf`: the platform's PDF is attached to each document that it books (ADR 0020); left out: nothing is. */
  readonly attach?: "pdf" | undefined;
  /** The day (`YYYY-MM-DD`) since when documents that were delivered before get theirs, too; left out: they do not. */
  readonly attachSince?: string | undefined;
}

/** `platform.orders`: a source or sink of an endpoint. */
export interface End {
  readonly endpoint: string;
  readonly name: string;
}

export const PLATFORM = "platform";
const EVERY_MS_MIN = 10_000;

const END = /^([a-z0-9][a-z0-9-]*)\.([A-Za-z][A-Za-z0-9-]*)$/;
const end = z
  .string()
  .regex(END)
  .transform((text) => endOf(text) as End);

/** Null when it is not `ENDPOINT.NAME`. */
function endOf(text: unknown): End | null {
  const [, endpoint, name] = (typeof text === "string" ? END.exec(text) : null) ?? [];
  return endpoint === undefined || name === undefined ? null : { endpoint, name };
}

export const cron = z
  .string()
  .refine(
    (text) => /^\S+( \S+){4}$/.test(text) && isCron(text),
    "is not a cron expression, or one of a day that never comes",
  );

export const flowSchema = (mappings: readonly string[]) =>
  z.strictObject({
    mapping: (mappings.length > 0 ? z.enum(mappings) : z.string()).describe(
      "A mapping: what is read, and what it becomes.",
    ),
    from: end.describe("What is read: ENDPOINT.SOURCE, for example platform.orders."),
    to: end.describe("What is written: ENDPOINT.SINK, for example erp.orders."),
    every: duration("How often, at least 10s").optional(),
    cron: cron
      .optional()
      .describe('When, in timeZone: five fields, for example "0 6 * * 1-5" for 6:00 on weekdays.'),
    options: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("What the mapping lets a site set: a group of settings."),
    paused: z
      .boolean()
      .default(false)
      .describe("true: reads and writes nothing until it is false."),
    duplicates: z
      .enum(["wait", "deliver"])
      .default("wait")
      .describe(
        "An invoice, bill or payment that looks like another one of its source (the same party, and the same number, or " +
          "the same amount, day and reference, under another id): wait holds it for a person before anything is sent, " +
          "deliver sends it like all others.",
      ),
    silence: z
      .union([z.literal("off"), duration("When a flow that brings nothing is told")])
      .optional()
      .describe(
        "A person is told when the flow brings nothing new for so long: 4h, 2d. Left out: for longer than it usually does at " +
          "this hour of the week. off: never.",
      ),
    list: z
      .strictObject({
        lostPercent: z
          .int()
          .min(0)
          .max(100)
          .default(usualLimits.lostPercent)
          .describe(
            "A list that lacks more than this share of what it had is taken for torn: nothing is concluded from what it lacks. 100: never.",
          ),
        growthTimes: z
          .int()
          .min(2)
          .max(1_000_000)
          .default(usualLimits.growthTimes)
          .describe(
            "A list of more than so many times what it had, and of 1,000 new records or more, waits for a person.",
          ),
      })
      .optional()
      .describe("When a whole list that the flow reads is not believed."),
    attach: z
      .enum(["pdf"])
      .optional()
      .describe(
        "pdf: the platform's PDF is attached to each document that this flow books, one request each.",
      ),
    attachSince: z.iso
      .date()
      .optional()
      .describe(
        "With attach: documents that were last delivered on this day (YYYY-MM-DD, UTC) or later get their PDF, too; left " +
          "out: only those that are delivered from now on.",
      ),
  });

export type FlowSettings = z.output<ReturnType<typeof flowSchema>>;

export const flowOf = (
  name: string,
  { every, cron, silence, list, ...flow }: FlowSettings,
  given: { readonly options: unknown; readonly optionsLine: number } | undefined,
): FlowConfig => ({
  name,
  ...flow,
  ...(list === undefined ? {} : { limits: list }),
  ...(silence === undefined ? {} : { silenceMs: silence === "off" ? Infinity : silence }),
  options: given?.options,
  ...(given === undefined ? {} : { optionsLine: given.optionsLine }),
  schedule: cron === undefined ? { everyMs: every ?? 0 } : { cron },
});

/** What is used here of a mapping. */
export type KnownMapping = Pick<Mapping, "name" | "kind" | "reads" | "writes" | "tables">;

export interface FlowComplaint extends Complaint {
  /** The setting of the flow that it is about; null: the flow as a whole. */
  readonly field: string | null;
}

/** What the flows of a configuration are checked against. */
export interface Around {
  /** By the endpoint's name; null: its settings are wrong, so that nothing can be told. */
  readonly offers: ReadonlyMap<string, Offers | null>;
  readonly mappings: readonly KnownMapping[];
  /** In place of the value of a flow's setting that must not be shown; null: it may be. */
  hidden(flow: string, field: string): string | null;
}

type Written = Readonly<Record<string, unknown>>;

/**
 * What is wrong between the parts of flows. It takes them as they are written, so that a mistake in one part does not
 * hide the others; what is not text here is complained of elsewhere.
 */
export function* complaintsOfFlows(
  flows: readonly (readonly [name: string, written: Written])[],
  around: Around,
): Generator<FlowComplaint & { readonly flow: string }> {
  yield* complaintsOfEchoes(flows, around);
  const receivers = new Map<string, string>();
  for (const [name, written] of flows) {
    const inFlow = function* (complaints: Iterable<FlowComplaint>) {
      for (const complaint of complaints) yield { flow: name, ...complaint };
    };
    const quoted = (field: string): string => around.hidden(name, field) ?? shown(written[field]);
    yield* inFlow(complaintsOfEnds(written, around, (field) => around.hidden(name, field)));
    yield* inFlow(complaintsOfSchedule(written, quoted));
    yield* inFlow(complaintsOfAttaching(written, around));
    const mapping = around.mappings.find((one) => one.name === written["mapping"]);
    if (mapping === undefined) continue;
    yield* inFlow(complaintsOfFit(written, mapping, around));
    const side = endOf(written["from"])?.endpoint === PLATFORM ? "platform" : "ERP";
    const other = receivers.get(`${side} ${mapping.kind}`);
    if (other === undefined) receivers.set(`${side} ${mapping.kind}`, name);
    else
      yield {
        flow: name,
        field: "mapping",
        message: `flows "${other}" and "${name}" both deliver each ${mapping.kind} of the ${side}`,
        remedy: "Remove one: a document has one counterpart on the other side.",
      };
  }
}

/** What is written without an id would come back as somebody else's ({@link Offer.anonymous}). */
function* complaintsOfEchoes(
  flows: readonly (readonly [name: string, written: Written])[],
  { offers }: Around,
): Generator<FlowComplaint & { readonly flow: string }> {
  for (const [writer, { to }] of flows) {
    const end = endOf(to);
    const sink = end === null ? undefined : offers.get(end.endpoint)?.sinks[end.name];
    if (sink?.anonymous === undefined) continue;
    for (const [flow, { from }] of flows)
      if (from === to)
        yield {
          flow,
          field: "from",
          message: `flow "${writer}" writes ${shown(to)}, which this flow reads: what was written would come back as new`,
          remedy:
            "Keep one of the two flows: its receiver gives what is written no id to know it by.",
        };
  }
}

function* complaintsOfEnds(
  written: Written,
  { offers }: Around,
  hidden: (field: string) => string | null,
): Generator<FlowComplaint> {
  const { from, to } = written;
  const ends = [endOf(from), endOf(to)].filter((end) => end !== null);
  for (const [field, end] of Object.entries({ from: endOf(from), to: endOf(to) })) {
    const complaint = end === null ? null : complaintOfEnd(field, end, offers, hidden(field));
    if (complaint !== null) yield { field, ...complaint };
  }
  if (ends.length === 2 && ends.filter(({ endpoint }) => endpoint === PLATFORM).length !== 1)
    yield {
      field: "to",
      message: `from ${hidden("from") ?? shown(from)} to ${hidden("to") ?? shown(to)} is not to or from the platform`,
      remedy: 'Exactly one of "from" and "to" begins with "platform.".',
    };
}

function complaintOfEnd(
  field: string,
  { endpoint, name }: End,
  endpoints: Around["offers"],
  hidden: string | null,
): Complaint | null {
  const offers = endpoints.get(endpoint);
  if (offers === null) return null;
  if (offers === undefined)
    return {
      message:
        hidden === null ? `there is no endpoint "${endpoint}"` : `${hidden} names no endpoint`,
      remedy: didYouMean(hidden === null ? endpoint : "", [...endpoints.keys()]),
    };
  const [what, parts] = field === "from" ? ["source", offers.sources] : ["sink", offers.sinks];
  if (Object.hasOwn(parts, name)) return null;
  return {
    message:
      hidden === null
        ? `the endpoint "${endpoint}" has no ${what} "${name}"`
        : `${hidden} names no ${what}`,
    remedy: didYouMean(hidden === null ? name : "", Object.keys(parts)),
  };
}

function* complaintsOfSchedule(
  { every, cron }: Written,
  quoted: (field: string) => string,
): Generator<FlowComplaint> {
  if (every !== undefined && cron !== undefined)
    yield {
      field: "cron",
      message: "a flow has either every or cron",
      remedy: "Keep one of them.",
    };
  if (every === undefined && cron === undefined)
    yield {
      field: null,
      message: "it does not say when to run",
      remedy: 'Write every: 10m, or cron: "0 6 * * 1-5".',
    };
  const everyMs = duration("").safeParse(every).data;
  if (everyMs !== undefined && everyMs < EVERY_MS_MIN)
    yield {
      field: "every",
      message: `${quoted("every")} is too often`,
      remedy: "Write 10s or longer; every look costs a request of the month's budget.",
    };
}

/** Both ends must be able to: one has a PDF of each record, the other takes files. */
function* complaintsOfAttaching(
  { attach, attachSince, from, to }: Written,
  { offers }: Around,
): Generator<FlowComplaint> {
  if (attach === undefined) {
    if (attachSince !== undefined)
      yield {
        field: "attachSince",
        message: "the flow attaches nothing",
        remedy: "Write attach: pdf as well, or remove attachSince.",
      };
    return;
  }
  const able = (what: keyof Offers): string[] =>
    [...offers].flatMap(([endpoint, offer]) =>
      Object.entries(offer?.[what] ?? {})
        .filter(([, { pdf }]) => pdf !== undefined)
        .map(([name]) => `${endpoint}.${name}`),
    );
  const ends = [
    { what: "sources", end: endOf(from), lacks: "the records of this source have no PDF" },
    { what: "sinks", end: endOf(to), lacks: "no PDF can be attached to what this sink books" },
  ] as const;
  for (const { what, end, lacks } of ends) {
    const offer = end === null ? undefined : offers.get(end.endpoint)?.[what][end.name];
    if (offer === undefined || offer.pdf !== undefined) continue;
    const names = able(what);
    const others = names.length === 0 ? "" : ` PDFs go with ${names.join(", ")}.`;
    yield { field: "attach", message: lacks, remedy: `Remove attach.${others}` };
  }
}

/** A mapping takes the records of some sources only, and makes the documents of some sinks only. */
function* complaintsOfFit(
  written: Written,
  mapping: KnownMapping,
  { offers, mappings }: Around,
): Generator<FlowComplaint> {
  const formAt = (end: End | null, what: "sources" | "sinks"): string | undefined =>
    end === null ? undefined : offers.get(end.endpoint)?.[what][end.name]?.form;
  const given = formAt(endOf(written["from"]), "sources");
  const taken = formAt(endOf(written["to"]), "sinks");
  const offering = (form: string, what: "sources" | "sinks"): string[] =>
    [...offers].flatMap(([endpoint, offer]) =>
      Object.entries(offer?.[what] ?? {})
        .filter(([, one]) => one.form === form)
        .map(([name]) => `${endpoint}.${name}`),
    );
  const remedy = (ends: readonly string[], others: readonly KnownMapping[]): string =>
    [
      ends.length === 0 ? "" : `Write ${ends.join(" or ")} here.`,
      others.length === 0
        ? ""
        : `${ends.length === 0 ? "Take" : "Or take"} a mapping that fits: ${others.map(({ name }) => name).join(", ")}.`,
      ends.length + others.length === 0 ? "No mapping fits: remove the flow." : "",
    ]
      .filter((part) => part !== "")
      .join(" ");
  const { name, reads, writes } = mapping;
  if (given !== undefined && reads !== undefined && given !== reads)
    yield {
      field: "from",
      message: `the mapping ${name} takes records of ${reads}; these are of ${given}`,
      remedy: remedy(
        offering(reads, "sources"),
        mappings.filter((one) => one.reads === given && (taken ?? one.writes) === one.writes),
      ),
    };
  if (taken !== undefined && writes !== undefined && taken !== writes)
    yield {
      field: "to",
      message: `the mapping ${name} makes documents for ${writes}; this takes those for ${taken}`,
      remedy: remedy(
        offering(writes, "sinks"),
        mappings.filter((one) => one.writes === taken && (given ?? one.reads) === one.reads),
      ),
    };
}
