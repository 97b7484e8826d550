/**
 * Whatever is lost, killed or sent at once, an invoice and a payment are in Tryton once, under each guard that it can have.
 *
 * @module-tag numbers
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { isLongRun, numbers, runs, steps } from "../../test/support/runs.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { invoiceSink, paymentSink } from "./sinks.fixture.ts";
import type { Check } from "../../src/ledger/examine.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { rightsChecks } from "./examine.ts";
import {
  allInvoices,
  between,
  booksOf,
  d,
  type Desk,
  deskWith,
  deskWithOne,
  find,
  type GuardName,
  GUARDS,
  hasClaims,
  invoiceDocument,
  keepers,
  losing,
  olderClaims,
  paymentDocument,
  rows,
  send,
  sendUntilTaken,
} from "./sink.fixture.ts";

const SLOW_MS = 600_000;
const SENDERS = runs(3, 8);

/** The calls that pay. */
const PAYING = /invoice\.(?:pay\.execute|fuelbridge_pay)$/;

describe.skipIf(!trytonIsThere)("with a guard", { timeout: SLOW_MS }, () => {
  const server = useTryton({
    modules: { folder: join(import.meta.dirname, "server-module"), names: ["fuelbridge_guard"] },
  });

  describe("no invoice twice", () => {
    const guarded = (guard: GuardName): Promise<Desk> => deskWith(server, [], { guard });

    // The kit and invoices.test.ts show the same of `search`, which is the default.
    test.for(keepers(0))(
      "%s: a batch is booked once, and again nothing",
      numbers,
      async (guard) => {
        const desk = await guarded(guard);
        const documents = [invoiceDocument(), invoiceDocument({ dueDate: "2026-01-31" })];
        const sink = invoiceSink(desk.books);
        const answer = await send(sink, ...documents);
        expect(answer).toMatchObject({
          outcome: "done",
          ids: documents.map(({ number }) => number),
        });
        expect(await send(sink, ...documents)).toEqual(answer);
        expect(await find(sink, ...documents)).toMatchObject({ found: "exact" });
        expect(await allInvoices(desk)).toHaveLength(2);
        expect(await rows(desk, "res.user.warning", [])).toEqual([]);
      },
    );

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
            if (method === "model.account.invoice.create") throw new LedgerError("torn", "killed");
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

  describe("no payment twice", () => {
    /** Books with one invoice of 20129.33, and a payment of 100.00 for it. */
    async function guarded(guard: GuardName) {
      const { desk, document: invoice } = await deskWithOne(server, "out", { guard });
      const payment = paymentDocument({ invoice: invoice.number, amount: d("100.00") });
      return { desk, invoice, payment, sink: paymentSink(desk.books) };
    }

    const paid = (desk: Desk): Promise<object[]> =>
      rows(desk, "account.move", [["description", "like", "payment:%"]], ["description"]);
    const claimsOf = ({ admin }: Desk): Promise<object[]> =>
      admin.call("model.ir.model.data.search_read", [
        [["model", "=", "account.move"]],
        0,
        null,
        null,
        ["db_id"],
      ]);

    // payments.test.ts shows the same of `search`, which is the default.
    test.for(keepers(1))(
      "%s: a part and more than the rest are paid once each, and again nothing",
      numbers,
      async (guard) => {
        const { desk, invoice, payment, sink } = await guarded(guard);
        const rest = paymentDocument({ invoice: invoice.number, amount: d("20039.33") });
        for (const one of [payment, rest]) {
          expect(await find(sink, one)).toMatchObject({ found: "none" });
          const answer = await send(sink, one);
          expect(answer).toMatchObject({ outcome: "done", ids: [expect.stringContaining(one.id)] });
          expect(await send(sink, one)).toEqual(answer);
          expect(await find(sink, one)).toMatchObject({ found: "exact", ids: answer.ids });
        }
        expect(await paid(desk)).toHaveLength(2);
        expect(await rows(desk, "account.invoice", [["state", "=", "paid"]])).toHaveLength(1);
      },
    );

    test.for(keepers(0))(
      "%s: whichever answer is lost, it is paid once in the end",
      numbers,
      async (guard) => {
        const { desk, invoice, payment, sink } = await guarded(guard);
        const whole = losing(desk.books);
        await send(paymentSink(whole.books), payment);
        const changes = whole.changes();
        expect(changes).toBeGreaterThan(guard === "claim" ? 4 : 0);
        const lose = steps(changes);
        for (const lost of lose) {
          const one = paymentDocument({ invoice: invoice.number, amount: d("10.00") });
          const lossy = losing(booksOf(desk.database, { guard }), lost).books;
          expect((await send(paymentSink(lossy), one)).outcome).not.toBe("refused");
          if ((await send(sink, one)).outcome === "nothing") olderClaims(desk);
          expect(await send(sink, one)).toMatchObject({ outcome: "done" });
        }
        expect(await paid(desk)).toHaveLength(lose.length + 1);
      },
    );

    test.for(keepers(0))(
      `%s: of ${SENDERS} that send it at once one pays it, and all are told its move`,
      numbers,
      async (guard) => {
        const { desk, payment } = await guarded(guard);
        const senders = Array.from({ length: SENDERS }, () => booksOf(desk.database, { guard }));
        const answers = await Promise.all(
          senders.map((books) => sendUntilTaken(paymentSink(books), payment)),
        );
        for (const answer of answers) expect(answer).toEqual({ ...answers[0], outcome: "done" });
        expect(await paid(desk)).toHaveLength(1);
      },
    );

    test.for(GUARDS)(
      "%s: two that both looked before either paid: search pays twice and says so, the others once",
      async (guard) => {
        const { desk, payment, sink } = await guarded(guard);
        let looked = 0;
        const { promise: both, resolve } = Promise.withResolvers<void>();
        const after = async (method: string): Promise<void> => {
          if (method !== "model.account.move.line.search_read" || looked === 2) return;
          if (++looked === 2) resolve();
          await both;
        };
        const two = [1, 2].map(() => between(booksOf(desk.database, { guard }), { after }));
        await Promise.all(two.map((books) => sendUntilTaken(paymentSink(books), payment)));
        expect(await paid(desk)).toHaveLength(guard === "search" ? 2 : 1);
        const found = guard === "search" ? "several" : "exact";
        expect(await find(sink, payment)).toMatchObject({ found });
      },
    );

    test.skipIf(!hasClaims)(
      "claim: killed between claim and payment, it is paid once no call of that program can be running",
      async () => {
        const { desk, payment, sink } = await guarded("claim");
        const killed = between(desk.books, {
          async before(method) {
            if (PAYING.test(method)) throw new LedgerError("torn", "killed");
          },
        });
        expect(await send(paymentSink(killed), payment)).toMatchObject({
          outcome: "unknown",
          probe: true,
          unanswered: true,
        });
        expect(await find(sink, payment)).toMatchObject({ found: "none" });
        const early = await send(paymentSink(booksOf(desk.database, { guard: "claim" })), payment);
        expect(early.outcome).toBe("nothing");
        expect(early.waitMs).toBeGreaterThan(300_000);
        expect(early.waitMs).toBeLessThanOrEqual(330_000);
        olderClaims(desk);
        expect(await send(sink, payment)).toMatchObject({ outcome: "done" });
        expect(await paid(desk)).toHaveLength(1);
      },
    );

    test.skipIf(!hasClaims)(
      "claim: what Tryton refuses, or was too busy for, claims nothing",
      async () => {
        const { desk, payment, sink } = await guarded("claim");
        const early = { ...payment, date: "2024-12-31" };
        expect(await send(sink, early)).toMatchObject({ fault: { code: "closed-period" } });
        expect(await claimsOf(desk)).toEqual([]);
        const busy = between(desk.books, {
          async before(method) {
            if (PAYING.test(method))
              throw new LedgerError("answered", "could not serialize access", { code: "busy" });
          },
        });
        expect(await send(paymentSink(busy), payment)).toMatchObject({
          outcome: "nothing",
          waitMs: expect.any(Number) as number,
        });
        expect(await claimsOf(desk)).toEqual([]);
        expect(await send(sink, payment)).toMatchObject({ outcome: "done" });
        expect(await claimsOf(desk)).toMatchObject([{ db_id: expect.any(Number) as number }]);
      },
    );

    test.for(keepers(1))(
      "%s: what paid one invoice does not pay another, whatever its link says now",
      numbers,
      async (guard) => {
        const { desk, invoice, payment, sink } = await guarded(guard);
        await send(sink, payment);
        const second = invoiceDocument();
        await send(invoiceSink(desk.books), second);
        const moved = { ...payment, invoice: second.number };
        expect(await find(sink, moved)).toMatchObject({ found: "different" });
        expect(await send(sink, moved)).toMatchObject({
          outcome: "refused",
          fault: {
            code: "differs",
            message: expect.stringContaining(`invoice: Tryton ${invoice.number}`) as string,
          },
        });
        expect(await paid(desk)).toHaveLength(1);
      },
    );

    test("module: one of a version that did not know payments is told before it is needed", async () => {
      const { desk } = await guarded("module");
      const [what, look] = rightsChecks(desk.books, new Set()).at(-1) as Check;
      expect(what).toBe("module fuelbridge_guard");
      expect(await look()).toBeNull();
      const file = new Database(desk.database.path);
      const model = hasClaims
        ? "(select id from ir_model where model = 'account.move')"
        : "'account.move'";
      file.exec(
        `delete from ir_model_field where module = 'fuelbridge_guard' and name = 'external_id' and model = ${model}`,
      );
      file.close();
      expect(await look()).toMatchObject({
        code: "no-module",
        message: "the module fuelbridge_guard of Tryton is of an older version",
      });
    });
  });
});
