/** What every write to the platform has in common: a checked document, one request under its key, one answer. */
import type { z } from "zod";
import type { Item, Memory, Outgoing, Sink, Unfinished } from "../../core/contract.ts";
import type { Fault } from "../../core/fault.ts";
import { Refused } from "../../core/errors.ts";
import { stringifyExact } from "../../core/json.ts";
import type { Clock } from "../../core/moment.ts";
import type { Finding, Policy } from "../../core/outcome.ts";
import type { Exchanger, PlatformRequest } from "../client.ts";
import { outcomeOf } from "../answers.ts";
import { answerOf } from "../outcomes.ts";
import { ownReplay } from "./own-replay.ts";

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
  /**
   * Method and path of these items' request, `PUT /invoices/<id>/mark-paid`, and its body; undefined: none. Further
   * words of the target are for the read-back. @throws Refused
   */
  readonly write: (items: readonly Item[]) => { readonly target: string; readonly body: unknown };
  /** The ids in an answer's data, one per item; null when they are not there. By default the record's own. */
  readonly ids?: (data: unknown) => readonly (string | null)[] | null;
  readonly find: (request: Outgoing, memory?: Memory) => Promise<Finding>;
  readonly recognise?: NonNullable<Sink["recognise"]>;
  /** What a person has to do there still, by an answer's data; null: nothing. */
  readonly openIn?: (data: unknown) => Fault | null;
  readonly unfinished?: Unfinished;
}

export function writeSink({ client, clock }: Surroundings, options: WriteOptions): Sink {
  const { operation, writes, itemsMax, names, policy, ids = ownId } = options;
  return {
    operation,
    writes,
    itemsMax,
    ...(names === undefined ? {} : { names }),
    policy,
    find: (request, _signal, memory) => options.find(request, memory),
    ...(options.recognise === undefined ? {} : { recognise: options.recognise }),
    ...(options.unfinished === undefined ? {} : { unfinished: options.unfinished }),
    freeze(items) {
      const { target, body } = options.write(items);
      return { target, body: body === undefined ? "" : stringifyExact(body) };
    },
    async send(request) {
      const { target, body, key } = request;
      const [method, path = ""] = target.split(" ") as [PlatformRequest["method"], string?];
      const exchange = await client.exchange({
        method,
        path,
        ...(body === "" ? {} : { body }),
        idempotencyKey: key,
        purpose: "write",
      });
      let open: Fault | null = null;
      const read = (data: unknown): ReturnType<typeof ids> => {
        open = options.openIn?.(data) ?? null;
        return ids(data);
      };
      const answer = answerOf(exchange, read, new Date(clock.now().wallMs), method);
      const told = open === null ? answer : { ...answer, unfinished: open };
      return outcomeOf(ownReplay(told, exchange, request));
    },
  };
}

function ownId(data: unknown): readonly string[] | null {
  const id = (data as { id?: unknown } | undefined)?.id;
  return typeof id === "string" ? [id] : null;
}

/** The id in a target's path: `PUT /invoices/<id>/mark-paid`. */
export const idIn = ({ target }: Outgoing): string =>
  decodeURIComponent(target.split(" ")[1]?.split("/")[2] ?? "");

/**
 * The document itself, once the contract takes it: what the schema would add is the platform's to add. A limit that it
 * breaks costs no request. @throws Refused
 */
export function accepted<T>(schema: z.ZodType<T>, document: unknown): T {
  const checked = schema.safeParse(document);
  if (!checked.success) throw new Refused(refusal(checked.error, document));
  return document as T;
}

function refusal(error: z.ZodError, document: unknown): Fault {
  const first = error.issues[0];
  const field = first?.path.join(".") ?? "";
  const value = first?.path.reduce<unknown>(
    (part, name) => (part as Record<PropertyKey, unknown> | null | undefined)?.[name],
    document,
  );
  const shown = value === undefined ? "" : ` ${stringifyExact(value).slice(0, 80)}`;
  return {
    code: "over-the-contract",
    message: `the platform would refuse it: ${field || "document"}${shown}: ${first?.message ?? "invalid"}`,
    next: "Correct the document in the ERP, or the mapping, then retry.",
    ...(field === "" ? {} : { field }),
  };
}
