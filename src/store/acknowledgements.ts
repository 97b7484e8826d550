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
}

export function acknowledgements(database: Database.Database) {
  const expect = database.prepare(
    "insert or replace into acknowledgement (exchange, item, flow, delivery) values (:exchange, :item, :flow, :delivery)",
  );
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
    `update acknowledgement set state = :verdict, detail = :detail, told = iif(:verdict = 'refused', 0, told)
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
  const stateOf = database
    .prepare<[number], DeliveryState>("select state from delivery where delivery = ?")
    .pluck();

  return {
    /** Inside the transaction that freezes what goes under it. */
    expect(reference: Reference, flow: number, delivery: number): void {
      expect.run({ ...reference, flow, delivery });
    },
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
      { verdict, detail }: Pick<Acknowledgement, "verdict" | "detail">,
    ): void {
      take.run({ exchange, item, verdict, detail });
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
    stateOf: (delivery: number): DeliveryState | null => stateOf.get(delivery) ?? null,
  };
}
