/** Requests: bytes frozen under a key before the first one leaves, what is known about them, and what waits for their outcome. */
import type Database from "better-sqlite3";
import type { Frozen, Remembered } from "../core/contract.ts";
import { sha256 } from "../core/keys.ts";
import { comparedNumber, type Kind } from "../core/kinds.ts";
import { freshRequest, isFinal, type RequestState, type State } from "../core/request.ts";
import { CARRIED, type Carried } from "./deliveries.ts";
import {
  asking,
  type BodyRow,
  expectBody,
  foldedOf,
  IS_NUMBERED,
  sumIn,
  sumOf,
  wholeIn,
} from "./statements.ts";

interface RequestRow {
  readonly flow: number;
  readonly operation: string;
  readonly kind: Kind;
  readonly number: string;
  readonly revision: string;
  readonly orderingKey: string;
  readonly key: string;
  readonly machine: RequestState;
}

/** `machine`: what is known of it already. */
type NewRequest = Frozen & RequestRow;

export interface StoredRequest extends RequestRow {
  readonly request: number;
  readonly target: string;
  /** Empty: its bytes are gone. */
  readonly body: string;
  /** When they were made, ms UTC. */
  readonly createdMs: number;
}

type Row = Omit<StoredRequest, "machine"> & BodyRow & { readonly machine: string };

/** When its bytes last left, also under an earlier key. */
const SENT = "sent_ms = coalesce(max(sent_ms, ?), sent_ms, ?)";
/** Those that are open, without reading all that ever were; with `live = 1`. */
const OPEN = "request indexed by request_ordering_key";
const ROW = `request, flow, operation, kind, number, revision, ordering_key as orderingKey, key, target, body, body_sha256,
  body_gone_ms, created_ms as createdMs, ${wholeIn("request")} as machine`;

/**
 * `leaving` is told, inside the transaction, when bytes are about to leave. What runs for every document is bound by
 * position: names cost as much as the statement.
 */
