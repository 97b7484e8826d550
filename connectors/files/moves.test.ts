import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Drop } from "./folder/port.ts";
import { agreed, envelope, golden832 } from "../../test/files/x12.ts";
import { HEADER } from "../../test/files/kit.ts";
import { dropFolder, type DropFolder, picks } from "../../test/files/source.ts";

const PARTS = ["customer-invoices", "customer-invoice-lines", "customer-invoice-taxes"];

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

test("what a restored store reads stays where it lies, and is read and told once", async () => {
  const invoices = async (leaves: boolean) => {
    const { changes, notices, obstacles } = await folder.readThrough(folder.drop, picks.invoices, {
      sender: { store: "one", isRestored: () => leaves, says: () => "", whose: () => null },
    });
    return { isRead: changes.length > 0, notices, obstacles };
  };
  for (const part of PARTS) await folder.copy(`${part}.csv`);
  const quiet = { isRead: false, notices: [], obstacles: [] };
  expect(await invoices(true)).toMatchObject({ isRead: true, obstacles: [] });
  expect(await invoices(true)).toEqual(quiet);
  expect(await folder.names()).toEqual(PARTS.map((part) => `${part}.csv`).toSorted());
  // A person has released it.
  expect(await invoices(false)).toMatchObject({ isRead: false, obstacles: [] });
  expect(await folder.names()).toEqual(["archive"]);
});

class Killed extends Error {}

/** What its process does to files ends after so many steps; `half`: the last write leaves half of its bytes. */
function dyingAfter(drop: Drop, steps: number, half = false): Drop {
  let left = steps;
  const step = (work: () => Promise<void>): Promise<void> => {
    if (left-- <= 0) return Promise.reject(new Killed());
    return work();
  };
  return {
    ...drop,
    write: (path, bytes, over) => {
      const written = half && left === 1 ? bytes.subarray(0, bytes.length / 2) : bytes;
      return step(() => drop.write(path, written, over));
    },
    move: (from, to) => step(() => drop.move(from, to)),
    remove: (path) => step(() => drop.remove(path)),
  };
}

const read = (drop: Drop) => folder.readThrough(drop, picks.invoices);

