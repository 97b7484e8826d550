/**
 * A sink of documents that go one by one and have no batch (orders, delivery tickets). A send looks for its document
 * first and goes on from what it finds, so it may be repeated after anything.
 */
import {
  type Delivered,
  gone,
  type Inspection,
  type Item,
  type Sink,
  thereAsBrought,
} from "../core/contract.ts";
import type { Refused } from "../core/errors.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { type Answer, done, type Finding, type Policy } from "../core/outcome.ts";
import { answering, finding } from "./answering.ts";
import { type ErrorRow, uncertain } from "./errors.ts";

/** A document, and what the books called it when it was delivered before; null: it was not. */
export interface One<Document> {
  readonly document: Document;
  readonly counterpart: string | null;
}

/** What an ERP adds. Every method @throws Refused, a fault of the ERP. */
export interface Single<Document extends { readonly status: string }, Standing> {
  readonly operation: string;
  /** What its requests are called. */
  readonly target: string;
  /** What people call a document that ended: `void`. */
  readonly ended: string;
  readonly policy: Policy;
  readonly errors: readonly ErrorRow[];
  /** An item of a request's body. Pure. */
  frozen(item: Item): unknown;
  /** @throws ZodError */
  wantedIn(item: unknown): One<Document>;
  /** The refusal of a document that is there as the opposite of what it is now; null: it is not. */
  turned(wanted: One<Document>): Promise<Refused | null>;
  /** `detail`: why what is there cannot be taken for it. */
  look(
    wanted: One<Document>,
  ): Promise<{ readonly found: readonly Standing[]; readonly detail: string | null }>;
  create(document: Document): Promise<Standing>;
  /** Brings it to what its document says; it as it stands then. */
  bringTo(document: Document, standing: Standing): Promise<Standing>;
  /** What only a person can decide; null: nothing. */
  faultOf(document: Document, standing: Standing): Refused | null;
  /** Is it what its document says? */
  isFinal(document: Document, standing: Standing): boolean | Promise<boolean>;
  /** Does it have what was written beside it, as a note? Asked by a read-back only. Left out: nothing was. */
  isNoted?(document: Document, standing: Standing): Promise<boolean>;
  /** What links are kept by. */
  idOf(document: Document, standing: Standing): string;
  /** `sale 12 processing` */
  told(document: Document, standing: Standing): string;
  /** That there are several. */
  several(found: readonly Standing[]): string;
  /** That there is none. */
  absent(document: Document): string;
  /** What cannot be told from another one. */
  conflict(document: Document, detail: string): Refused;
  /** Those of these ids of links that are gone, or not as far as they were brought. @throws SourceUnavailable */
  readonly missing: (ids: readonly string[], signal: AbortSignal) => Promise<readonly string[]>;
}

export function singleSink<Document extends { readonly status: string }, Standing>(
  single: Single<Document, Standing>,
): Sink {
  const { operation, target, policy, errors } = single;
  const wantedIn = (body: string): One<Document> =>
    single.wantedIn((parseExact(body) as readonly unknown[])[0]);
  return {
    operation,
    writes: "upsert",
    itemsMax: 1,
    atOnce: 1,
    policy,
    freeze: (items) => ({
      target,
      body: stringifyExact(items.map((item) => single.frozen(item))),
    }),
    send: ({ body }) => answering(errors, () => send(single, wantedIn(body))),
    find: ({ body }) => finding(errors, () => find(single, wantedIn(body))),
    inspect: (delivered, signal) => inspect(single, delivered, signal),
  };
}

const CANCELLED = "cancelled";

async function send<Document extends { readonly status: string }, Standing>(
  single: Single<Document, Standing>,
  wanted: One<Document>,
): Promise<Answer> {
  const { document } = wanted;
  const turned = await single.turned(wanted);
  if (turned !== null) throw turned;
  const { found, detail } = await single.look(wanted);
  if (found.length > 1 || detail !== null)
    throw single.conflict(document, detail ?? single.several(found));
  const [standing] = found;
  if (standing === undefined && document.status === CANCELLED)
    return done(`it was ${single.ended} before it was booked`, [null]);
  const after = await single.bringTo(document, standing ?? (await single.create(document)));
  const told = single.told(document, after);
  // A button says nothing when it does nothing.
  return (await single.isFinal(document, after))
    ? done(told, [single.idOf(document, after)])
    : uncertain(`not all of it is done: ${told}`);
}

async function find<Document extends { readonly status: string }, Standing>(
  single: Single<Document, Standing>,
  wanted: One<Document>,
): Promise<Finding> {
  const { document } = wanted;
  const turned = await single.turned(wanted);
  if (turned !== null) return { found: "different", detail: turned.fault.message };
  const { found, detail } = await single.look(wanted);
  const [standing, another] = found;
  if (detail !== null) return { found: "different", detail };
  if (another !== undefined) return { found: "several", detail: single.several(found) };
  if (standing === undefined)
    return document.status === CANCELLED
      ? { found: "exact", ids: [null], detail: `${single.ended} before it was booked` }
      : { found: "none", detail: single.absent(document) };
  const fault = single.faultOf(document, standing);
  if (fault !== null) return { found: "different", detail: fault.fault.message };
  const told = single.told(document, standing);
  const isThere =
    (await single.isFinal(document, standing)) &&
    ((await single.isNoted?.(document, standing)) ?? true);
  return isThere
    ? { found: "exact", ids: [single.idOf(document, standing)], detail: told }
    : { found: "none", detail: `not all of it is done: ${told}` };
}

/** What can only be asked whether it is there at all. */
async function inspect(
  { missing }: Pick<Single<never, never>, "missing">,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const ids = delivered.map(({ counterpart }) => counterpart);
  const absent = new Set(await missing(ids, signal));
  return delivered.map(({ counterpart }) => (absent.has(counterpart) ? gone : thereAsBrought));
}