export function requests(database: Database.Database, leaving: (atMs: number) => void) {
  const { insert, is, row, rows, run, sure, value } = asking(database);
  const add = insert<unknown[]>(
    `insert into request (flow, operation, kind, number, revision, ordering_key, key, target, body, body_sha256,
       state, live, machine, created_ms, updated_ms, sent_ms, sum, folded)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)`,
  );
  const open = rows<[flow: number], Row>(
    `select ${ROW} from ${OPEN} where flow = ? and live = 1 order by request`,
  );
  const one = row<[request: number], Row>(`select ${ROW} from request where request = ?`);
  const liveKind = row<[number: string, kind: Kind], Row>(
    `select ${ROW} from request where ${IS_NUMBERED} and kind = ?2 and live = 1`,
  );
  const nextOfNumber = sure<[number: string, operation: string], number>(
    `select coalesce(max(machine ->> '$.generation') + 1, 0) from request
     where ${IS_NUMBERED} and operation = ?2`,
  );
  const moving = (also: string) =>
    run<unknown[]>(
      `update request set state = ?, machine = ?, updated_ms = ?, ${SENT},
         sum = ${sumIn("request", ["machine"])} ${also}
       where request = ? and state = ?`,
    );
  const move = moving("");
  const settle = moving(", live = null");
  const rename = run<[key: string, key: string, request: number]>(
    `update request set key = ?, sum = ${sumIn("request", ["key"])} where request = ?`,
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
      return add(...row);
    },

    /** Every request of a flow that is not final, oldest first. */
    open: (flow: number): StoredRequest[] => open(flow).map(read),

    get(request: number): StoredRequest | null {
      const row = one(request);
      return row === null ? null : read(row);
    },
    /** What it was sent with; null: there is no request, or its bytes are not kept any more. */
    bytes: (request: number | null): string | null =>
      request === null ? null : one(request)?.body || null,

    /** Requests of a flow that are neither final nor a person's. */
    openCount: sure<[flow: number], number>(
      `select count(*) from ${OPEN} where flow = ? and live = 1 and state <> 'manual'`,
    ),

    /**
     * Is a request of any operation under this ordering key on its way? The second value: of those that wait for a person, those
     * of this operation count that were sent, for nobody knows what they made. Null: none of them does.
     */
    isOrderingKeyLive: is<[orderingKey: string, manualOf: string | null]>(
      "select 1 from request where ordering_key = ? and live = 1 and (state <> 'manual' or operation = ? and sent_ms is not null)",
    ),

    /** What of this kind and number, as numbers are compared, is on its way, to whichever side. */
    live(kind: Kind, number: string): StoredRequest | null {
      const row = liveKind(comparedNumber(kind, number), kind);
      return row === null ? null : read(row);
    },

    /** 0 for a content never frozen before; else one more than the last key used for it. */
    nextGeneration: sure<[operation: string, number: string, revision: string], number>(
      `select coalesce(max(machine ->> '$.generation') + 1, 0) from request
       where operation = ? and number = ? and revision = ?`,
    ),

    /** The same of a number, as numbers of this kind are compared, whatever its content. */
    nextOfNumber: (operation: string, kind: Kind, number: string): number =>
      nextOfNumber(comparedNumber(kind, number), operation),

    /** @throws Error when another hand moved it meanwhile: exactly one row must change. */
    move(request: StoredRequest, next: RequestState, key: string, atMs: number): StoredRequest {
      const sent = next.lastSend?.wallMs ?? null;
      const state = packed(next);
      const row = [next.state, state, atMs, sent, sent, state];
      const make = isFinal(next.state) ? settle : move;
      if (make(...row, request.request, request.machine.state) !== 1)
        throw new Error(`request ${request.request} is no longer ${request.machine.state}`);
      if (key !== request.key) rename(key, key, request.request);
      if (next.state === "sending") leaving(atMs);
      return { ...request, machine: next, key };
    },

    /** Was anything ever sent from here, found at its receiver, or linked? */
    hasWorked: is<[]>(
      `select 1 where exists (select 1 from link)
         or exists (select 1 from request where state not in ('ready', 'preflight', 'cancelled'))`,
    ),

    /** When the first of its documents came, ms UTC. */
    receivedMs: value<[request: number], number>(
      "select min(received_ms) from delivery where request = ?",
    ),

    /** In the order of its items. */
    carried: rows<[request: number], Carried>(
      `select ${CARRIED} from delivery join record using (record)
       where request = ? and delivery.content is not null order by delivery`,
    ),
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

const unpacked = (machine: string): RequestState => ({
  ...freshRequest,
  ...(JSON.parse(machine) as Partial<RequestState>),
});

interface Version {
  readonly record: number;
  readonly request: number;
  readonly state: State;
}

interface Turn {
  readonly request: number;
  readonly orderingKey: string;
}

/** A request that has not ended, and what its receiver said last. */
export interface Unended {
  readonly request: number;
  readonly state: State;
  readonly sinceMs: number;
  readonly documents: number;
  /** What came of its last send or look; null: it was neither sent nor looked for. */
  readonly said: string | null;
}

/** A delivery that waits to be mapped, and since when. */
interface Unmapped {
  readonly delivery: number;
  readonly text: string;
  readonly sinceMs: number;
}

/** So many of the oldest are asked about. */
export const OLDEST = 500;

/** Documents whose requests are not final, and what waits for the same outcome (src/engine/lifecycle.ts). */
export function underWay(database: Database.Database) {
  const { is, rows, values } = asking(database);
  // Asked of the records at hand, not read as a whole: what is on its way may be all that a receiver has not taken for days.
  const versions = rows<[records: string, flow: number, kind: Kind], Version>(
    `select record, request.request, request.state
     from json_each(?) asked cross join delivery on delivery.record = asked.value
       cross join request using (request)
     where request.flow = ? and request.live = 1 and kind = ? order by request.request`,
  );
  const elsewhere = is<[number: string, kind: Kind, flow: number]>(
    `select 1 from delivery cross join request using (request)
     where (delivery.number = ?1 and delivery.folded is null or delivery.folded = ?1)
       and delivery.state in ('frozen', 'quarantined')
       and request.live = 1 and kind = ?2 and request.flow <> ?3 limit 1`,
  );

  return {
    /** Those of these records that a request of this flow carries, the newest last. */
    versions: (kind: Kind, flow: number, asked: readonly number[]): Version[] =>
      versions(JSON.stringify(asked), flow, kind),
    /** Does a request of another flow carry a document of this number, whose place no newer version has taken? */
    elsewhere: (kind: Kind, number: string, flow: number): boolean =>
      elsewhere(comparedNumber(kind, number), kind, flow),
    /** The records that are carried by one of this kind. */
    records: rows<[kind: Kind], { flow: number; recordId: string }>(
      `select record.flow, shown_id(record.id) as recordId from ${OPEN}
         cross join delivery on delivery.request = request.request
         cross join record on record.record = delivery.record
       where request.live = 1 and kind = ?`,
    ),
    /** The open requests of a flow that are no person's, oldest first, without their bytes. */
    turns: rows<[flow: number], Turn>(
      `select request, ordering_key as orderingKey from ${OPEN}
       where flow = ? and live = 1 and state <> 'manual' order by request`,
    ),
    /**
     * The open requests of a flow that are no person's and are as old as that, the oldest first; those too that a clock which
     * was so far ahead has dated, for nobody knows how old they are.
     */
    unended: rows<[flow: number, nowMs: number, leastMs: number], Unended>(
      `select request, state, created_ms as sinceMs,
              (select count(*) from delivery
               where delivery.request = r.request and delivery.state = 'frozen') as documents,
              (select detail from audit where audit.request = r.request and delivery is null
                 and event in ('ready', 'unknown', 'sending') order by audit desc limit 1) as said
       from request r indexed by request_ordering_key
       where flow = ? and live = 1 and state <> 'manual' and abs(? - created_ms) >= ? order by request`,
    ),
    /** Requests of a flow that may have arrived, and when they are looked for, ms UTC: the oldest {@link OLDEST}. */
    doubtful: rows<[flow: number], { number: string; untilMs: number | null }>(
      `select number, json_extract(machine, '$.notBefore.wallMs') as untilMs
       from request indexed by request_ordering_key
       where flow = ? and live = 1 and state = 'unknown' order by request limit ${OLDEST}`,
    ),
    /**
     * Of the {@link OLDEST} pending deliveries of a flow those that wait for so long, as above, the oldest first. A person who
     * retried one, a wait that ended: from then on it waits again.
     */
    unmapped: rows<[flow: number, nowMs: number, leastMs: number], Unmapped>(
      `select delivery, text, sinceMs from (
         select oldest.delivery, record, max(received_ms, coalesce(
           (select max(at_ms) from audit where audit.delivery = oldest.delivery), 0)) as sinceMs
         from (select delivery, record, received_ms from delivery indexed by delivery_pending
               where flow = ? and state = 'pending' order by delivery limit ${OLDEST}) oldest)
         join record using (record)
       where abs(? - sinceMs) >= ? order by sinceMs`,
    ),
    /** Newer versions of what a request carries, which wait for the same decision. */
    newer: values<[request: number], number>(
      "select delivery from delivery where request = ? and content is null and state = 'quarantined'",
    ),
  };
}

/** What was delivered, as it was written: for receivers that cannot be asked. Read only. */
export function remembered(database: Database.Database) {
  const { row, rows } = asking(database);
  const items = rows<[operation: string], { request: number; id: string; number: string }>(
    `select delivery.request, shown_id(record.id) as id, delivery.number
     from (select max(delivery) as delivery from delivery where state = 'delivered' and content is not null
           group by record)
       join delivery using (delivery) join request using (request) join record using (record)
     where operation = ? order by delivery.request`,
  );
  const bytes = row<[request: number], BodyRow & { target: string; updated_ms: number }>(
    "select request, target, body, body_sha256, updated_ms, body_gone_ms from request where request = ?",
  );
  return {
    /**
     * Requests of an operation, oldest first, each document in the newest that delivered it.
     * @throws StorageError when frozen bytes are damaged
     */
    *of(operation: string): Generator<Remembered> {
      for (const [request, own] of Map.groupBy(items(operation), (row) => row.request)) {
        const row = bytes(request);
        if (row === null || row.body_gone_ms !== null) continue;
        expectBody(row);
        yield {
          target: row.target,
          body: row.body,
          items: own.map(({ id, number }) => ({ id, number })),
          deliveredAt: new Date(row.updated_ms).toISOString(),
        };
      }
    },
  };
}

/** What X12 has room for; after it comes 1 again. */
const LAST = 999_999_999;
/** So many numbers are left out when a store goes on that does not know all that was sent. */
const LEAP = 100_000;

/** The numbers that requests take, where their receiver wants them numbered (ADR 0019). None is ever given twice. */
export function sequences(database: Database.Database) {
  const { run, sure } = asking(database);
  return {
    /** 1 to 999999999. Inside the transaction that stores what is numbered. */
    next: sure<[sequence: string], number>(
      `insert into sequence (sequence, last) values (?, 1)
       on conflict do update set last = last % ${LAST} + 1 returning last`,
    ),
    /** A person has released a restored store: what it gave since its backup, nobody knows. */
    leap: run<[]>(`update sequence set last = (last + ${LEAP}) % ${LAST}`),
  };
}

// What goes when its time is over, in small steps. Links, keys, hashes, states and the audit stay, and so do the bytes
// that a document was last delivered by, and all of what is still open, waits, or differs.

/** Requests that one step looks at, and pages that one step gives back. */
const STEP = 500;
const PAGES = 256;

export function retention(database: Database.Database) {
  const { rows, run, value } = asking(database);
  const last = value<[], number>("select max(request) from request");
  // Every document of it was delivered anew since, and nothing of it is open, waits or differs.
  const replaced = rows<
    [{ after: number; upTo: number; before: number }],
    { request: number; bytes: number }
  >(
    `select request, length(cast(body as blob)) as bytes from request r
     where request > :after and request <= :upTo and live is null and body_gone_ms is null and updated_ms < :before
       and exists (select 1 from delivery d where d.request = r.request)
       and not exists (select 1 from delivery d where d.request = r.request and (
         d.state in ('pending', 'frozen', 'quarantined')
         or exists (select 1 from wait w where w.record = d.record)
         or exists (select 1 from disagreement g where g.record = d.record)
         or not exists (select 1 from delivery n where n.record = d.record and n.delivery > d.delivery
           and n.state = 'delivered' and n.content is not null and n.request <> d.request)))
       and not exists (select 1 from carried_before c join delivery d using (delivery)
         where c.request = r.request and d.state in ('pending', 'frozen', 'quarantined'))`,
  );
  const remove = run<[atMs: number, request: number]>(
    "update request set body = '', body_gone_ms = ? where request = ?",
  );
  const pragma = (name: string): number => database.pragma(name, { simple: true }) as number;

  return {
    /** The last request there is: a pass goes up to it. */
    lastRequest: (): number => last() ?? 0,
    /** One step of a pass, inside a transaction: the next requests after `after`, of those before that time. */
    removeBytes(after: number, beforeMs: number, atMs: number) {
      const upTo = after + STEP;
      const found = replaced({ after, upTo, before: beforeMs });
      for (const { request } of found) remove(atMs, request);
      return {
        /** Requests whose bytes went, and how many bytes. */
        requests: found.length,
        bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
        upTo,
      };
    },
    /** The fields of differences that were settled before that time; how many. One step, inside a transaction. */
    removeSettled: run<[beforeMs: number]>(
      `update difference set case_row = null where difference in (
         select difference from difference
         where state = 'cleared' and case_row is not null and last_ms < ? limit ${STEP})`,
    ),
    /** Versions that newer ones replaced before that time; how many. One step, inside a transaction. */
    removeVersions: run<[beforeMs: number]>(
      `delete from earlier_version where earlier_version in (
         select earlier_version from earlier_version where replaced_ms < ? limit ${STEP})`,
    ),
    /** Gives some free pages back to the disk; false: there is none. Outside a transaction. */
    giveBack(): boolean {
      if (pragma("freelist_count") === 0) return false;
      database.pragma(`incremental_vacuum(${PAGES})`);
      return true;
    },
    /** The file has its new length once the log is written into it. */
    settle: (): void => void database.pragma("wal_checkpoint(passive)"),
    /** Of the file, and in it what is free for what comes next. */
    size() {
      const page = pragma("page_size");
      return { bytes: pragma("page_count") * page, freeBytes: pragma("freelist_count") * page };
    },
  };
}
