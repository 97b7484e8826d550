/** Files that cannot be read: what is told of them, and what they hold back. */
import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Obstacle } from "../../src/core/contract.ts";
import { dropFolder, picks } from "../../test/files/source.ts";

const HEADER =
  "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code,Addresses/City," +
  "Addresses/Subdivision/Code,Addresses/Country/Code,Customer Payment Term";
const file = (...codes: string[]) =>
  [HEADER, ...codes.map((code) => `1,${code},Acme,,,,,Dock St,77520,Baytown,US-TX,US,`), ""].join(
    "\r\n",
  );

test("a file over maxBytes holds back what came after it, names it, and is read before it in the end", async () => {
  const folder = await dropFolder();
  onTestFinished(() => folder.remove());
  await folder.put("customers-1.csv", file("1"));
  await folder.put("customers-2.csv", file("2", "2b", "2c", "2d"));
  await folder.put("customers-3.csv", file("3"));
  await folder.put("customers-4.csv", file("4"));
  const limited = await folder.read(picks.customers, { maxBytes: 350 });
  expect(limited.changes.map(({ id }) => id)).toEqual(["1"]);
  expect(limited.obstacles).toMatchObject([
    {
      what: "customers-2.csv",
      fault: {
        code: "too-large",
        message: expect.stringMatching(/^customers-2\.csv has \d+ bytes; maxBytes is 350\.$/),
        next: expect.stringContaining("raise maxBytes"),
      },
      awaited: false,
      behind: { count: 2, names: ["customers-3.csv", "customers-4.csv"] },
    },
  ]);
  const { changes, obstacles } = await folder.read(picks.customers);
  expect(changes.map(({ id }) => id)).toEqual(["2", "2b", "2c", "2d", "3", "4"]);
  expect(obstacles).toEqual([]);
});

const NOBODY = 65_534;
const PROGRAM = fileURLToPath(new URL("../../test/files/rights-program.ts", import.meta.url));

/** Two exports, the older one first, and a folder with rights of its own. */
async function site(within: string, name: string, mode: number): Promise<string> {
  const path = join(within, name);
  await mkdir(path);
  for (const [at, code] of ["1", "2"].entries()) {
    const exported = join(path, `customers-${code}.csv`);
    await writeFile(exported, file(code));
    await utimes(exported, 1_790_000_000, 1_790_000_000 + at);
  }
  await chmod(path, mode);
  return path;
}

interface Told {
  readonly ids: readonly string[];
  readonly obstacles: readonly Obstacle[];
  readonly unavailable: string | null;
}

test.skipIf(process.getuid?.() !== 0)(
  "without a right nothing is overtaken, and the advice names the right that is missing, and of what",
  async () => {
    const within = await mkdtemp(join(tmpdir(), "rights-"));
    onTestFinished(() => rm(within, { recursive: true, force: true }));
    await chmod(within, 0o755);
    const unreadable = await site(within, "unreadable", 0o777);
    await chmod(join(unreadable, "customers-1.csv"), 0o600);
    const readOnly = await site(within, "read-only", 0o755);
    const noEntry = await site(within, "no-entry", 0o744);
    const sticky = await site(within, "sticky", 0o1777);
    const archive = await site(within, "archive", 0o777);
    await mkdir(join(archive, "archive"), { mode: 0o755 });
    const ours = await site(within, "ours", 0o700);
    await chown(ours, NOBODY, NOBODY);
    const [file1, folderW, folderX, owner, archiveW, fine] = JSON.parse(
      execFileSync(
        process.execPath,
        [PROGRAM, unreadable, readOnly, noEntry, sticky, archive, ours],
        { uid: NOBODY, gid: NOBODY, cwd: "/", env: { PATH: "" }, encoding: "utf8" },
      ),
    ) as Told[];

    expect(file1?.ids).toEqual([]);
    expect(file1?.obstacles).toMatchObject([
      {
        what: "customers-1.csv",
        fault: { code: "no-right" },
        behind: { count: 1, names: ["customers-2.csv"] },
      },
    ]);
    expect(next(file1)).toMatch(
      /^Give the account that runs fuelbridge \(.*user 65534\) the right to read the file .*\/customers-1\.csv \(r\)\. It belongs to user 0 and group 0, with mode 0600\.$/,
    );
    expect(folderW).toMatchObject({ ids: [], obstacles: [{ behind: { count: 1 } }] });
    expect(next(folderW)).toMatch(/the right to move files in the folder .*\/read-only \(w\)\./);
    expect(folderX?.unavailable).toMatch(/the right to enter the folder .*\/no-entry \(x\)\./);
    // In their order; until the right is there, nothing that comes later is.
    expect(owner).toMatchObject({ ids: ["1", "2"], obstacles: [{ what: "customers-1.csv" }] });
    expect(next(owner)).toMatch(/only the owner of a file may move it \(sticky bit\)/);
    expect(next(archiveW)).toMatch(
      /the right to move files in the folder .*\/archive\/archive \(w\)/,
    );
    expect(fine).toMatchObject({ ids: ["1", "2"], obstacles: [], unavailable: null });
    expect(await readdir(ours)).toEqual(["archive"]);
  },
);

const next = (told: Told | undefined): string => told?.obstacles[0]?.fault.next ?? "";
