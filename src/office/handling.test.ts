/** What people do with the quarantine beside deciding it, and who did what. */
import { expect, test } from "vitest";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { openTables } from "../config/crossref.ts";
import { Daemon } from "../engine/daemon.ts";
import { storeOffice } from "../../test/support/office.ts";

test("a delivery in quarantine is assigned and noted on, and the audit says who, what, when and why", async () => {
  const bench = engineOn(tempFolder());
  const changes = [
    bill("INV-1", "1.00", { product: "AVGAS" }),
    bill("INV-2", "2.00", { product: "AVGAS" }),
  ];
  const flow = bench.flow({ sink: receiver(), source: pagesOf([{ changes, position: 1 }]) });
  const daemon = new Daemon(bench.engine, [flow]);
  const office = officeOn(bench.engine, [flow], daemon);
  await daemon.once(new AbortController().signal);
  const [group] = await office.quarantine();
  const id = group?.id ?? "";
  const deliveries = async () => (await office.quarantineShow(id)).deliveries;
  const [first] = await deliveries();
  const one = first?.delivery ?? "";

  expect(await office.assign(id, { to: "kim", by: "ann", note: "knows AVGAS" })).toEqual({
    assigned: 2,
  });
  expect(await office.remark(one, { by: "kim", note: "=asked the supplier" })).toEqual({
    noted: 1,
  });
  await office.assign(one, { to: null, by: "kim", note: "done" });
  expect((await deliveries()).map(({ assignee, notes }) => [assignee, notes.length])).toEqual([
    [null, 1],
    ["kim", 0],
  ]);
  expect((await deliveries())[0]?.notes[0]).toMatchObject({
    who: "kim",
    text: "=asked the supplier",
  });
  await expect(office.assign("q0", { to: "x", by: "x", note: "x" })).rejects.toThrow("q0");
  await office.resolve(one, { by: "kim", note: "paid in cash" });

  const asked = { from: null, to: null, after: 0, people: true };
  const { entries, next } = await office.audit(asked);
  expect(next).toBeNull();
  // Who and why are told once.
  expect(
    entries.map(({ who, event, number, detail, reason }) => [who, event, number, detail, reason]),
  ).toEqual([
    ["ann", "assigned", "INV-1", "to kim", "knows AVGAS"],
    ["ann", "assigned", "INV-2", "to kim", "knows AVGAS"],
    ["kim", "note", "INV-1", "", "=asked the supplier"],
    ["kim", "assigned", "INV-1", "to nobody", "done"],
    ["kim", "resolved", "INV-1", "", "paid in cash"],
  ]);
  const day = "2026-11-21";
  expect((await office.audit({ ...asked, from: day, to: day })).entries).toHaveLength(5);
  expect((await office.audit({ ...asked, to: "2026-11-20" })).entries).toEqual([]);
  bench.store.close();
});

test("a retry of what a table still lacks a row for does nothing and says so; what fails alike again stays as old as it is", async () => {
  const bench = engineOn(tempFolder());
  const changes = [
    bill("INV-1", "1.00", { product: "AVGAS" }),
    bill("INV-2", "2.00", { product: "ULSD" }),
  ];
  const flow = bench.flow({ sink: receiver(), source: pagesOf([{ changes, position: 1 }]) });
  const rows = new Map<string, Record<string, string>>();
  const engine = {
    ...bench.engine,
    tables: { row: (_: string, key: string) => rows.get(key) ?? null },
  };
  const daemon = new Daemon(engine, [flow]);
  const office = officeOn(engine, [flow], daemon);
  const signal = new AbortController().signal;
  await daemon.once(signal);
  const since = async () => (await office.quarantine()).map((group) => group.since);
  const [began] = await since();
  await bench.clock.pause(3_600_000);
  const asked = { by: "kim", note: "again" };
  expect(await office.retry("all", false, asked)).toMatchObject({ retried: 0 });
  await expect(office.retry("1", false, asked)).rejects.toThrow("A retry does not help INV-1");

  await office.retry("1", true, asked);
  await daemon.once(signal);
  expect(await since()).toEqual([began, began]);

  rows.set("AVGAS", { item: "1" });
  expect(await office.retry("all", false, asked)).toMatchObject({ retried: 1 });
  await daemon.once(signal);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({
    delivered: 1,
    quarantined: 1,
  });
  bench.store.close();
});

test("all rows that a newcomer's documents lack are told at once, of every table", async () => {
  const bench = engineOn(tempFolder());
  const tables = openTables(tempFolder());
  const mapping: typeof billMapping = {
    ...billMapping,
    map(one, references) {
      const { product = "" } = one;
      const { tax = "" } = references.row("items", product);
      references.row("customers", "C-9");
      references.row("accounts", tax);
      return one;
    },
  };
  const changes = ["AVGAS", "AVGAS", "ULSD"].map((product, at) =>
    bill(`INV-${at}`, "1.00", { product }),
  );
  const sink = receiver();
  const flow = bench.flow({ mapping, sink, source: pagesOf([{ changes, position: 1 }]) });
  const engine = { ...bench.engine, tables };
  const daemon = new Daemon(engine, [flow]);
  const parts = { engine, flows: [flow], daemon, version: "0", startedAt: new Date(0), tables };
  await daemon.once(new AbortController().signal);
  const told = (await storeOffice(parts).tables()).flatMap(({ name, missing }) =>
    missing.map(({ key, count }) => [name, key, count]),
  );
  expect(new Set(told.map((row) => row.join(" ")))).toEqual(
    new Set(["customers C-9 3", "items AVGAS 2", "items ULSD 1"]),
  );
  bench.store.close();
});
