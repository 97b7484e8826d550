import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isLongRun, numbers, runs, steps } from "../../test/support/runs.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { invoiceSink } from "./sinks.fixture.ts";
import {
  allInvoices,
  between,
  booksOf,
  d,
  type Desk,
  deskWith,
  find,
  type GuardName,
  GUARDS,
  hasClaims,
  invoiceDocument,
  keepers,
  losing,
  olderClaims,
  rows,
  send,
  sendUntilTaken,
} from "./sink.fixture.ts";
import { TrytonError } from "./wire.ts";

const SLOW_MS = 600_000;
const SENDERS = runs(3, 8);

describe.skipIf(!trytonIsThere)("no invoice twice", { timeout: SLOW_MS }, () => {
  const server = useTryton({
    modules: { folder: join(import.meta.dirname, "server-module"), names: ["fuelbridge_guard"] },
  });

  const guarded = (guard: GuardName): Promise<Desk> => deskWith(server, [], { guard });

  // The kit and invoices.test.ts show the same of `search`, which is the default.
  test.for(keepers(0))("%s: a batch is booked once, and again nothing", numbers, async (guard) => {
    const desk = await guarded(guard);
    const documents = [invoiceDocument(), invoiceDocument({ dueDate: "2026-01-31" })];
    const sink = invoiceSink(desk.books);
    const answer = await send(sink, ...documents);
    expect(answer).toMatchObject({ outcome: "done", ids: documents.map(({ number }) => number) });
    expect(await send(sink, ...documents)).toEqual(answer);
    expect(await find(sink, ...documents)).toMatchObject({ found: "exact" });
    expect(await allInvoices(desk)).toHaveLength(2);
    expect(await rows(desk, "res.user.warning", [])).toEqual([]);
  });

  test.for(keepers(1))("%s: a refusal leaves nothing behind", numbers, async (guard) => {
    const desk = await guarded(guard);
    const [good, bad] = [invoiceDocument(), invoiceDocument({ total: d("20129.30") })];
    const sink = invoiceSink(desk.books);
    expect(await send(sink, good, bad)).toMatchObject({
      outcome: "refused",
      fault: {
        code: "would-differ",
        message: expect.stringContaining("total: Tryton 20129.33, platform 20129.30") as string,
      },
    });
    const early = invoiceDocument({ invoiceDate: "2024-12-31" });
    expect(await send(sink, good, early)).toMatchObject({ fault: { code: "closed-period" } });
    expect(await allInvoices(desk)).toEqual([]);
    expect(await rows(desk, "ir.model.data", [["module", "=", "fuelbridge"]])).toEqual([]);
    expect(await send(sink, good)).toMatchObject({ outcome: "done" });
  });

  test.for(isLongRun ? GUARDS : keepers(0))(
    "%s: whichever answer is lost, one invoice in the end",
    numbers,
    async (guard) => {
      const desk = await guarded(guard);
      const document = invoiceDocument({ status: "paid", paidDate: "2026-11-20" });
      const whole = losing(desk.books);
      await send(invoiceSink(whole.books), document);
      const changes = whole.changes();
      expect(changes).toBeGreaterThan(4);
      const lose = steps(changes);
      for (const lost of lose) {
        const one = { ...document, id: `lost-${lost}`, number: `LOST-${lost}` };
        const lossy = losing(booksOf(desk.database, { guard }), lost).books;
        expect((await send(invoiceSink(lossy), one)).outcome).not.toBe("refused");
        // A claim of a call whose answer was lost is not taken over before its time.
        if ((await send(invoiceSink(desk.books), one)).outcome === "nothing") olderClaims(desk);
        expect(await send(invoiceSink(desk.books), one)).toMatchObject({ outcome: "done" });
        expect(await find(invoiceSink(desk.books), one)).toMatchObject({ found: "exact" });
      }
      const all = await allInvoices(desk);
      expect(all).toHaveLength(lose.length + 1);
      for (const invoice of all)
        expect(invoice).toMatchObject({ state: "paid", total_amount: document.total });
      const paid = await rows(desk, "account.move", [["description", "like", "platform:%"]]);
      expect(paid).toHaveLength(lose.length + 1);
    },
  );

  test.for(keepers(1))(
    `%s: of ${SENDERS} that send it at once one books it, and all are told its number`,
    numbers,
    async (guard) => {
      const desk = await guarded(guard);
      const document = invoiceDocument();
      const senders = Array.from({ length: SENDERS }, () => booksOf(desk.database, { guard }));
      const answers = await Promise.all(
        senders.map((books) => sendUntilTaken(invoiceSink(books), document)),
      );
      for (const answer of answers)
        expect(answer).toMatchObject({ outcome: "done", ids: [document.number] });
      expect(await allInvoices(desk)).toHaveLength(1);
    },
  );

  test("search keeps nobody else out: two that send it at once book it twice, and are told so", async () => {
    const desk = await guarded("search");
    const document = invoiceDocument();
    let looked = 0;
    const { promise: both, resolve } = Promise.withResolvers<void>();
    const before = async (method: string): Promise<void> => {
      if (method !== "model.account.invoice.create") return;
      if (++looked === 2) resolve();
      await both;
    };
    const two = [1, 2].map(() => between(booksOf(desk.database), { before }));
    await Promise.all(two.map((books) => send(invoiceSink(books), document)));
    expect(await allInvoices(desk)).toHaveLength(2);
    const sink = invoiceSink(desk.books);
    expect(await find(sink, document)).toMatchObject({ found: "several" });
    expect(await send(sink, document)).toMatchObject({
      outcome: "refused",
      fault: { code: "twice-in-books" },
    });
    expect(await allInvoices(desk)).toHaveLength(2);
  });

  test.skipIf(!hasClaims)(
    "claim: what a killed program left is taken over once no call of its can be running",
    async () => {
      const desk = await guarded("claim");
      const document = invoiceDocument();
      const killed = between(desk.books, {
        async before(method) {
          if (method === "model.account.invoice.create") throw new TrytonError("torn", "killed");
        },
      });
      expect(await send(invoiceSink(killed), document)).toMatchObject({
        outcome: "unknown",
        probe: true,
        unanswered: true,
      });
      const sink = invoiceSink(desk.books);
      expect(await find(sink, document)).toMatchObject({ found: "none" });
      const early = await send(sink, document);
      expect(early.outcome).toBe("nothing");
      expect(early.waitMs).toBeGreaterThan(300_000);
      expect(early.waitMs).toBeLessThanOrEqual(330_000);
      olderClaims(desk);
      expect(await send(sink, document)).toMatchObject({ outcome: "done" });
      expect(await allInvoices(desk)).toHaveLength(1);
    },
  );

  test("module: a duplicate that a clerk makes by hand is an invoice of its own", async () => {
    const desk = await guarded("module");
    await send(invoiceSink(desk.books), invoiceDocument());
    const [first] = await allInvoices(desk);
    await desk.clerk.call("model.account.invoice.copy", [[first?.id], {}]);
    expect(await rows(desk, "account.invoice", [], ["external_id"])).toMatchObject([
      { external_id: expect.any(String) as string },
      { external_id: null },
    ]);
  });
});
