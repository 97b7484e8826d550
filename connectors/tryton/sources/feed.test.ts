import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { SourceUnavailable } from "../../../src/core/errors.ts";
import { trytonIsThere, useTryton } from "../../../test/support/tryton.ts";
import type { Mark } from "../../../src/ledger/stamps.ts";
import { byId, deskIn, reader, parties } from "./source.fixture.ts";

const codesOf = (changes: readonly { readonly id: string }[]) =>
  new Set(changes.map(({ id }) => id));

describe.skipIf(!trytonIsThere)(
  "what changed in Tryton since a position",
  { timeout: 600_000 },
  () => {
    const server = useTryton();
    const party = (code: string) => ({ code, name: `Party ${code}` });

    test("rows of one transaction share a stamp: none is lost between two pages, none comes twice", async () => {
      const desk = deskIn(server);
      const many = Array.from({ length: 250 }, (_, index) => party(`M${index + 1000}`));
      await desk.clerk.call("model.party.party.create", [many]);
      const { read } = reader(parties(desk.books));
      const seen: string[] = [];
      for (let page = 0; page < 3; page++) {
        const { changes } = await read(1);
        seen.push(...changes.map(({ id }) => id).filter((id) => id.startsWith("M")));
      }
      expect(seen.length).toBe(250);
      expect(new Set(seen).size).toBe(250);
    });

    test("a row that was written carries its last content, and comes once more when it is written again", async () => {
      const desk = deskIn(server);
      const id = await desk.create("party.party", party("ONE"));
      const { read } = reader(parties(desk.books));
      expect(byId((await read()).changes)["ONE"]).toMatchObject({ name: "Party ONE" });
      await desk.write("party.party", id, { name: "Renamed" });
      expect(byId((await read()).changes)["ONE"]).toMatchObject({ name: "Renamed" });
    });

    test("a transaction that took long comes up behind what was read, and is read", async () => {
      const desk = deskIn(server);
      const { read } = reader(parties(desk.books));
      await desk.create("party.party", party("FIRST"));
      await read();
      await desk.create("party.party", party("LATE"));
      stamped(desk.database.path, "LATE", -50);
      expect(codesOf((await read()).changes)).toContain("LATE");
    });

    test("once nothing can come up any more, a quiet Tryton is asked for nothing twice", async () => {
      const desk = deskIn(server);
      await desk.create("party.party", party("QUIET"));
      const { read } = reader(parties(desk.books));
      await read();
      expect(codesOf((await read()).changes)).toContain("QUIET");
      desk.clock = new Date("2026-11-21T12:11:00Z");
      expect(codesOf((await read()).changes)).toContain("QUIET");
      expect((await read()).pages).toEqual([]);
      await desk.create("party.party", party("LOUD"));
      expect(codesOf((await read()).changes)).toContain("LOUD");
    });

    test("the position keeps every microsecond", async () => {
      const desk = deskIn(server);
      await desk.create("party.party", party("MICRO"));
      stamped(desk.database.path, "MICRO", 1, "654321");
      const it = reader(parties(desk.books));
      await it.read();
      const marks = it.position as unknown as Record<string, Mark>;
      expect(marks["party.party create_date"]?.since).toMatch(/\.654321$/);
    });

    test("a Tryton that does not answer is unavailable, wrong credentials are a stop", async () => {
      const desk = deskIn(server);
      const wrong = deskIn(server, { password: "wrong-password" });
      const nobody = deskIn(server, { url: "http://127.0.0.1:9" });
      await expect(reader(parties(wrong.books)).read()).rejects.toMatchObject({
        name: "SourceUnavailable",
        stop: "credentials",
      });
      await expect(reader(parties(nobody.books)).read()).rejects.toMatchObject({ stop: null });
      await expect(reader(parties(nobody.books)).read()).rejects.toThrow(SourceUnavailable);
      await reader(parties(desk.books)).read();
    });
  },
);

/** Moves a party's creation by `seconds`, as only the database itself can. */
function stamped(path: string, code: string, seconds: number, micros?: string): void {
  const database = new DatabaseSync(path);
  try {
    const row = database.prepare("select create_date from party_party where code = ?").get(code);
    const [date = "", fraction] = String(row?.["create_date"]).split(".");
    const moved = new Date(new Date(`${date.replace(" ", "T")}Z`).getTime() + seconds * 1000);
    const text = `${moved.toISOString().slice(0, 19).replace("T", " ")}.${micros ?? fraction}`;
    database.prepare("update party_party set create_date = ? where code = ?").run(text, code);
  } finally {
    database.close();
  }
}