describe("a set of files is moved away whole, wherever the process is killed", () => {
  // A note is written, three files are moved, the note is deleted.
  test.for([0, 1, 2, 3, 4])("after step %i of its move", async (steps) => {
    for (const part of PARTS) await folder.copy(`${part}.csv`);
    await expect(read(dyingAfter(folder.drop, steps, steps === 1))).rejects.toThrow();
    const { changes, obstacles } = await read(folder.drop);
    expect(changes).toEqual([]);
    expect(obstacles).toEqual([]);
    expect(await folder.names()).toEqual(["archive"]);
    const archived = (await folder.names("archive")).map((name) => name.split(".")[0]);
    expect(new Set(archived)).toEqual(new Set(PARTS));
  });

  test.for([1, 2, 3, 4])(
    "a store that was put back since reads it again, after step %i of its move",
    async (steps) => {
      for (const part of PARTS) await folder.copy(`${part}.csv`);
      await expect(read(dyingAfter(folder.drop, steps))).rejects.toThrow();
      folder.forget();
      const { changes, obstacles } = await read(folder.drop);
      expect(changes.length).toBeGreaterThan(0);
      expect(obstacles).toEqual([]);
      expect(await folder.names()).toEqual(["archive"]);
    },
  );

  test("a part of the next export that came meanwhile stays, and waits for its own set", async () => {
    for (const part of PARTS) await folder.copy(`${part}.csv`);
    await expect(read(dyingAfter(folder.drop, 2))).rejects.toThrow();
    const lines = join(folder.path, `${PARTS[1]}.csv`);
    await writeFile(lines, (await readFile(lines, "utf8")).replace(",6944,gal,", ",6945,gal,"));
    const { mtimeMs } = await stat(lines);
    await utimes(lines, mtimeMs / 1_000, mtimeMs / 1_000 + 5);
    const { pages, obstacles } = await read(folder.drop);
    expect(pages).toEqual([]);
    expect(obstacles).toMatchObject([
      { what: `${PARTS[1]}.csv`, fault: { code: "incomplete" }, awaited: true },
    ]);
    expect(await folder.names()).toEqual(["archive", `${PARTS[1]}.csv`]);
  });

  test("what another source of the folder moves just now is left to it, though nothing here knows it", async () => {
    for (const part of PARTS) await folder.copy(`${part}.csv`);
    await expect(read(dyingAfter(folder.drop, 2))).rejects.toThrow();
    const there = async () => [await folder.names(), await folder.names("archive")];
    const before = await there();
    folder.forget();
    await folder.readThrough(folder.drop, picks.customers);
    expect(await there()).toEqual(before);
  });

  test("sources that pick the same names leave each other's moves, too: what they read is another thing", async () => {
    for (const control of ["117", "118"])
      await folder.put(
        `${control}.edi`,
        envelope({ functionalId: "SC", sets: [golden832], control }),
      );
    const of = (layout: string) => ({ format: "x12", layout, pick: "*.edi", x12: agreed });
    const dying = dyingAfter(folder.drop, 2);
    await expect(folder.readThrough(dying, of("books.prices"))).rejects.toThrow();
    const there = async () => [await folder.names(), await folder.names("archive")];
    const before = await there();
    folder.forget();
    await folder.readThrough(folder.drop, of("books.paidInvoices"));
    expect(await there()).toEqual(before);
  });

  test("a set that could not be read keeps its reason beside its file", async () => {
    for (const part of PARTS) await folder.copy(`${part}.csv`);
    const lines = await readFile(join(folder.path, `${PARTS[1]}.csv`), "utf8");
    await folder.put(`${PARTS[1]}.csv`, lines.slice(0, 20_000));
    await expect(read(dyingAfter(folder.drop, 3))).rejects.toThrow();
    await read(folder.drop);
    expect(await folder.names()).toEqual(["failed"]);
    expect((await folder.names("failed")).filter((name) => name.endsWith(".errors.csv"))).toEqual([
      expect.stringMatching(/^customer-invoice-lines\.\w{8}\.errors\.csv$/),
    ]);
  });

  // Two lists are read: a note is written, both are moved, the note is deleted.
  test.for([0, 1, 2, 3])("lists that are moved together, after step %i", async (steps) => {
    const rowOf = (name: string) => `1,1,${name},,,,,Dock St,77520,Baytown,US-TX,US,`;
    await folder.put("customers-1.csv", `${HEADER}\r\n${rowOf("Old")}\r\n`);
    await folder.put("customers-2.csv", `${HEADER}\r\n${rowOf("New")}\r\n`);
    const dying = dyingAfter(folder.drop, steps);
    await expect(folder.readThrough(dying, picks.customers)).rejects.toThrow();
    // The older one is not read after the newer one, though lists may come again.
    const { changes, obstacles } = await folder.readThrough(folder.drop, picks.customers);
    expect({ changes, obstacles }).toEqual({ changes: [], obstacles: [] });
    expect(await folder.names()).toEqual(["archive"]);
    expect((await folder.names("archive")).length).toBe(2);
  });

  // A note is written, the file and its manifest are moved, the note is deleted.
  test.for([0, 1, 2, 3])("a file with its manifest, after step %i of its move", async (steps) => {
    const source = { ...picks.customers, manifest: ".manifest" };
    await folder.copy("customers.csv");
    await folder.put("customers.csv.manifest", '{"file": "customers.csv"}');
    await expect(folder.readThrough(dyingAfter(folder.drop, steps), source)).rejects.toThrow();
    const { changes, obstacles } = await folder.readThrough(folder.drop, source);
    expect({ changes, obstacles }).toEqual({ changes: [], obstacles: [] });
    expect(await folder.names()).toEqual(["archive"]);
    expect(await folder.names("archive")).toEqual([
      expect.stringMatching(/^customers\.\w{8}\.csv$/),
      expect.stringMatching(/^customers\.\w{8}\.csv\.manifest$/),
    ]);
  });
});
