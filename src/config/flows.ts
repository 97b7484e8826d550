/** A flow: a mapping put to work. What the parts cannot say alone is checked here: both ends exist, one schedule. */
import { validate as isCron } from "node-cron";
import { z } from "zod";
import { duration } from "./duration.ts";
import { type Complaint, didYouMean, shown } from "./problems.ts";

export interface FlowConfig {
  readonly name: string;
  readonly mapping: string;
  readonly from: End;
  readonly to: End;
  readonly schedule: { readonly everyMs: number } | { readonly cron: string };
  readonly paused: boolean;
}

/** `platform.orders`: a source or sink of an endpoint. */
interface End {
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
  .refine((text) => /^\S+( \S+){4}$/.test(text) && isCron(text), "is not a cron expression");

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
    paused: z
      .boolean()
      .default(false)
      .describe("true: reads and writes nothing until it is false."),
  });

export type FlowSettings = z.output<ReturnType<typeof flowSchema>>;

export const flowOf = (name: string, { every, cron, ...flow }: FlowSettings): FlowConfig => ({
  name,
  ...flow,
  schedule: cron === undefined ? { everyMs: every ?? 0 } : { cron },
});

/** What an endpoint can be read from and written to, by name; null: only opening it would tell. */
export interface Parts {
  readonly sources: readonly string[] | null;
  readonly sinks: readonly string[] | null;
}

/**
 * What is wrong between the parts of one flow. It takes the flow as it is written, so that a mistake in one part does
 * not hide the others; what is not text here is complained of elsewhere.
 */
export function* complaintsOfFlow(
  written: Readonly<Record<string, unknown>>,
  endpoints: ReadonlyMap<string, Parts>,
): Generator<{ field: string | null } & Complaint> {
  const { from, to, every, cron } = written;
  const ends = [endOf(from), endOf(to)].filter((end) => end !== null);
  for (const [field, end] of Object.entries({ from: endOf(from), to: endOf(to) })) {
    const complaint = end === null ? null : complaintOfEnd(field, end, endpoints);
    if (complaint !== null) yield { field, ...complaint };
  }
  if (ends.length === 2 && ends.filter(({ endpoint }) => endpoint === PLATFORM).length !== 1)
    yield {
      field: "to",
      message: `from ${shown(from)} to ${shown(to)} is not to or from the platform`,
      remedy: 'Exactly one of "from" and "to" begins with "platform.".',
    };
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
      message: `${shown(every)} is too often`,
      remedy: "Write 10s or longer; every look costs a request of the month's budget.",
    };
}

function complaintOfEnd(
  field: string,
  { endpoint, name }: End,
  endpoints: ReadonlyMap<string, Parts>,
): Complaint | null {
  const parts = endpoints.get(endpoint);
  if (parts === undefined)
    return {
      message: `there is no endpoint "${endpoint}"`,
      remedy: didYouMean(endpoint, [...endpoints.keys()]),
    };
  const [what, names] = field === "from" ? ["source", parts.sources] : ["sink", parts.sinks];
  if (names === null || names.includes(name)) return null;
  return {
    message: `the endpoint "${endpoint}" has no ${what} "${name}"`,
    remedy: didYouMean(name, names),
  };
}
