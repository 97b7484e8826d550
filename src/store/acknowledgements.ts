/** What receivers tell later of documents that were delivered to them (src/engine/acknowledged.ts). */
import type Database from "better-sqlite3";
import type { Acknowledgement, Reference } from "../core/contract.ts";
import type { DeliveryState } from "../core/delivery-state.ts";

export interface Acknowledging extends Reference {
  readonly flow: number;
  readonly delivery: number;
  readonly state: "awaited" | "accepted" | "refused";
  /** What the receiver calls the document; null: nothing, or it was not delivered yet. */
  readonly counterpart: string | null;
  /** A person has the delivery for it. */
  readonly told: 0 | 1;
  /** What the receiver said, in words. */
  readonly detail: string;
  /** When it said so, by its own clock; empty: it does not tell. */
  readonly said_at: string;
}

export function acknowledgements(database: Database.Database) {
  const expect = database.prepare(
    "insert or replace into acknowledgement (exchange, item, flow, delivery) values (:exchange, :item, :flow, :delivery)",
  );
  const other = database
    .prepare<[string, string, number], string>(
      `select coalesce(delivery.number, '') from acknowledgement join delivery using (delivery)
       where exchange = ? and item = ? and delivery.record <> ?`,
    )
    .pluck();
  const deliver = database.prepare(
    `update acknowledgement set is_delivered = 1, counterpart = :counterpart, due_ms = :due
     where exchange = :exchange and item = :item`,
  );
  const one = database.prepare<[string, string], Acknowledging>(
    "select * from acknowledgement where exchange = ? and item = ?",
  );
  const all = database.prepare<[string], Acknowledging>(
    "select * from acknowledgement where exchange = ?",
  );
  const take = database.prepare(
    `update acknowledgement set state = :verdict, detail = :detail, said_at = :at, told = iif(:verdict = 'refused', 0, told)
     where exchange = :exchange and item = :item`,
  );
  const tell = database.prepare(
    "update acknowledgement set told = :told where exchange = :exchange and item = :item",
  );
  const open = database.prepare<{ flow: number; at: number }, Acknowledging>(
    `select * from acknowledgement
     where flow = :flow and told = 0 and is_delivered = 1
       and (state = 'refused' or (state = 'awaited' and due_ms <= :at))
     order by exchange, item`,
  );
  const nextDue = database
    .prepare<[number], number | null>(
      "select min(due_ms) from acknowledgement where flow = ? and state = 'awaited' and told = 0",
    )
    .pluck();
  const again = database
    .prepare<[number, string], number>(
      "select 1 from acknowledgement where delivery = ? and exchange <> ? and is_delivered = 1 limit 1",
    )
    .pluck();
  const last = database.prepare<
    { request: number; number: string },
    Pick<Acknowledgement, "verdict" | "detail">
  >(
    `select acknowledgement.state as verdict, acknowledgement.detail from delivery join acknowledgement using (delivery)
     where request = :request and number = :number and acknowledgement.detail <> ''
     order by said_at desc limit 1`,
  );
  const stateOf = database
    .prepare<[number], DeliveryState>("select state from delivery where delivery = ?")
    .pluck();

  return {
    /** Inside the transaction that freezes what goes under it. */
    expect(reference: Reference, flow: number, delivery: number): void {
      expect.run({ ...reference, flow, delivery });
    },
    /** The number of the document of another record than this one that went under it; null: none did. */
    other: ({ exchange, item }: Reference, record: number): string | null =>
      other.get(exchange, item, record) ?? null,
    /** It was delivered. `dueMs`: null, for ever. Inside the transaction of the answer. */
    delivered(
      { exchange, item }: Reference,
      counterpart: string | null,
      dueMs: number | null,
    ): void {
      deliver.run({ exchange, item, counterpart, due: dueMs });
    },
    /** What an acknowledgement speaks of; empty: nothing that we sent. */
    named({ exchange, item }: Pick<Acknowledgement, "exchange" | "item">): Acknowledging[] {
      if (item === null) return all.all(exchange);
      const row = one.get(exchange, item);
      return row === undefined ? [] : [row];
    },
    /** A refusal is told anew, whatever was told before. */
    take(
      { exchange, item }: Reference,
      { verdict, detail, at = "" }: Pick<Acknowledgement, "verdict" | "detail" | "at">,
    ): void {
      take.run({ exchange, item, verdict, detail, at });
    },
    /** A person has it, or has it no more. */
    tell({ exchange, item }: Reference, told: boolean): void {
      tell.run({ exchange, item, told: Number(told) });
    },
    /** Of a flow: refused, or not told of in time, and no person has it yet. */
    open: (flow: number, atMs: number): Acknowledging[] => open.all({ flow, at: atMs }),
    /** When the next one is late; null: none is awaited. */
    nextDueMs: (flow: number): number | null => nextDue.get(flow) ?? null,
    /** Was the same delivery delivered under another number, too? */
    wentAgain: ({ delivery, exchange }: Acknowledging): boolean =>
      again.get(delivery, exchange) !== undefined,
    /** What was told last of a document that a request carried; null: nothing. */
    last: (request: number, number: string): Pick<Acknowledgement, "verdict" | "detail"> | null =>
      last.get({ request, number }) ?? null,
    stateOf: (delivery: number): DeliveryState | null => stateOf.get(delivery) ?? null,
  };
}
