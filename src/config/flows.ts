/** What is wrong between the parts of flows: both ends exist, a mapping fits them, one schedule, one counterpart. */
import type { Mapping, Offer, Offers } from "../core/contract.ts";
import { duration } from "../core/settings.ts";
import { type Complaint, didYouMean, type Finding, type Group, shown } from "./problems.ts";
import { type End, endOf } from "./schema.ts";

export const PLATFORM = "platform";
export const HUB = "hub";
const EVERY_MS_MIN = 10_000;

/** A flow as it is written: a mistake in one part does not hide the others. What is not text is complained of elsewhere. */
interface WrittenFlow {
  readonly name: string;
  readonly written: Group;
  readonly mapping: Mapping | undefined;
}

/** What the flows of a configuration are checked against. */
interface FlowContext {
  readonly flows: readonly WrittenFlow[];
  /** By the endpoint's name; null: its settings are wrong, so that nothing can be told. */
  readonly offers: ReadonlyMap<string, Offers | null>;
  readonly mappings: readonly Mapping[];
  /** In place of the value of a flow's setting that must not be shown; null: it may be. */
  hidden(flow: string, field: string): string | null;
}

/** `field`: the setting of the flow that it is about; null: the flow as a whole. */
type FlowRule = (
  flow: WrittenFlow,
  context: FlowContext,
) => Iterable<Complaint & { readonly field: string | null }>;

export function* complaintsOfFlows(context: FlowContext): Generator<Finding> {
  for (const flow of context.flows)
    for (const rule of rules)
      for (const { field, ...complaint } of rule(flow, context))
        yield { path: ["flows", flow.name, ...(field === null ? [] : [field])], ...complaint };
}

/** In the order in which they are told of one line. */
const rules: readonly FlowRule[] = [
  readsNoEcho,
  readsAlone,
  namesItsEnds,
  hasOneSchedule,
  canAttach,
  fitsItsMapping,
  isTheOnlyOne,
];

const SIDES = { from: "sources", to: "sinks" } as const;
type Field = keyof typeof SIDES;

const offerOf = ({ offers }: FlowContext, field: Field, end: End | null): Offer | undefined =>
  end === null ? undefined : offers.get(end.endpoint)?.[SIDES[field]][end.name];

const endIn = ({ written }: WrittenFlow, field: Field): End | null => endOf(written[field]);

/** `ENDPOINT.NAME` of all that is offered and does for it. */
const offering = (
  { offers }: FlowContext,
  field: Field,
  does: (offer: Offer) => boolean,
): string[] =>
  [...offers].flatMap(([endpoint, offer]) =>
    Object.entries(offer?.[SIDES[field]] ?? {})
      .filter(([, one]) => does(one))
      .map(([name]) => `${endpoint}.${name}`),
  );

/** A value of a flow for people: hidden where it came from elsewhere. */
const quoted = ({ name, written }: WrittenFlow, field: string, context: FlowContext): string =>
  context.hidden(name, field) ?? shown(written[field]);

/** What is written without an id would come back as somebody else's ({@link Offer.anonymous}). */
function* readsNoEcho(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  for (const writer of context.flows) {
    const sink = offerOf(context, "to", endIn(writer, "to"));
    if (sink?.anonymous === undefined || writer.written["to"] !== flow.written["from"]) continue;
    yield {
      field: "from",
      message: `flow "${writer.name}" writes ${shown(writer.written["to"])}, which this flow reads: what was written would come back as new`,
      remedy: "Keep one of the two flows: its receiver gives what is written no id to know it by.",
    };
  }
}

/** What is read once has one reader ({@link Offer.once}). */
function* readsAlone(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  const from = flow.written["from"];
  const first = context.flows.find(({ written }) => written["from"] === from);
  if (first === undefined || first.name === flow.name) return;
  if (offerOf(context, "from", endIn(flow, "from"))?.once !== true) return;
  yield {
    field: "from",
    message: `flow "${first.name}" reads ${shown(from)}, and what it has read is moved away: this flow would not see it`,
    remedy: "Give each flow a source with files of its own, and have both exported.",
  };
}

function* namesItsEnds(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  for (const field of ["from", "to"] as const) {
    const end = endIn(flow, field);
    const complaint = end && complaintOfEnd(field, end, context, context.hidden(flow.name, field));
    if (complaint !== null) yield { field, ...complaint };
  }
  const ends = [endIn(flow, "from"), endIn(flow, "to")].filter((end) => end !== null);
  if (ends.length === 2 && ends.filter(({ endpoint }) => endpoint === PLATFORM).length !== 1)
    yield {
      field: "to",
      message: `from ${quoted(flow, "from", context)} to ${quoted(flow, "to", context)} is not to or from the platform`,
      remedy: 'Exactly one of "from" and "to" begins with "platform.".',
    };
}

function complaintOfEnd(
  field: Field,
  { endpoint, name }: End,
  context: FlowContext,
  hidden: string | null,
): Complaint | null {
  const offers = context.offers.get(endpoint);
  if (offers === null || Object.hasOwn(offers?.[SIDES[field]] ?? {}, name)) return null;
  const what = offers === undefined ? "endpoint" : field === "from" ? "source" : "sink";
  const where = offers === undefined ? "there is" : `the endpoint "${endpoint}" has`;
  const word = offers === undefined ? endpoint : name;
  const known =
    offers === undefined ? [...context.offers.keys()] : Object.keys(offers[SIDES[field]]);
  return {
    message: hidden === null ? `${where} no ${what} "${word}"` : `${hidden} names no ${what}`,
    remedy: didYouMean(hidden === null ? word : "", known),
  };
}

