/**
 * Whatever is lost, killed or sent at once, an invoice and a payment are in Tryton once, under each guard that it can have.
 *
 * @module-tag numbers
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { isLongRun, numbers, runs, steps } from "../../test/support/runs.ts";
import { testedSeries } from "../../test/support/tryton-releases.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { invoiceSink, paymentSink } from "./sinks.fixture.ts";
import type { Check } from "../../src/ledger/examine.ts";
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
  invoiceDocument,
  losing,
  paymentDocument,
  rows,
  send,
  sendUntilTaken,
} from "./sink.fixture.ts";

const SLOW_MS = 600_000;
const SENDERS = runs(3, 8);

type GuardName = "search" | "module";
/** It keeps a second program out. */
const MODULE = "module";
const GUARDS: readonly GuardName[] = ["search", MODULE];

describe.skipIf(!trytonIsThere)("with a guard", { timeout: SLOW_MS }, () => {
  const server = useTryton({
    modules: { folder: join(import.meta.dirname, "server-module"), names: ["fuelbridge_guard"] },
  });

  describe("no invoice twice", () => {
    const guarded = (guard: GuardName = MODULE): Promise<Desk> => deskWith(server, [], { guard });

    // The kit and invoices.test.ts show the same of `search`, which is the default.
    test("module: a batch is booked once, and again nothing", numbers, async () => {
      const desk = await guarded();
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
    });

    test("module: a refusal leaves nothing behind", numbers, async () => {
      const desk = await guarded();
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
      expect(await send(sink, good)).toMatchObject({ outcome: "done" });
    });

    test.for(isLongRun ? GUARDS : GUARDS.slice(1))(
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

    test(
      `module: of ${SENDERS} that send it at once one books it, and all are told its number`,
      numbers,
      async () => {
        const desk = await guarded();
        const document = invoiceDocument();
        const senders = Array.from({ length: SENDERS }, () =>
          booksOf(desk.database, { guard: "module" }),
        );
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

    test("module: a duplicate that a clerk makes by hand is an invoice of its own", async () => {
      const desk = await guarded();
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
    async function guarded(guard: GuardName = MODULE) {
      const { desk, document: invoice } = await deskWithOne(server, "out", { guard });
      const payment = paymentDocument({ invoice: invoice.number, amount: d("100.00") });
      return { desk, invoice, payment, sink: paymentSink(desk.books) };
    }

    const paid = (desk: Desk): Promise<object[]> =>
      rows(desk, "account.move", [["description", "like", "payment:%"]], ["description"]);
    // payments.test.ts shows the same of `search`, which is the default.
    test(
      "module: a part and more than the rest are paid once each, and again nothing",
      numbers,
      async () => {
        const { desk, invoice, payment, sink } = await guarded();
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

    test("module: whichever answer is lost, it is paid once in the end", numbers, async () => {
      const { desk, invoice, payment, sink } = await guarded();
      const whole = losing(desk.books);
      await send(paymentSink(whole.books), payment);
      const changes = whole.changes();
      expect(changes).toBeGreaterThan(0);
      const lose = steps(changes);
      for (const lost of lose) {
        const one = paymentDocument({ invoice: invoice.number, amount: d("10.00") });
        const lossy = losing(booksOf(desk.database, { guard: "module" }), lost).books;
        expect((await send(paymentSink(lossy), one)).outcome).not.toBe("refused");
        expect(await send(sink, one)).toMatchObject({ outcome: "done" });
      }
      expect(await paid(desk)).toHaveLength(lose.length + 1);
    });

    test(
      `module: of ${SENDERS} that send it at once one pays it, and all are told its move`,
      numbers,
      async () => {
        const { desk, payment } = await guarded();
        const senders = Array.from({ length: SENDERS }, () =>
          booksOf(desk.database, { guard: "module" }),
        );
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

    test(
      "module: what paid one invoice does not pay another, whatever its link says now",
      numbers,
      async () => {
        const { desk, invoice, payment, sink } = await guarded();
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
      const { desk } = await guarded();
      const [what, look] = rightsChecks(desk.books, new Set()).at(-1) as Check;
      expect(what).toBe("module fuelbridge_guard");
      expect(await look()).toBeNull();
      const file = new Database(desk.database.path);
      const model =
        testedSeries === "6.0"
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
