import type { ServerResponse } from "node:http";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { serving } from "../../test/support/http.ts";
import { type Books, trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { fileOf } from "../../test/support/tryton-file.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { deskIn, invoiceDocument, send } from "./sink.fixture.ts";
import { invoiceSink } from "./sinks.fixture.ts";
import { exact, stamp } from "./rows.ts";
import { faultOf, invoice, open, parties, stateOf } from "./wire.fixture.ts";
import type { Tryton } from "./wire.ts";

describe.skipIf(!trytonIsThere)("a real Tryton", () => {
  const server = useTryton({ retry: 0 });
  let shared: Books;
  beforeAll(() => {
    shared = server.copy("shared");
  });

  describe("values", () => {
    test("a price keeps its six digits, a quantity its own, a day is the same day", async () => {
      const tryton = open(shared);
      const id = await invoice(tryton, "2027-01-31");
      const fields = ["invoice_date", "untaxed_amount", "lines.quantity", "lines.unit_price"];
      const [read] = await tryton.call<[Record<string, unknown>]>("model.account.invoice.read", [
        [id],
        fields,
      ]);
      const [line] = read["lines."] as [Record<string, unknown>];
      expect(line["unit_price"]).toEqual(Decimal.of("2.413755"));
      expect(exact(line["quantity"]).text).toBe("7500.1234");
      expect(read["invoice_date"]).toBe("2026-11-21");
      expect(exact(read["untaxed_amount"]).equals(Decimal.of("18103.46"))).toBe(true);
    });

    test("a stamp finds its own record, and one microsecond later finds none", async () => {
      const tryton = open(shared);
      const [id] = await tryton.call<[number]>("model.party.party.create", [[{ name: "One" }]]);
      const read = tryton.call<[{ create_date: string }]>("model.party.party.read", [
        [id],
        ["create_date"],
      ]);
      const [{ create_date: at }] = await read;
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
      const since = (text: string) =>
        tryton.call("model.party.party.search", [
          [
            ["id", "=", id],
            ["create_date", ">=", stamp(text)],
          ],
          0,
          null,
          null,
        ]);
      expect(await since(at)).toEqual([id]);
      const micros = (Number(at.slice(20)) + 1).toString().padStart(6, "0").slice(-6);
      expect(await since(`${at.slice(0, 20)}${micros}`)).toEqual([]);
    });

    test("a price with more digits than the books keep is refused, not rounded", async () => {
      const tryton = open(shared);
      const template = {
        name: "Too exact",
        list_price: Decimal.of("2.4137551"),
        default_uom: 1,
        type: "goods",
        cost_price_method: "fixed",
        products: [["create", [{ suffix_code: "X", cost_price: Decimal.zero }]]],
      };
      const fault = await faultOf(tryton.call("model.product.template.create", [[template]]));
      expect(fault).toMatchObject({ kind: "refused" });
      expect(fault.message).toContain("2.4137551");
    });
  });

  describe("faults", () => {
    test("a rule of the books is refused with its sentence, cut", async () => {
      const tryton = open(shared);
      const party = [{ name: "One", code: "SELF" }];
      const fault = await faultOf(tryton.call("model.party.party.create", [party]));
      expect(fault).toMatchObject({ kind: "refused" });
      expect(fault.message).toBe("model.party.party.create: The code on party must be unique.");
      const without = await faultOf(tryton.call("model.account.invoice.create", [[{}]]));
      expect(without.kind).toBe("refused");
      expect(without.message.length).toBeLessThan(500);
    });

    test("a warning has the name by which it is accepted", async () => {
      const tryton = open(shared);
      const id = await invoice(tryton, "2026-11-01");
      const post = () => tryton.call("model.account.invoice.post", [[id]]);
      const fault = await faultOf(post());
      expect(fault).toMatchObject({ kind: "warning", warning: expect.stringContaining("invoice") });
      const { user } = await tryton.session();
      const { accepting } = await tryton.release();
      for (const [method, params] of accepting(user, [fault.warning as string]))
        await tryton.call(method, params);
      await post();
      expect(await stateOf(tryton, id)).toBe("posted");
    });

    test("a record that has changed since is a concurrency", async () => {
      const tryton = open(shared);
      const [id] = await tryton.call<[number]>("model.party.party.create", [[{ name: "One" }]]);
      const context = { _timestamp: { [`party.party,${id}`]: "1000000000" } };
      const write = tryton.call("model.party.party.write", [[id], { name: "Two" }], { context });
      expect((await faultOf(write)).kind).toBe("concurrency");
    });

    test("what Tryton does not expose is forbidden, what fails in it a server's fault", async () => {
      const tryton = open(shared);
      expect((await faultOf(tryton.call("model.ir.cron.run", [[]]))).kind).toBe("forbidden");
      const read = tryton.call("model.party.party.read", [[1], ["nofield"]]);
      expect(await faultOf(read)).toMatchObject({
        kind: "server",
        message: "model.party.party.read: 'nofield'",
      });
    });

    test("a locked database is busy, and the same call works once it is free", async () => {
      const copy = server.copy("locked");
      const tryton = open(copy);
      const count = await parties(tryton);
      const create = () => tryton.call("model.party.party.create", [[{ name: "Once" }]]);
      const file = fileOf(copy);
      file.exec("BEGIN EXCLUSIVE");
      expect((await faultOf(create())).kind).toBe("busy");
      file.exec("ROLLBACK");
      await create();
      expect(await parties(tryton)).toBe(count + 1);
    });

    test("an invoice that meets a database which somebody holds waits, and is not called sent", async () => {
      const { books, database } = deskIn(server);
      await books.tryton.session();
      const file = fileOf(database);
      file.exec("BEGIN EXCLUSIVE");
      const answer = await send(invoiceSink(books), invoiceDocument());
      file.exec("ROLLBACK");
      expect(answer).toMatchObject({ outcome: "nothing", waitMs: 5_000 });
    });

    test("a number with a fraction never leaves: only a Decimal keeps its digits", async () => {
      const tryton = open(shared);
      const create = tryton.call("model.party.party.create", [[{ name: "One", code: 0.1 }]]);
      await expect(create).rejects.toThrow(RangeError);
    });
  });
});

describe("what stands between", () => {
  /** Answers every POST as `answer` says; logins are let through. */
  async function between(answer: (response: ServerResponse) => void): Promise<Tryton> {
    const { url, close } = await serving(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString();
      if (text.includes("common.server.version")) response.end('{"id":0,"result":"6.0.29"}');
      else if (text.includes("common.db.login")) response.end('{"id":1,"result":[1,"key"]}');
      else if (text.includes("get_preferences")) response.end('{"id":2,"result":{"company":1}}');
      else answer(response);
    });
    onTestFinished(close);
    return open({
      url: `${url}/erp`,
      database: "d",
      user: "u",
      password: "a-password",
    });
  }

  test.each([
    ["torn", "a proxy's error", (to: ServerResponse) => to.writeHead(502).end("<html>")],
    ["torn", "a page in place of an answer", (to: ServerResponse) => to.end("<html>")],
    ["torn", "an answer without a result", (to: ServerResponse) => to.end('{"id":3}')],
    [
      "torn",
      "a cut answer",
      (to: ServerResponse) =>
        to.writeHead(200, { "content-length": 99 }).end('{"id":3,"res', () => to.destroy()),
    ],
    ["torn", "a reset", (to: ServerResponse) => to.destroy()],
    ["server", "a redirect", (to: ServerResponse) => to.writeHead(302, { location: "/" }).end()],
    [
      "busy",
      "PostgreSQL's conflicts",
      (to: ServerResponse) =>
        to.end('{"id":3,"error":["could not serialize access due to concurrent update\\n",""]}'),
    ],
    [
      "busy",
      "a locked number sequence",
      (to: ServerResponse) =>
        to.end(
          '{"id":3,"error":["could not obtain lock on row in relation \\"ir_sequence_strict\\"\\n",""]}',
        ),
    ],
    [
      "busy",
      "a locked number sequence, as 8.0 says it",
      (to: ServerResponse) =>
        to
          .writeHead(503)
          .end("<h1>Service Unavailable</h1>\n<p>could not obtain lock on row in relation &#34;"),
    ],
    ["torn", "a proxy's own word for it", (to: ServerResponse) => to.writeHead(503).end("<html>")],
    [
      "not-sent",
      "PostgreSQL is not there for Tryton",
      (to: ServerResponse) =>
        to.end(
          '{"id":3,"error":["connection to server at \\"127.0.0.1\\", port 5432 failed: Connection refused\\n",""]}',
        ),
    ],
    [
      "server",
      "PostgreSQL goes away in the middle",
      (to: ServerResponse) =>
        to.end('{"id":3,"error":["server closed the connection unexpectedly\\n",""]}'),
    ],
    [
      "concurrency",
      "two that open a journal's period at once",
      (to: ServerResponse) =>
        to.end(
          '{"id":3,"error":["UserError",["You can create only one journal per period.","",null]]}',
        ),
    ],
  ])("%s: %s", async (kind, _what, answer) => {
    const tryton = await between(answer);
    const fault = await faultOf(parties(tryton));
    expect(fault.kind).toBe(kind);
    expect(fault.message).not.toContain("&#34;");
  });

  test("a path that is gone has not run the call: it logs in anew and makes it once more", async () => {
    let calls = 0;
    const tryton = await between((to) => {
      if (++calls === 1) to.writeHead(404).end();
      else to.end('{"id":9,"result":7}');
    });
    expect(await parties(tryton)).toBe(7);
    expect(calls).toBe(2);
  });

  test("the third item of an error, as long as it may be, reaches no message", async () => {
    const error = ["UserError", ["Not so.", "Because.", "domain ".repeat(5_000)]];
    const tryton = await between((to) => to.end(JSON.stringify({ id: 3, error })));
    expect((await faultOf(parties(tryton))).message).toBe(
      "model.party.party.search_count: Not so. Because.",
    );
  });

  test("nobody there: nothing was sent", async () => {
    const options = { url: "http://127.0.0.1:9", database: "d", user: "u", password: "a-password" };
    const fault = await faultOf(parties(open(options)));
    expect(fault).toMatchObject({ kind: "not-sent" });
    expect(fault.message).toContain("ECONNREFUSED");
  });
});
