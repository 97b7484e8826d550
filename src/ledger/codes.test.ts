import { expect, test } from "vitest";
import { openCodes } from "./codes.ts";

const account = { what: "account", called: "code" };

function ledger(...codes: string[]) {
  const state = { now: new Date("2026-11-21T12:00:00Z"), codes, calls: 0 };
  const opened = openCodes<typeof account, { code: string; id: number; active?: boolean }>({
    books: "Ledger",
    now: () => state.now,
    rowsOf: async (_, desired) => {
      state.calls++;
      return state.codes
        .map((code, id) => ({ code, id }))
        .filter(({ code }) => desired.includes(code));
    },
    codeOf: (_, { code }) => code,
  });
  return { state, opened };
}

test("a row is kept for ten minutes, and asked for again after them or when the clock was set back", async () => {
  const { state, opened } = ledger("1200");
  const calls = async (): Promise<number> => {
    await opened.row(account, "1200");
    return state.calls;
  };
  expect([await calls(), await calls()]).toEqual([1, 1]);
  state.now = new Date("2026-11-21T12:10:01Z");
  expect(await calls()).toBe(2);
  state.now = new Date("2026-11-21T11:00:00Z");
  expect(await calls()).toBe(3);
});

test("a miss is never kept: a code is found as soon as somebody has created it", async () => {
  const { state, opened } = ledger();
  await expect(opened.row(account, "4000")).rejects.toMatchObject({
    fault: { code: "not-in-ledger", field: "account" },
  });
  state.codes.push("4000");
  expect(await opened.row(account, "4000")).toMatchObject({ code: "4000" });
});

test("a code that two rows have names neither", async () => {
  const { opened } = ledger("7", "7", "8");
  await expect(opened.row(account, "7")).rejects.toMatchObject({
    fault: { code: "twice-in-ledger" },
  });
  await opened.load(account, ["7", "8"]);
  await expect(opened.row(account, "7")).rejects.toMatchObject({
    fault: { code: "twice-in-ledger" },
  });
  const { faults } = await opened.named(account).find(["7", "8", "9"]);
  expect([...faults].map(([code, fault]) => `${code} ${fault?.code}`)).toEqual([
    "7 twice-in-ledger",
    "8 undefined",
    "9 not-in-ledger",
  ]);
});

test("many codes are loaded in one call, and then asked for no more", async () => {
  const { state, opened } = ledger("1", "2", "3");
  await opened.load(account, ["1", "2", "9"]);
  await opened.load(account, ["1", "2"]);
  await opened.row(account, "2");
  expect(state.calls).toBe(1);
});

test("what is no longer active is read, is no fit for a new document, and gives way to what is", async () => {
  const all = [
    { code: "DYE", id: 1, active: false },
    { code: "CLR", id: 2, active: false },
    { code: "CLR", id: 3, active: false },
    { code: "CLR", id: 4, active: true },
  ];
  const opened = openCodes<typeof account, (typeof all)[number]>({
    books: "Ledger",
    now: () => new Date("2026-11-21T12:00:00Z"),
    rowsOf: async (_, desired) => all.filter(({ code }) => desired.includes(code)),
    codeOf: (_, { code }) => code,
  });
  const known = await opened.row(account, "DYE");
  expect(known).toMatchObject({ id: 1, active: false });
  expect(await opened.row(account, "CLR")).toMatchObject({ id: 4 });
  await expect(opened.booked(account, "DYE", known)).rejects.toMatchObject({
    fault: { code: "inactive" },
  });
  // What somebody has activated since is taken at once, though another row is kept.
  Object.assign(all[0] ?? {}, { active: true });
  expect(await opened.booked(account, "DYE", known)).toMatchObject({ id: 1, active: true });
  Object.assign(all[0] ?? {}, { active: false });
  expect((await opened.named(account).find(["DYE", "CLR"])).faults).toEqual(
    new Map<string, unknown>([
      ["CLR", null],
      [
        "DYE",
        expect.objectContaining({
          code: "inactive",
          message: "the account DYE is not active in Ledger",
        }),
      ],
    ]),
  );
});
