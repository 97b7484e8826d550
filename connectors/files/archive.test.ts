/** An archive that only grows: it is listed once a start and once a day at most, and never held in memory. */
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { failure } from "./folder/port.ts";
import { archiveOf } from "../../test/files/archive.ts";

test("of an archive of many files the newest export is found, and after that neither a reconciliation nor a new file lists it", async () => {
  const folder = tempFolder();
  const { parties, read, visits } = await archiveOf(folder, 20_000);
  expect(await parties()).toEqual(["Newest"]);
  // Which days there are, and which files.
  expect(visits()).toBe(2);
  expect(await parties()).toEqual(["Newest"]);
  expect(visits()).toBe(2);

  expect(await read("Later")).toBe(1);
  expect(await parties()).toEqual(["Later"]);
  // What is too old was looked for.
  expect(visits()).toBe(3);

  // A person took it away.
  await rm(join(folder, "archive/2026-11-22"), { recursive: true });
  expect(await parties()).toEqual(["Newest"]);
});

test("what is too old is looked for once a day, however often the source is read", async () => {
  const { later, read, visits } = await archiveOf(tempFolder(), 5);
  for (let look = 0; look < 5; look++) await read(null);
  expect(visits()).toBe(1);
  later(1);
  await read(null);
  await read(null);
  expect(visits()).toBe(2);
});

test.each(["EACCES", "EIO", "ECONNRESET"])(
  "an archive that cannot be listed (%s) is no empty one: what lies unread is not taken for all that there is",
  async (code) => {
    const folder = tempFolder();
    const { parties, breakArchive } = await archiveOf(folder, 5);
    await copyFile(
      join(folder, "archive/customers-new.00000000.csv"),
      join(folder, "customers-old.csv"),
    );
    breakArchive(failure(code, "the archive"));
    await expect(parties()).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: expect.stringContaining("archive cannot be listed"),
    });
  },
);
