/** Requests: bytes frozen under a key before the first one leaves, and what is known about them. */
import type Database from "better-sqlite3";
import type { Frozen } from "../core/contract.ts";
import { sha256 } from "../core/keys.ts";
import { comparedNumber, type Kind } from "../core/kinds.ts";
import { freshRequest, isFinal, type RequestState } from "../core/request-state.ts";
import type { Carried } from "./deliveries.ts";
import { shownId } from "./ids.ts";
import { foldedOf, IS_NUMBERED } from "./numbers.ts";
import { expectBody, resumming, sumIn, sumOf, wholeIn } from "./sums.ts";

export interface NewRequest extends Frozen {
  readonly flow: number;
  readonly operation: string;
  readonly kind: Kind;
  readonly number: string;
  readonly revision: string;
  readonly orderingKey: string;
  readonly key: string;
  /** What is known of it already. */
  readonly machine: RequestState;
}

export interface StoredRequest {
  readonly request: number;
  readonly flow: number;
  readonly operation: string;
  readonly kind: Kind;
  readonly number: string;
  readonly revision: string;
  readonly orderingKey: string;
  readonly key: string;
  readonly target: string;
  /** Empty: its bytes are gone (retention.ts). */
  readonly body: string;
  readonly machine: RequestState;
}

type Row = Omit<StoredRequest, "machine"> & {
  machine: string;
  body_sha256: string;
  body_gone_ms: number | null;
};

/** When its bytes last left, also under an earlier key. */
const SENT = "sent_ms = coalesce(max(sent_ms, ?), sent_ms, ?)";
/** Those that are open, without reading all that ever were; with `live = 1`. */
export const OPEN = "request indexed by request_ordering_key";
const ROW = `request, flow, operation, kind, number, revision, ordering_key as orderingKey, key, target, body, body_sha256, body_gone_ms,
  ${wholeIn("request")} as machine`;

/**
 * `leaving` is told, inside the transaction, when bytes are about to leave. What runs for every document is bound by
 * position: names cost as much as the statement.
 */
