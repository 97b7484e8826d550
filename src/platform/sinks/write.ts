/** What every write to the platform has in common: a checked body, one POST under the request's key, one answer. */
import type { z } from "zod";
import type { Item, Outgoing, Sink } from "../../core/contract.ts";
import type { Fault } from "../../core/fault.ts";
import { Refused, SourceUnavailable } from "../../core/errors.ts";
import { parseExact, stringifyExact } from "../../core/json.ts";
import type { Clock } from "../../core/moment.ts";
import type { Finding, Policy } from "../../core/outcome.ts";
import type { Exchanger } from "../client.ts";
import { listOf } from "../contract/envelope.ts";
import { answerOf, bodyOf } from "../outcomes.ts";
import { patiently } from "../walk.ts";

export interface Surroundings {
  readonly client: Exchanger;
  readonly clock: Clock;
  readonly settleMs: number | null;
}

export interface WriteOptions {
  readonly operation: string;
  readonly writes: Sink["writes"];
  readonly itemsMax: number;
  readonly names?: string;
  readonly policy: Policy;
  readonly path: string;
  readonly body: z.ZodType;
  /** The body of these items. */
  readonly wrap: (items: readonly Item[]) => unknown;
  /** The ids in an answer's data, one per item; null when they are not there. */
  readonly ids: (data: unknown) => readonly (string | null)[] | null;
  readonly find: (request: Outgoing) => Promise<Finding>;
}

export function writeSink({ client, clock }: Surroundings, options: WriteOptions): Sink {
  const { operation, writes, itemsMax, names, policy, path } = options;
  return {
    operation,
    writes,
    itemsMax,
    ...(names === undefined ? {} : { names }),
    policy,
    find: (request) => options.find(request),
    freeze(items) {
      const body = options.wrap(items);
      const checked = options.body.safeParse(body);
      if (!checked.success) throw new Refused(refusal(checked.error));
      return { target: `POST ${path}`, body: stringifyExact(body) };
    },
    async send({ body, key }) {
      const exchange = await client.exchange({
        method: "POST",
        path,
        body,
        idempotencyKey: key,
        purpose: "write",
      });
      return answerOf(exchange, options.ids, new Date(clock.now().wallMs));
    },
  };
}

/** A limit of the contract that the document breaks: the platform would refuse it, so it costs no request. */
function refusal(error: z.ZodError): Fault {
  const first = error.issues[0];
  const field = first?.path.join(".") ?? "";
  return {
    code: "over-the-contract",
    message: `the platform would refuse it: ${field || "document"}: ${first?.message ?? "invalid"}`,
    next: "Correct the document in the ERP, or the mapping, then retry.",
    ...(field === "" ? {} : { field }),
  };
}

/** Every record of a list, page after page, with exact numbers. @throws SourceUnavailable */
export async function* listAll<Item>(
  { client, clock }: Surroundings,
  path: string,
  query: Readonly<Record<string, string>>,
  item: z.ZodType<Item>,
): AsyncGenerator<Item> {
  const list = listOf(item);
  for (let page = 1; ; page++) {
    const search = new URLSearchParams({ ...query, page: String(page) });
    const request = {
      method: "GET",
      path: `${path}?${search.toString()}`,
      purpose: "read-back",
    } as const;
    const exchange = await patiently(client, request, clock);
    const { text } = bodyOf(exchange, path, new Date(clock.now().wallMs));
    const { data, meta } = readable(list, text, path);
    yield* data;
    if (!meta.hasMore) return;
    if (data.length === 0) throw noList(path, "an empty page that is not the last");
  }
}

function readable<List>(list: z.ZodType<List>, text: string, path: string): List {
  try {
    return list.parse(parseExact(text));
  } catch (error) {
    throw noList(path, "something that is not its list", error);
  }
}

const noList = (path: string, what: string, cause?: unknown): SourceUnavailable =>
  new SourceUnavailable(`${path} answered with ${what}.`, {
    next: "It is tried again by itself.",
    cause,
  });

/** A read-back that could not be made proves nothing. */
export async function reading(look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return {
      found: "unreadable",
      detail: error.message,
      ...(error.waitMs === null ? {} : { waitMs: error.waitMs }),
    };
  }
}
