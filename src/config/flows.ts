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
export interface End {
  readonly endpoint: string;
  readonly name: string;
}

export const PLATFORM = "platform";
const EVERY_MS_MIN = 10_000;

const end = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*\.[A-Za-z][A-Za-z0-9-]*$/)
  .transform((text): End => {
    const [endpoint = "", name = ""] = text.split(".");
    return { endpoint, name };
  });

export const flowSchema = (mappings: readonly string[]) =>
  z.strictObject({
    mapping: (mappings.length > 0 ? z.enum(mappings) : z.string()).describe(
      "A mapping: what is read, and what it becomes.",
    ),
    from: end.describe("What is read: ENDPOINT.SOURCE, for example platform.orders."),
    to: end.describe("What is written: ENDPOINT.SINK, for example erp.orders."),
    every: duration("How often, at least 10s").optional(),
    cron: z
      .string()
      .refine((text) => /^\S+( \S+){4}$/.test(text) && isCron(text), "is not a cron expression")
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

/**
 * What is wrong between the parts of one flow. It takes the flow as it is written, so that a mistake in one part does
 * not hide the others; what is not text here is complained of elsewhere.
 */
export function* complaintsOfFlow(
  written: Readonly<Record<string, unknown>>,
  endpoints: readonly string[],
): Generator<{ field: string | null } & Complaint> {
  const { from, to, every, cron } = written;
  const known = [PLATFORM, ...endpoints];
  const named = [from, to].map((text) =>
    typeof text === "string" ? (text.split(".")[0] ?? "") : "",
  );
  for (const [at, field] of ["from", "to"].entries()) {
    const name = named[at] ?? "";
    if (name === "" || known.includes(name)) continue;
    const message = `there is no endpoint "${name}"`;
    yield { field, message, remedy: didYouMean(name, known) };
  }
  if (!named.includes("") && named.filter((name) => name === PLATFORM).length !== 1)
    yield {
      field: "to",
      message: `from "${named[0]}" to "${named[1]}" is not to or from the platform`,
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