export function requests(database: Database.Database, leaving: (atMs: number) => void) {
  const add = database.prepare(
    `insert into request (flow, operation, kind, number, revision, ordering_key, key, target, body, body_sha256,
       state, live, machine, created_ms, updated_ms, sent_ms, sum, folded)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)`,
  );
  const open = database.prepare<[number], Row>(
    `select ${ROW} from ${OPEN} where flow = ? and live = 1 order by request`,
  );
  const one = database.prepare<[number], Row>(`select ${ROW} from request where request = ?`);
  const openCount = database
    .prepare<[number], number>(
      `select count(*) from ${OPEN} where flow = ? and live = 1 and state <> 'manual'`,
    )
    .pluck();
  const liveOrderingKey = database
    .prepare<[string, string | null], number>(
      "select 1 from request where ordering_key = ? and live = 1 and (state <> 'manual' or operation = ?)",
    )
    .pluck();
  const liveKind = database.prepare<[{ number: string; kind: Kind }], Row>(
    `select ${ROW} from request where ${IS_NUMBERED} and kind = :kind and live = 1`,
  );
  const generations = database
    .prepare<[string, string, string], number>(
      `select coalesce(max(machine ->> '$.generation') + 1, 0) from request
       where operation = +? and number = +? and revision = +?`,
    )
    .pluck();
  const moving = (also: string) =>
    database.prepare(
      `update request set state = ?, machine = ?, updated_ms = ?, ${SENT},
         sum = ${sumIn("request", ["machine"])} ${also}
       where request = ? and state = ?`,
    );
  const move = moving("");
  const settle = moving(", live = null");
  const rename = database.prepare("update request set key = ? where request = ?");
  const resum = resumming(database, "request");
  // Bound as `+?`, for a plain `?` has SQLite plan such a statement anew for every value.
  const carried = database.prepare<[number], Carried & { id: Buffer | string }>(
    `select delivery, record.id, ${wholeIn("delivery")} as revision, number, delivery.content, amount, bisect_group as bisectGroup
     from delivery join record using (record)
     where request = +? and delivery.content is not null order by delivery`,
  );

  return {
    add(request: NewRequest, atMs: number): number {
      const { flow, operation, kind, number, revision, orderingKey, key, target, body } = request;
      const { machine } = request;
      const digest = sha256(body);
      const state = packed(machine);
      const named = [flow, operation, kind, number, revision, orderingKey, key, target] as const;
      const sum = sumOf([...named, digest, state]);
      const sentMs = machine.lastSend?.wallMs ?? null;
      const folded = foldedOf(kind, number);
      const row = [...named, body, digest, machine.state, state, atMs, atMs, sentMs, sum, folded];
      return Number(add.run(row).lastInsertRowid);
    },

    /** Every request of a flow that is not final, oldest first. */
    open(flow: number): StoredRequest[] {
      return open.all(flow).map(read);
    },

    get(request: number): StoredRequest | null {
      const row = one.get(request);
      return row === undefined ? null : read(row);
    },

    /** Requests of a flow that are neither final nor a person's. */
    openCount(flow: number): number {
      return openCount.get(flow) ?? 0;
    },

    /**
     * Is a request of any operation under this ordering key on its way? `manualOf`: those of this operation count that wait for a
     * person, too: another document that only has the same name does not depend on them. Null: none of them does.
     */
    isOrderingKeyLive(orderingKey: string, manualOf: string | null): boolean {
      return liveOrderingKey.get(orderingKey, manualOf) !== undefined;
    },

    /** What of this kind and number, as numbers are compared, is on its way, to whichever side. */
    live(kind: Kind, number: string): StoredRequest | null {
      const row = liveKind.get({ number: comparedNumber(kind, number), kind });
      return row === undefined ? null : read(row);
    },

    /** 0 for a content never frozen before; else one more than the last key used for it. */
    nextGeneration(operation: string, number: string, revision: string): number {
      return generations.get(operation, number, revision) ?? 0;
    },

    /** @throws Error when another hand moved it meanwhile: exactly one row must change. */
    move(request: StoredRequest, next: RequestState, key: string, atMs: number): StoredRequest {
      const sent = next.lastSend?.wallMs ?? null;
      const state = packed(next);
      const row = [next.state, state, atMs, sent, sent, state];
      const statement = isFinal(next.state) ? settle : move;
      const result = statement.run(...row, request.request, request.machine.state);
      if (result.changes !== 1)
        throw new Error(`request ${request.request} is no longer ${request.machine.state}`);
      if (key !== request.key) {
        rename.run(key, request.request);
        resum.run(request.request);
      }
      if (next.state === "sending") leaving(atMs);
      return { ...request, machine: next, key };
    },

    /** In the order of its items. */
    carried(request: number): Carried[] {
      return carried.all(request).map(({ id, ...row }) => ({ ...row, recordId: shownId(id) }));
    },
  };
}

function read(row: Row): StoredRequest {
  expectBody(row);
  return { ...row, machine: unpacked(row.machine) };
}

const FIELDS = Object.keys(freshRequest) as (keyof RequestState)[];

/**
 * What of it is not as in a {@link freshRequest}, and the state and the generation, which statements ask for: each move
 * writes it anew, and all of it would be half of the row of a small document. So no value of a fresh one ever changes.
 */
function packed(machine: RequestState): string {
  const { state, generation } = machine;
  const told: Partial<Record<keyof RequestState, unknown>> = { state, generation };
  for (const field of FIELDS)
    if (machine[field] !== freshRequest[field]) told[field] = machine[field];
  return JSON.stringify(told);
}

/** Stores of older versions have all of it. */
const unpacked = (machine: string): RequestState => ({
  ...freshRequest,
  ...(JSON.parse(machine) as Partial<RequestState>),
});
