import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { Refused } from "../../src/core/errors.ts";
import { notes } from "../../src/ledger/table.ts";
import { wizard } from "./books.ts";
import { partyFor } from "./party.fixture.ts";
import { between, booksOf, COMPANY_ID, type Desk, deskIn, rows } from "./sink.fixture.ts";

const PARTY = { code: "CUST-1", name: "Ranch Supply", companyId: COMPANY_ID };

const all = ({ clerk }: Desk): Promise<number> =>
  clerk.call("model.party.party.search_count", [[["name", "=", "Ranch Supply"]]]);

describe.skipIf(!trytonIsThere)("parties in Tryton", () => {
  const server = useTryton();

  test("one that is not there is made once, with the platform's id and an address", async () => {
    const desk = deskIn(server);
    const made = await partyFor(desk.books, PARTY);
    expect(await partyFor(desk.books, PARTY)).toEqual(made);
    const domain = [["code", "=", "CUST-1"]];
    const fields = ["name", "identifiers.code", "identifiers.type", "addresses"];
    expect(await rows(desk, "party.party", domain, fields)).toMatchObject([
      {
        name: "Ranch Supply",
        "identifiers.": [{ code: COMPANY_ID, type: null }],
        addresses: [made.address],
      },
    ]);
  });

  test("one that has the platform's id under another code is that one", async () => {
    const desk = deskIn(server);
    const identifiers = [["create", [{ code: COMPANY_ID }]]];
    const values = { code: "OLD-7", name: "Ranch Supply", identifiers };
    const [id] = await desk.clerk.call<[number]>("model.party.party.create", [[values]]);
    const found = await partyFor(desk.books, PARTY);
    expect(found.id).toBe(id);
    expect(await all(desk)).toBe(1);
  });

  test("one that gets another code is still the one that its code meant, and another one of its id is not", async () => {
    const desk = deskIn(server);
    const notebook = notes();
    const books = { ...desk.books, surroundings: { ...desk.books.surroundings, notebook } };
    const values = { code: "CUST-1", name: "Ranch Supply" };
    const [id] = await desk.clerk.call<[number]>("model.party.party.create", [[values]]);
    expect((await partyFor(books, PARTY)).id).toBe(id);
    await desk.clerk.call("model.party.party.write", [[id], { code: "RANCH" }]);
    expect((await partyFor(books, PARTY)).id).toBe(id);
    expect(await all(desk)).toBe(1);
    // Though it is merged afterwards.
    const { id: left } = await partyFor(books, { ...PARTY, code: "CUST-9", companyId: "9" });
    await wizard(desk.admin, "party.replace", ["party.party", id], (execute) =>
      execute({ ask: { source: id, destination: left } }, "replace"),
    );
    expect((await partyFor(books, PARTY)).id).toBe(left);
    const meaning = "customer called CUST-1";
    notebook.set(meaning, notebook.get(meaning)?.replace(/ \d{4}/, " 1999") ?? null);
    expect((await partyFor(books, PARTY)).id).toBeGreaterThan(left);
  });

  test("one that a person has merged into another one is that one, with and without the platform's id", async () => {
    for (const isOurs of [true, false]) {
      const desk = deskIn(server);
      const party = async (code: string) => {
        const values = { code, name: "Ranch Supply", addresses: [["create", [{}]]] };
        return (await desk.clerk.call<[number]>("model.party.party.create", [[values]]))[0];
      };
      const merged = isOurs ? (await partyFor(desk.books, PARTY)).id : await party("CUST-1");
      const left = await party("CUST-9");
      // That of the other one goes over, inactive.
      const { address } = await partyFor(desk.books, { ...PARTY, code: "CUST-9", companyId: "9" });
      await wizard(desk.admin, "party.replace", ["party.party", merged], (execute) =>
        execute({ ask: { source: merged, destination: left } }, "replace"),
      );
      expect(await partyFor(desk.books, PARTY)).toEqual({ id: left, address });
    }
  });

  test("it is asked for each time: restored books may give its id to another", async () => {
    const desk = deskIn(server);
    const calls: string[] = [];
    const before = async (method: string): Promise<void> => void calls.push(method);
    const books = between(desk.books, { before });
    const made = await partyFor(books, PARTY);
    calls.length = 0;
    expect([await partyFor(books, PARTY), await partyFor(books, PARTY)]).toEqual([made, made]);
    expect(calls).toEqual(["model.party.party.search_read", "model.party.party.search_read"]);
  });

  test("one without an address gets one", async () => {
    const desk = deskIn(server);
    const values = { code: "CUST-1", name: "Ranch Supply", addresses: null };
    await desk.clerk.call("model.party.party.create", [[values]]);
    expect((await partyFor(desk.books, PARTY)).address).toEqual(expect.any(Number));
  });

  test("two that make it at once get the same one", async () => {
    const desk = deskIn(server);
    let looked = 0;
    const { promise: both, resolve } = Promise.withResolvers<void>();
    const before = async (method: string): Promise<void> => {
      if (method !== "model.party.party.create") return;
      if (++looked === 2) resolve();
      await both;
    };
    const two = [1, 2].map(() => between(booksOf(desk.database), { before }));
    const [one, other] = await Promise.all(two.map((books) => partyFor(books, PARTY)));
    expect(one).toEqual(other);
    expect(await all(desk)).toBe(1);
  });

  test("a platform id on two parties, or a code that an inactive one has, is work for a person", async () => {
    const desk = deskIn(server);
    const party = (code: string, more: object) =>
      desk.clerk.call("model.party.party.create", [[{ code, name: "Ranch Supply", ...more }]]);
    const identifiers = [["create", [{ code: COMPANY_ID }]]];
    await party("A", { identifiers });
    await party("B", { identifiers });
    await party("C", { active: false });
    const faultOf = async (code: string, companyId: string): Promise<string> => {
      const failed = partyFor(desk.books, { code, name: "Ranch Supply", companyId });
      const error = await failed.then(
        () => null,
        (reason: unknown) => reason,
      );
      return error instanceof Refused ? error.fault.code : String(error);
    };
    expect(await faultOf("CUST-1", COMPANY_ID)).toBe("twice-in-books");
    expect(await faultOf("C", "0a000000-0000-4000-8000-00000000c003")).toBe("party-inactive");
  });
});
