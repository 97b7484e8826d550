/** What goes wrong between a database and an ERP's job, over real servers of both kinds. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import type { Scope } from "../../src/core/holdings.ts";
import type {
  Acknowledgement,
  Change,
  Endpoint,
  Notebook,
  Page,
  Sink,
} from "../../src/core/contract.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { deliver, never, refusalOf } from "../../test/support/connector.ts";
import { invoiceOf, paymentOf } from "../../test/support/ledger-documents.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { dialects, openSql } from "../../src/ledger/sql.ts";
import { sqlStaging } from "./index.ts";
import {
  createViews,
  type Database,
  isThere,
  type Server,
  startServer,
} from "../../test/sql-staging/server.ts";
import { cuttingLine } from "../../test/sql-staging/site.ts";

const itemOf = (more: Partial<InvoiceDocument> = {}) => {
  const document = invoiceOf("FL-1", "2300", more);
  return { number: document.number, id: document.id, revision: "r1", document, counterpart: null };
};
const payment = paymentOf("pay-1", itemOf().id, { amount: Decimal.of("19934.08") });
const paidInFull = { ...itemOf(), number: "pay-1", id: "pay-1", document: payment };
const LATER = "2026-12-20";
const ALL_DAYS = { dated: { from: "2026-01-01", to: "2026-12-31" }, changedSince: null };

describe.each(dialects.filter((dialect) => isThere[dialect]))("%s", (dialect) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(dialect);
  });
  afterAll(() => server.stop());

  const opened = async (more: object = {}) => {
    const database = await server.database();
    const config = sqlStaging.config.parse({ ...database.settings, ...more });
    const notebook = new Map<string, string | null>();
    const surroundings = { ...surroundingsIn("."), notebook: notebookOf(notebook) };
    const endpoint = sqlStaging.open(config, surroundings);
    onTestFinished(() => endpoint.close());
    return { database, config, endpoint, sink: endpoint.sinks["invoices"] as Sink, notebook };
  };
  const rows = ({ run }: Database) =>
    run("select version, status, state, due_date from fuelbridge_document order by seq");
  const answer = ({ run }: Database, status: string, message: string | null, at: string) =>
    run(
      "update fuelbridge_document set status = ?, message = ?, erp_number = 'E-7', answered_at = ? where status in ('new', 'taken', 'accepted', 'rejected')",
      [status, message, at],
    );

  test("what the job rejects is told once, in its words, and a later answer that contradicts is told too", async () => {
    const { database, endpoint, sink } = await opened();
    await deliver(sink, [itemOf()]);
    expect(await told(endpoint)).toEqual([]);
    await answer(database, "rejected", "account 4000 is locked", "2026-11-21 10:00:00");
    const [reference] = sink.acknowledged?.references(sink.freeze([itemOf()]), 1) ?? [];
    const first = { ...reference, verdict: "refused" };
    expect(await told(endpoint)).toMatchObject([first]);
    expect(await told(endpoint)).toEqual([]);
    expect(await refusalOf(sink, itemOf())).toMatchObject({
      code: "rejected-by-erp",
      message: "account 4000 is locked",
    });
    await answer(database, "accepted", null, "2026-11-22 10:00:00");
    const detail = "ERP number E-7";
    expect(await told(endpoint)).toMatchObject([{ ...reference, verdict: "accepted", detail }]);
    await answer(database, "accepted", null, "2026-11-22 11:00:00");
    expect(await told(endpoint)).toHaveLength(1);
    expect(await deliver(sink, [itemOf()])).toMatchObject({ outcome: "done" });
  });

  test("a document that changes before the job took its row gets a new version, and after that a person has it", async () => {
    const { database, sink } = await opened();
    await deliver(sink, [itemOf()]);
    expect(await deliver(sink, [itemOf({ dueDate: LATER })])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([
      { version: "1", status: "superseded" },
      { version: "2", status: "new" },
    ]);
    await database.run("update fuelbridge_document set status = 'taken' where version = 2");
    expect(await refusalOf(sink, itemOf())).toMatchObject({ code: "differs" });
    expect(await rows(database)).toHaveLength(2);
  });

  test("what was rejected and is corrected on the platform goes as a new version", async () => {
    const { database, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await answer(database, "rejected", "due too early", "2026-11-21 10:00:00");
    expect(await deliver(sink, [itemOf({ dueDate: LATER })])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([{ status: "rejected" }, { status: "new" }]);
  });

  const voided = itemOf({ status: "void" });
  const set = ({ run }: Database, version: number, status: string) =>
    run(
      "update fuelbridge_document set status = ?, message = ?, answered_at = ? where version = ?",
      [status, "by the job", "2026-11-21 10:00:00", String(version)],
    );

  /** The job accepted the invoice, and the ERP's view shows what it booked. */
  const booked = async () => {
    const site = await opened({ views: ["invoices"] });
    const { run } = site.database;
    await createViews(run);
    await deliver(site.sink, [itemOf()]);
    await set(site.database, 1, "accepted");
    await book(run, itemOf().id);
    return { ...site, run };
  };

  test("what is void before the job took it is withdrawn, and the job never sees it", async () => {
    const { database, endpoint, sink } = await opened();
    await deliver(sink, [itemOf()]);
    expect(await deliver(sink, [voided])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([
      { status: "superseded", state: "open" },
      { status: "withdrawn", state: "void" },
    ]);
    const [reference] = sink.acknowledged?.references(sink.freeze([voided]), 1) ?? [];
    expect(await told(endpoint)).toMatchObject([{ ...reference, verdict: "accepted" }]);
    expect(await told(endpoint)).toEqual([]);
  });

  test("a void that comes while the job holds the row waits for its answer, and what is booked is cancelled by a row of its own", async () => {
    const { database, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await set(database, 1, "taken");
    expect(await deliver(sink, [voided])).toMatchObject({
      outcome: "nothing",
      detail: expect.stringMatching(/^the ERP's job has taken FL-1 \(seq \d+\) and not answered/),
    });
    expect(await rows(database)).toMatchObject([{ status: "taken", state: "open" }]);
    await set(database, 1, "accepted");
    expect(await deliver(sink, [voided])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([
      { status: "accepted", state: "open" },
      { status: "new", state: "void" },
    ]);
  });

  test("a void that waited for a row that the job then rejects is withdrawn: nothing is there to be cancelled", async () => {
    const { database, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await set(database, 1, "taken");
    await deliver(sink, [voided]);
    await set(database, 1, "rejected");
    expect(await deliver(sink, [voided])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([{ status: "rejected" }, { status: "withdrawn" }]);
  });

  test("a void of a row that the job holds longer than it may is a person's, who is told what may be booked", async () => {
    const { database, sink } = await opened({ answerWithin: 26 });
    await deliver(sink, [itemOf()]);
    await set(database, 1, "taken");
    await database.run(
      "update fuelbridge_document set written_at = written_at - interval '27' hour",
    );
    expect(await refusalOf(sink, voided)).toMatchObject({
      code: "held-by-erp",
      message: expect.stringContaining("26 hours are over, so it may be booked there or not"),
      next: expect.stringContaining("set its row to accepted, else to rejected; then retry"),
    });
    expect(await rows(database)).toHaveLength(1);
  });

  test("a job that takes a row after it was withdrawn is found out, and what it booked is cancelled", async () => {
    const { database, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await deliver(sink, [voided]);
    expect(await inspected(sink, voided)).toMatchObject([{ is: "there" }]);
    await set(database, 1, "accepted");
    expect(await inspected(sink, voided)).toEqual([{ is: "gone" }]);
    expect(await deliver(sink, [voided])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([
      { status: "accepted" },
      { status: "withdrawn" },
      { status: "new", state: "void" },
    ]);
  });

  test("a job that takes a row after it was superseded is told: it may be booked in both versions", async () => {
    const { database, sink } = await opened();
    const later = itemOf({ dueDate: LATER });
    await deliver(sink, [itemOf()]);
    await deliver(sink, [later]);
    await set(database, 1, "accepted");
    expect(await inspected(sink, later)).toMatchObject([
      { is: "there", differences: [{ field: "record", expected: "version 2 alone" }] },
    ]);
  });

  test("a store that was restored reads the answers that it does not know of again", async () => {
    const { database, endpoint, sink, notebook } = await opened();
    await deliver(sink, [itemOf()]);
    await answer(database, "accepted", null, "2026-11-21 10:00:00");
    expect(await told(endpoint)).toHaveLength(1);
    expect(await told(endpoint)).toEqual([]);
    notebook.clear();
    expect(await told(endpoint)).toHaveLength(1);
    expect(await told(endpoint)).toEqual([]);
  });

  const listed = async (endpoint: Endpoint, scope: Scope) => {
    const ids: string[] = [];
    for await (const page of endpoint.holdings?.list("invoice", scope, null, never) ?? [])
      ids.push(...page.holdings.map(({ id }) => id));
    return ids;
  };

  /** Servers count rows some time after they came, and choose indexes by it. */
  const fill = async (run: Database["run"]) => {
    await run(many(dialect));
    await run(dialect === "mariadb" ? "analyze table fuelbridge_document" : "analyze");
  };

  test("reconciliation that asks for many documents by their ids or numbers is told all of them", async () => {
    const { database, endpoint } = await opened();
    await fill(database.run);
    const ids = Array.from({ length: 450 }, (_, at) => `x${at + 1}`);
    const numbers = ids.map((id) => id.slice(1));
    const { holdings } = endpoint;
    for (const found of [
      await holdings?.get("invoice", ids, never),
      await holdings?.named?.("invoice", numbers, never),
    ])
      expect(found?.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("a list of some days tells what is still to pay of any other day, too", async () => {
    const { database, endpoint, sink } = await opened();
    const day = { from: "2027-01-01", to: "2027-01-31" };
    await deliver(sink, [itemOf()]);
    const open = { dated: day, changedSince: null, open: true };
    expect(await listed(endpoint, open)).toEqual([itemOf().id]);
    expect(await listed(endpoint, { ...open, open: false })).toEqual([]);
    await database.run(
      "insert into fuelbridge_document (kind, id, version, content, number, state, side, document_date, currency, total, invoice_id) select 'payment', 'p', 1, 'c', 'p', 'open', 'sale', document_date, currency, total, id from fuelbridge_document",
    );
    expect(await listed(endpoint, open)).toEqual([]);
  });

  test("reconciliation is told that a rejected document does not count, until the job accepts it", async () => {
    const { database, endpoint, sink } = await opened();
    const state = async () =>
      (await endpoint.holdings?.get("invoice", [itemOf().id], never))?.map(
        ({ facts }) => facts.state,
      );
    await deliver(sink, [itemOf()]);
    await answer(database, "rejected", "account 4000 is locked", "2026-11-21 10:00:00");
    expect(await state()).toEqual(["ended"]);
    await answer(database, "accepted", null, "2026-11-22 10:00:00");
    expect(await state()).toEqual(["open"]);
  });

  test("a rejected void leaves what the job booked before: reconciliation is told that it is open", async () => {
    const { database, endpoint, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await set(database, 1, "accepted");
    await deliver(sink, [voided]);
    await set(database, 2, "rejected");
    expect(await endpoint.holdings?.get("invoice", [voided.id], never)).toMatchObject([
      { facts: { state: "open" } },
    ]);
  });

  test("a version whose successor somebody deleted does not count: the job never takes it", async () => {
    const { database, endpoint, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await deliver(sink, [itemOf({ dueDate: LATER })]);
    for (const table of ["line", "tax", "document"])
      await database.run(
        table === "document"
          ? "delete from fuelbridge_document where version = 2"
          : `delete from fuelbridge_${table} where document_seq in (select seq from fuelbridge_document where version = 2)`,
      );
    expect(await endpoint.holdings?.get("invoice", [itemOf().id], never)).toMatchObject([
      { facts: { state: "ended" } },
    ]);
    expect(await refusalOf(sink, itemOf())).toMatchObject({ code: "cancelled-in-books" });
  });

  test("right after many rows were written, before the server has counted them, 200 documents are found without reading the table for each, and all are listed", async () => {
    const { database, endpoint } = await opened();
    const { run } = database;
    await run(
      dialect === "mariadb"
        ? "alter table fuelbridge_document stats_auto_recalc = 0"
        : "alter table fuelbridge_document set (autovacuum_enabled = false)",
    );
    await run(many(dialect));
    const read = async () => {
      const [row] = await run(
        dialect === "mariadb"
          ? "select sum(variable_value) as count from information_schema.global_status where variable_name like 'HANDLER_READ%'"
          : "select sum(seq_tup_read + idx_tup_fetch) as count from pg_stat_user_tables",
      );
      return Number(row?.["count"]);
    };
    const ids = Array.from({ length: 200 }, (_, at) => `x${at * 7 + 1}`);
    const before = await read();
    expect(await endpoint.holdings?.get("invoice", ids, never)).toHaveLength(200);
    // PostgreSQL, which knows how large it is, may read a small table as a whole.
    expect((await read()) - before).toBeLessThan(dialect === "mariadb" ? 2_000 : 10_000);
    const open = { dated: null, changedSince: null, open: true };
    expect(new Set(await listed(endpoint, open)).size).toBe(3_000);
  });

  test("answers are found by an index, however many rows were answered before", async () => {
    const { database, endpoint, sink } = await opened();
    const { run } = database;
    await deliver(sink, [itemOf()]);
    await fill(run);
    const plan = JSON.stringify(
      await run(
        `explain select seq from fuelbridge_document where untold = 'invoice' union select seq from fuelbridge_document where kind = 'invoice' and told_in > 7 and told_in < 8`,
      ),
    );
    expect(plan).toContain("fuelbridge_untold");
    expect(plan).toContain("fuelbridge_told_in");
    expect(plan).not.toMatch(
      /Seq Scan|"type":"ALL","possible_keys":null,"key":null,"key_len":null,"ref":null,"rows":"\d/,
    );
    await answer(database, "accepted", null, "2026-11-21 10:00:00");
    expect((await told(endpoint)).length).toBeGreaterThan(0);
  });

  test("a lock that is held is waited for, and then nothing was done and it goes again", async () => {
    const { config, database, sink } = await opened({ deadlineMs: 2_000 });
    await deliver(sink, [itemOf()]);
    const job = openSql({ ...config, deadlineMs: 60_000 });
    await job.transaction(never, async (query) => {
      await query("select seq from fuelbridge_document for update");
      expect(await deliver(sink, [itemOf({ dueDate: LATER })])).toMatchObject({
        outcome: "nothing",
      });
    });
    expect(await rows(database)).toHaveLength(1);
    expect(await deliver(sink, [itemOf({ dueDate: LATER })])).toMatchObject({ outcome: "done" });
  });

  test("two transactions that wait for each other: one of them was not done, and says so", async () => {
    const { config, database, sink } = await opened();
    await deliver(sink, [itemOf()]);
    await deliver(sink, [{ ...itemOf({ id: "other", number: "FL-2" }), id: "other" }]);
    const wire = openSql(config);
    const seqs = (await database.run("select seq from fuelbridge_document order by seq")).map(
      ({ seq }) => seq ?? "",
    );
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const locking = async (order: readonly string[], at: number) =>
      wire.transaction(never, async (query) => {
        const lock = "select seq from fuelbridge_document where seq = ? for update";
        await query(lock, [order[0] ?? ""]);
        both[at]?.resolve();
        await both[1 - at]?.promise;
        await query(lock, [order[1] ?? ""]);
      });
    const ends = await Promise.allSettled([locking(seqs, 0), locking(seqs.toReversed(), 1)]);
    const failed = ends.filter(({ status }) => status === "rejected");
    expect(failed).toMatchObject([
      { reason: { phase: "answered", code: expect.stringMatching(/^(?:40P01|1213)$/) } },
    ]);
  });

  test("a server that is gone in the middle has done nothing, and the document goes once when it is back", async () => {
    const { database, config, sink } = await opened();
    const wire = openSql(config);
    const cut = wire.transaction(never, async (query) => {
      await query("select 1 as one");
      await server.kill();
      await query("select 1 as one");
    });
    await expect(cut).rejects.toMatchObject({ phase: "not-sent" });
    expect(await deliver(sink, [itemOf()])).toMatchObject({ outcome: "nothing" });
    await server.restart();
    expect(await deliver(sink, [itemOf()])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toHaveLength(1);
  });

  test("a server that dies at the commit leaves nobody knowing: it is looked for, and goes once", async () => {
    const database = await server.database();
    const line = await cuttingLine(database.settings.port, /\bcommit\b/);
    onTestFinished(() => line.close());
    const config = sqlStaging.config.parse({ ...database.settings, port: line.port });
    const endpoint = sqlStaging.open(config, surroundingsIn("."));
    onTestFinished(() => endpoint.close());
    const sink = endpoint.sinks["invoices"] as Sink;
    const died = Promise.withResolvers<void>();
    line.isCut = () => void server.kill().then(died.resolve);
    line.cut(/insert into fuelbridge_document/, "after");
    const request = { ...sink.freeze([itemOf()]), key: "k", items: [itemOf()], firstSentAt: null };
    expect(await sink.send(request, never)).toMatchObject({ outcome: "unknown" });
    await died.promise;
    await server.restart();
    expect(await sink.find?.(request, never)).toMatchObject({ found: "exact" });
    expect(await deliver(sink, [itemOf()])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toHaveLength(1);
  });

  test("a server that takes no more connections has done nothing, and the document goes when it takes some again", async () => {
    const { config, database, sink } = await opened();
    const wire = openSql({ ...config, deadlineMs: 60_000 });
    const gate = Promise.withResolvers<void>();
    const held: Promise<void>[] = [];
    // One after another: connections that the server still refuses count as taken until they end.
    const taken = () =>
      new Promise<void>((resolve, reject) => {
        const transaction = wire.transaction(never, () => {
          resolve();
          return gate.promise;
        });
        held.push(transaction.catch(reject));
      });
    const refusal = await (async () => {
      for (;;) await taken();
    })().catch((error: unknown) => error);
    const answer = await deliver(sink, [itemOf()]);
    gate.resolve();
    await Promise.all(held);
    expect(answer).toMatchObject({ outcome: "nothing" });
    expect(refusal).toMatchObject({ code: expect.stringMatching(/^(?:53300|1040)$/) });
    expect(await deliver(sink, [itemOf()])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toHaveLength(1);
  });

  test("amounts, days and texts come back as they were written", async () => {
    const { database, sink } = await opened();
    const total = Decimal.of("9007199254740993.12345678");
    const more = { total, description: "Ölhändler 油 😀 ' \\ ?", dueDate: "2026-03-08" };
    expect(await deliver(sink, [itemOf(more)])).toMatchObject({ outcome: "done" });
    expect(
      await database.run("select total, description, due_date from fuelbridge_document"),
    ).toMatchObject([{ total: total.text, description: more.description, due_date: more.dueDate }]);
  });

  test("a text or an amount that a column does not keep whole is refused by the column's name", async () => {
    const { database, sink } = await opened();
    for (const [more, code] of [
      [{ description: "😀".repeat(1_001) }, "text-too-long"],
      [{ description: "a\0b" }, "text-not-kept"],
      [{ total: Decimal.of("0.123456789") }, "too-many-digits"],
      [{ total: Decimal.of("12345678901234567") }, "too-many-digits"],
    ] as const)
      expect(await refusalOf(sink, itemOf(more))).toMatchObject({
        code,
        field: expect.stringMatching(/./),
      });
    expect(await deliver(sink, [itemOf({ description: "😀".repeat(1_000) })])).toMatchObject({
      outcome: "done",
    });
    expect(await rows(database)).toHaveLength(1);
  });

  test("a table that is not as the schema says is named by its column", async () => {
    const { database, endpoint } = await opened();
    await endpoint.check(never);
    await database.run("alter table fuelbridge_line drop column unit");
    await expect(endpoint.check(never)).rejects.toThrow("fuelbridge_line.unit is missing");
  });

  const viewed = async (view: string) => {
    const { database, endpoint } = await opened({ views: [view] });
    await createViews(database.run);
    return { database, read: () => pagesOf(endpoint, view) };
  };

  test("what is missing in a view is missing in the list; blanks that fill up a column of a fixed width are no part of it", async () => {
    const { database, read } = await viewed("prices");
    const lists = async () => (await read()).map(({ list }) => list);
    await database.run("insert into fuelbridge_prices values ('T ', 'A   ', 2.31, 'gal ')");
    const said = { id: "T|A", text: expect.stringContaining('"unit":"gal"') };
    expect(await read()).toMatchObject([{ changes: [said] }]);
    await database.run("insert into fuelbridge_prices values ('T', 'B', 2.3, 'gal')");
    expect(await lists()).toMatchObject([{ total: 2, isLast: true, isComplete: true }]);
    await database.run("delete from fuelbridge_prices where product = 'B'");
    expect(await lists()).toMatchObject([{ total: 1, isLast: true, isComplete: true }]);
    await database.run("delete from fuelbridge_prices");
    expect(await lists()).toMatchObject([{ total: 0, isLast: true, isComplete: true }]);
  });

  test("an amount that is none stops its own row, by view, key, column, value and what to do; the rest of the view goes on", async () => {
    const { database, read } = await viewed("invoices");
    const bad = ["12,50", "NaN", "1e400", "", "abc", "12.50 USD"];
    const row = (id: string, total: string) =>
      `('${id}', 'S-${id}', 'posted', 'P-1', null, '2026-11-21', null, null, 'USD', 12.50, 0, '${total}', 12.50, null, null)`;
    const all = [row("good", "12.5000"), ...bad.map((text, at) => row(`bad-${at}`, text))];
    await database.run(`insert into fuelbridge_invoices values ${all.join(", ")}`);
    const changes = (await read()).flatMap((page) => page.changes);
    const byId = new Map(changes.map((change): [string, Change] => [change.id, change]));
    expect(byId.get("good")?.fault).toBeUndefined();
    for (const [at, text] of bad.entries()) {
      const { fault } = byId.get(`bad-${at}`) ?? {};
      expect(fault).toMatchObject({
        field: "total",
        message: expect.stringContaining(`fuelbridge_invoices, bad-${at}: total `),
        next: "Correct it in the ERP, or in the view; it is read again by itself.",
      });
      expect(fault?.message).toContain(text === "" ? "is empty" : `"${text}"`);
    }
  });

  test("a cell of a line or a tax that cannot be read names the view that has it, and its invoice", async () => {
    const { database, endpoint } = await opened({ views: ["invoices"] });
    const { run } = database;
    await createViews(run);
    for (const id of ["a", "b", "c"])
      await run(
        `insert into fuelbridge_invoices values ('${id}', 'S-${id}', 'posted', 'P-1', null, '2026-11-21', null, null, 'USD', 100, 0, '100', 100, null, null)`,
      );
    await run(
      "insert into fuelbridge_invoice_lines values ('a', 'ULSD-CLR', 'Diesel', 50, 'gal', 2, '12,5O'), ('b', 'ULSD-CLR', 'Diesel', 50, 'gal', 2, 100), ('c', 'ULSD-CLR', 'Diesel', 50, 'gal', 2, 100)",
    );
    await run("insert into fuelbridge_invoice_taxes values ('b', 'State tax', 50, null)");
    const changes = (await pagesOf(endpoint, "invoices")).flatMap((page) => page.changes);
    expect(changes.map(({ id, fault }) => [id, fault?.field, fault?.message])).toEqual([
      ["a", "amount", expect.stringMatching(/^fuelbridge_invoice_lines, a: amount .*"12,5O"/)],
      ["b", "amount", expect.stringMatching(/^fuelbridge_invoice_taxes, b: amount .*/)],
      ["c", undefined, undefined],
    ]);
  });

  test("what was paid is told by the view of invoices alone: its lines and taxes are not read", async () => {
    const { database, endpoint } = await opened({ views: ["invoices"] });
    const { run } = database;
    await createViews(run);
    await run(
      "insert into fuelbridge_invoices values ('a', 'S-a', 'paid', 'P-1', null, '2026-11-21', null, '2026-11-22', 'USD', 100, 0, '100', 0, 'money', null)",
    );
    for (const part of ["lines", "taxes"]) await run(`drop table fuelbridge_invoice_${part}`);
    const changes = (await pagesOf(endpoint, "paidInvoices")).flatMap((page) => page.changes);
    expect(changes).toMatchObject([
      { id: "a", text: expect.stringContaining('"clearedBy":"money"') },
    ]);
    expect(changes[0]?.fault).toBeUndefined();
  });

  test("an invoice of the ERP comes with its lines and taxes; what its job booked is compared, and told when a person cancels it there", async () => {
    const { database, endpoint, sink } = await opened({ views: ["invoices"] });
    const { run } = database;
    await createViews(run);
    const invoice = (id: string, platformId: string | null) =>
      run(
        "insert into fuelbridge_invoices values (?, ?, 'posted', 'P-1', null, '2026-11-21', null, null, 'USD', 100.00, 0.10, '100.10', 100.10, null, ?)",
        [id, `S-${id}`, platformId],
      );
    const held = async () => {
      const told: string[] = [];
      const scope = { ...ALL_DAYS, open: true };
      for await (const page of endpoint.holdings?.list("invoice", scope, null, never) ?? [])
        for (const { id, facts } of page.holdings)
          told.push(`${id} ${facts.state} ${facts.money?.total?.plain()}`);
      return told;
    };
    await invoice("own", null);
    await run(
      "insert into fuelbridge_invoice_lines values ('own', 'ULSD-CLR', 'Diesel', 50, 'gal', 2, 100)",
    );
    await run("insert into fuelbridge_invoice_taxes values ('own', 'State tax', 50, 0.1)");
    const [change] = (await pagesOf(endpoint, "invoices")).flatMap((page) => page.changes);
    expect(change?.fault).toBeUndefined();
    expect(change?.text).toContain('"product":"ULSD-CLR"');
    expect(change?.text).toContain('"description":"State tax"');
    const item = itemOf();
    await deliver(sink, [item]);
    await answer(database, "accepted", null, "2026-11-21 10:00:00");
    expect(await held()).toEqual(["own open 100.1", `${item.id} open 19934.08`]);
    await invoice("booked", item.id);
    expect(await held()).toEqual(["own open 100.1", `${item.id} open 100.1`]);
    await run("update fuelbridge_invoices set state = 'cancelled   ' where id = 'booked'");
    await invoice("0", "0");
    expect(await held()).toEqual(["own open 100.1", "0 open 100.1", `${item.id} ended 19934.08`]);
  });

  test.each(["posted", "paid"])(
    "a void that the job accepted while the view still has its invoice as %s is told, and goes no second time",
    async (state) => {
      const { database, run, endpoint, sink } = await booked();
      await deliver(sink, [voided]);
      await set(database, 2, "accepted");
      await run("update fuelbridge_invoices set state = ?", [state]);
      const look = () => inspected(sink, voided);
      const held = async () =>
        (await endpoint.holdings?.get("invoice", [voided.id], never))?.map(
          ({ facts }) => facts.state,
        );
      expect(await look()).toMatchObject([
        { is: "there", differences: [{ field: "state", expected: "cancelled", held: "open" }] },
      ]);
      expect(await held()).toEqual(["open"]);
      expect(await refusalOf(sink, voided)).toMatchObject({
        code: "not-cancelled",
        message: expect.stringContaining("S-booked"),
      });
      expect(await rows(database)).toHaveLength(2);
      await run("update fuelbridge_invoices set state = 'cancelled'");
      expect(await look()).toEqual([{ is: "there", differences: [] }]);
      expect(await held()).toEqual(["ended"]);
      expect(await deliver(sink, [voided])).toMatchObject({ outcome: "done" });
    },
  );

  test("an invoice that the job accepted, and an amount of it that is none in the view, is told; one that never comes into the view, or is deleted there, once its time is over", async () => {
    const { database, run, endpoint, sink } = await booked();
    const look = async () => {
      const [held] = (await endpoint.holdings?.get("invoice", [itemOf().id], never)) ?? [];
      return [await inspected(sink), held?.untold?.code];
    };
    const answered = (hours: string) =>
      run(
        `update fuelbridge_document set answered_at = current_timestamp - interval '${hours}' hour`,
      );
    const there = [[{ is: "there", differences: [] }], undefined];
    await answered("27");
    expect(await look()).toEqual(there);
    await run("update fuelbridge_invoices set total = '9,934.08'");
    const unread = { field: "record", held: 'fuelbridge_invoices, S-booked: total is "9,934.08"' };
    expect(await look()).toMatchObject([[{ differences: [unread] }], "bad-cell"]);
    await run("delete from fuelbridge_invoices");
    expect(await look()).toMatchObject([
      [{ is: "there", differences: [{ field: "record", held: expect.stringContaining("FL-1") }] }],
      "not-there",
    ]);
    // It may still come.
    await answered("25");
    expect(await look()).toEqual(there);
    // The view leaves some out.
    const config = { ...database.settings, views: ["invoices"], viewWithin: 0 };
    const other = sqlStaging.open(sqlStaging.config.parse(config), surroundingsIn("."));
    await answered("27");
    const [held] = (await other.holdings?.get("invoice", [itemOf().id], never)) ?? [];
    expect(held?.untold).toBeUndefined();
    // What is void on the platform goes to the job all the same.
    expect(await deliver(sink, [voided])).toMatchObject({ outcome: "done" });
    expect(await rows(database)).toMatchObject([{ status: "accepted" }, { state: "void" }]);
  });

  test.each([
    ["19934.08", ["19934.08", "open"], [{ field: "money.open", expected: "0.00" }]],
    ["0", ["0", "paid"], []],
  ])(
    "a payment that the job accepted is in the view: %s is open there",
    async (open, [stands, state], differences) => {
      const { database, run, endpoint, sink } = await booked();
      const payments = endpoint.sinks["payments"] as Sink;
      const held = async () =>
        (await endpoint.holdings?.get("invoice", [itemOf().id], never))?.map(({ facts }) => [
          facts.money?.open?.plain(),
          facts.state,
        ]);
      await deliver(payments, [paidInFull]);
      // The job has not answered yet: both are right.
      expect(await held()).toEqual([["0", "paid"]]);
      const toldPaid = async () => {
        const [page] = await pagesOf(endpoint, "paidInvoices");
        return page?.changes[0]?.text.includes('"paidByPlatform":true');
      };
      expect(await toldPaid()).toBe(false);
      await answer(database, "accepted", null, "2026-11-21 10:00:00");
      expect(await toldPaid()).toBe(true);
      await run("update fuelbridge_invoices set open = ?", [open]);
      expect(await held()).toEqual([[stands, state]]);
      expect(await inspected(sink)).toMatchObject([{ is: "there", differences }]);
    },
  );

  test("a payment that people entered in the ERP is in what is open, with what settled it", async () => {
    const { run, endpoint, sink } = await booked();
    await run("update fuelbridge_invoices set open = 5, cleared_by = 'credit note 34'");
    const held = await endpoint.holdings?.get("invoice", [itemOf().id], never);
    expect(held?.map(({ facts }) => facts.money?.open?.plain())).toEqual(["5"]);
    expect(await inspected(sink)).toMatchObject([
      {
        differences: [
          {
            field: "money.open",
            expected: "19934.08",
            held: expect.stringContaining("credit note 34"),
          },
        ],
      },
    ]);
    const payments = endpoint.sinks["payments"] as Sink;
    expect(await refusalOf(payments, paidInFull)).toMatchObject({ code: "paid-by-others" });
  });

  test("a view of invoices that does not say which of them came from the platform is named before anything is read or sent", async () => {
    const { database, endpoint } = await opened({ views: ["invoices"] });
    await createViews(database.run);
    await endpoint.check(never);
    await database.run("alter table fuelbridge_invoices drop column platform_id");
    await expect(endpoint.check(never)).rejects.toMatchObject({
      stop: "scope",
      message: expect.stringMatching(/fuelbridge_invoices.*platform_id/),
    });
  });

  test("a key that a view has twice with different content is told, and none of both is taken", async () => {
    const { database, read } = await viewed("prices");
    await database.run(
      "insert into fuelbridge_prices values ('T', 'A', 2.31, 'gal'), ('T', 'A', 2.3, 'gal')",
    );
    const [page] = await read();
    expect(page?.changes).toMatchObject([{ id: "T|A", fault: { code: "key-twice" } }]);
  });

  test("check names each column, index and view that is not as the schema has it", async () => {
    const { database, endpoint } = await opened({ views: ["prices"] });
    const { run } = database;
    await run(
      "create table fuelbridge_prices (list varchar(9), product varchar(9), price varchar(9))",
    );
    await expect(endpoint.check(never)).resolves.toBeUndefined();
    await run(
      dialect === "mariadb"
        ? "drop index fuelbridge_once on fuelbridge_document"
        : "drop index fuelbridge_once",
    );
    await run(
      dialect === "mariadb"
        ? "alter table fuelbridge_tax modify account varchar(40)"
        : "alter table fuelbridge_tax alter account type varchar(40), alter account drop not null",
    );
    await run("alter table fuelbridge_line drop column unit");
    await run("alter table fuelbridge_prices drop column price");
    const named = [
      "fuelbridge_line.unit is missing, not varchar(20)",
      "fuelbridge_tax.account is varchar(40), not varchar(80) not null",
      "fuelbridge_once is missing, not unique (id, kind, version)",
      "fuelbridge_prices.price is missing",
    ];
    const refused = endpoint.check(never);
    await expect(refused).rejects.toMatchObject({ stop: "scope" });
    await expect(refused).rejects.toThrow(named.join("; "));
  });
});

/** What the hourly look finds of one that was delivered. */
const inspected = async (sink: Sink, item = itemOf()) =>
  await sink.inspect?.(
    [{ id: item.id, counterpart: item.id, body: sink.freeze([item]).body }],
    never,
  );

/** The ERP's own invoice of a document. */
const book = (run: Database["run"], id: string) =>
  run(
    "insert into fuelbridge_invoices values ('booked', 'S-booked', 'posted', 'P-1', null, '2026-11-21', null, null, 'USD', 18103.96, 1830.12, 19934.08, 19934.08, null, ?)",
    [id],
  );

const notebookOf = (kept: Map<string, string | null>): Notebook => ({
  get: (name) => kept.get(name) ?? null,
  set: (name, text) => void kept.set(name, text),
});

/** Rows that were answered and read. */
const many = (dialect: string): string => {
  const numbers =
    dialect === "mariadb" ? "(select seq as n from seq_1_to_3000)" : "generate_series(1, 3000)";
  const values =
    "'invoice', concat('x', n), 1, 'c', n, 'open', 'sale', '2026-11-21', 'USD', 1, 'accepted', '2026-11-21 10:00:00', 'accepted', '2026-11-21 10:00:00', 1";
  return `insert into fuelbridge_document (kind, id, version, content, number, state, side, document_date, currency, total, status, answered_at, told, told_at, told_in) select ${values} from ${numbers} as t${dialect === "mariadb" ? "" : "(n)"}`;
};

const READING = { signal: never, known: () => null, stored: () => false };

async function pagesOf(endpoint: Endpoint, source: string): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of endpoint.sources[source]?.read(null, READING) ?? []) pages.push(page);
  return pages;
}

/** What the endpoint tells of its rows now. */
async function told(endpoint: Endpoint): Promise<Acknowledgement[]> {
  const all: Acknowledgement[] = [];
  const pages = endpoint.sinks["invoices"]?.acknowledged?.source?.read(null, READING) ?? [];
  for await (const { acknowledgements = [] } of pages) all.push(...acknowledgements);
  return all;
}