/** Undefined: it is none. */
const msOf = (written: unknown): number | undefined => duration("").safeParse(written).data;

function* hasOneSchedule(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  const { every, cron, atLeast, atMost } = flow.written;
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
      remedy: 'Write every: auto, every: 10m, or cron: "0 6 * * 1-5".',
    };
  const bound = atLeast === undefined ? "atMost" : "atLeast";
  if (every !== "auto" && (atLeast ?? atMost) !== undefined)
    yield {
      field: bound,
      message: "only a flow with every: auto finds its own pace",
      remedy: `Write every: auto, or remove ${bound}.`,
    };
  if (every === "auto" && endIn(flow, "from")?.endpoint !== PLATFORM)
    yield {
      field: "every",
      message: "only what is read from the platform costs requests of the month",
      remedy: "Write every: 5m: reading the ERP costs none.",
    };
  for (const field of ["every", "atLeast", "atMost"] as const)
    if ((msOf(flow.written[field]) ?? Infinity) < EVERY_MS_MIN)
      yield {
        field,
        message: `${quoted(flow, field, context)} is too often`,
        remedy:
          endIn(flow, "from")?.endpoint === PLATFORM
            ? "Write 10s or longer: every look costs a request of the month's budget."
            : "Write 10s or longer.",
      };
  if ((msOf(atLeast) ?? 0) > (msOf(atMost) ?? Infinity))
    yield {
      field: "atLeast",
      message: `${quoted(flow, "atLeast", context)} is more than atMost`,
      remedy: "Write no more than atMost.",
    };
}

const NO_PDF = {
  from: "the records of this source have no PDF",
  to: "no PDF can be attached to what this sink books",
} as const;

/** Both ends must be able to: one has a PDF of each record, the other takes files. */
function* canAttach(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  const { attach, attachSince } = flow.written;
  if (attach === undefined && attachSince !== undefined)
    yield {
      field: "attachSince",
      message: "the flow attaches nothing",
      remedy: "Write attach: pdf as well, or remove attachSince.",
    };
  if (attach === undefined) return;
  for (const field of ["from", "to"] as const) {
    const offer = offerOf(context, field, endIn(flow, field));
    if (offer === undefined || offer.pdf !== undefined) continue;
    const names = offering(context, field, ({ pdf }) => pdf !== undefined);
    const others = names.length === 0 ? "" : ` PDFs go with ${names.join(", ")}.`;
    yield { field: "attach", message: NO_PDF[field], remedy: `Remove attach.${others}` };
  }
}

/** A mapping takes the records of some sources only, and makes the documents of some sinks only. */
function* fitsItsMapping(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  if (flow.mapping === undefined) return;
  const { name, reads, writes } = flow.mapping;
  const given = offerOf(context, "from", endIn(flow, "from"))?.form;
  const taken = offerOf(context, "to", endIn(flow, "to"))?.form;
  const fits = { from: given ?? reads, to: taken ?? writes };
  const remedy = (field: Field, form: string): string => {
    const ends = offering(context, field, (offer) => offer.form === form);
    const others = context.mappings.filter(
      (one) =>
        one.reads === (field === "from" ? given : (given ?? one.reads)) &&
        one.writes === (field === "to" ? taken : (taken ?? one.writes)),
    );
    const names = others.map((one) => one.name).join(", ");
    const either = ends.length === 0 ? "Take" : "Or take";
    return [
      ...(ends.length === 0 ? [] : [`Write ${ends.join(" or ")} here.`]),
      ...(others.length === 0 ? [] : [`${either} a mapping that fits: ${names}.`]),
      ...(ends.length + others.length === 0 ? ["No mapping fits: remove the flow."] : []),
    ].join(" ");
  };
  if (reads !== undefined && fits.from !== reads)
    yield {
      field: "from",
      message: `the mapping ${name} takes records of ${reads}; these are of ${given}`,
      remedy: remedy("from", reads),
    };
  if (writes !== undefined && fits.to !== writes)
    yield {
      field: "to",
      message: `the mapping ${name} makes documents for ${writes}; this takes those for ${taken}`,
      remedy: remedy("to", writes),
    };
}

function* isTheOnlyOne(flow: WrittenFlow, context: FlowContext): ReturnType<FlowRule> {
  const kind = flow.mapping?.kind;
  const sideOf = (one: WrittenFlow): string =>
    endIn(one, "from")?.endpoint === PLATFORM ? "platform" : "ERP";
  const first = context.flows.find(
    (one) => one.mapping?.kind === kind && sideOf(one) === sideOf(flow),
  );
  if (kind === undefined || first === undefined || first === flow) return;
  yield {
    field: "mapping",
    message: `flows "${first.name}" and "${flow.name}" both deliver each ${kind} of the ${sideOf(flow)}`,
    remedy: "Remove one: a document has one counterpart on the other side.",
  };
}
