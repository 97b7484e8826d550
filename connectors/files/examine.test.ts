import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { localRights } from "./folder/local.ts";
import { examined } from "../../test/files/examine.ts";
import { tempFolder } from "../../test/support/folder.ts";

const MADE = "archive and failed will be made with the first file";

test("folders that are missing are told and not made; a trial leaves nothing behind", async () => {
  const folder = tempFolder();
  expect(await examined(folder)).toEqual([
    ["source customers: export", "enoent"],
    ["sink orders: import/orders", "it will be made at the start"],
  ]);
  expect(readdirSync(folder)).toEqual([]);
  for (const name of ["export/archive", "export/failed", "import/orders", "import/orders.staging"])
    mkdirSync(join(folder, name), { recursive: true });
  expect(await examined(folder)).toEqual([
    ["source customers: export", "ok"],
    ["sink orders: import/orders", "ok"],
  ]);
  expect(readdirSync(join(folder, "import", "orders.staging"))).toEqual([]);
  expect(readdirSync(join(folder, "export", "archive"))).toEqual([]);
});

test("a staging folder that files went by and that is gone is a fault, and none that will be made", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "import/orders"), { recursive: true });
  const used = `files were sent to ${join(folder, "import/orders")} since`;
  const get = (name: string) => (name === used ? "2026-03-02T06:00:00.000Z" : null);
  const notebook = { get, set: () => {} };
  const sink = async () => (await examined(folder, "archive", { notebook })).at(-1);
  expect(await sink()).toEqual(["sink orders: import/orders", "unavailable"]);
  mkdirSync(join(folder, "import/orders.staging"));
  expect(await sink()).toEqual(["sink orders: import/orders", "ok"]);
});

test("a file in the way, folders that are on two file systems, and links in place of folders are faults", async () => {
  const folder = tempFolder();
  const roots = [process.env["FUELBRIDGE_TEST_CACHE"] ?? tmpdir(), "/dev/shm"];
  const other = roots.find((root) => statSync(root).dev !== statSync(folder).dev) as string;
  const elsewhere = mkdtempSync(join(other, "fuelbridge-"));
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  mkdirSync(join(folder, "export"));
  writeFileSync(join(folder, "import"), "");
  const inTheWay = ["sink orders: import/orders", "enotdir"];
  expect(await examined(folder, elsewhere)).toEqual([
    ["source customers: export", "exdev"],
    inTheWay,
  ]);
  symlinkSync(elsewhere, join(folder, "export", "archive"));
  expect(await examined(folder)).toEqual([["source customers: export", "elinked"], inTheWay]);
});

const NOBODY = 65_534;

test.skipIf(process.getuid?.() !== 0)(
  "the rights are those of the user who asks: to list, to write, and to move files of others away",
  () => {
    const folder = tempFolder();
    chmodSync(folder, 0o755);
    for (const name of ["export", "import/orders", "import/orders.staging"])
      mkdirSync(join(folder, name), { recursive: true });
    const asNobody = (): unknown =>
      JSON.parse(
        execFileSync(
          process.execPath,
          [fileURLToPath(new URL("../../test/files/examine-program.ts", import.meta.url)), folder],
          {
            uid: NOBODY,
            gid: NOBODY,
            encoding: "utf8",
          },
        ),
      );
    expect(asNobody()).toEqual([
      ["source customers: export", "eacces"],
      ["sink orders: import/orders", "eacces"],
    ]);
    // Anybody may write there, and move away only what is their own.
    chmodSync(join(folder, "export"), 0o1777);
    for (const name of ["orders", "orders.staging"])
      chownSync(join(folder, "import", name), NOBODY, NOBODY);
    expect(asNobody()).toEqual([
      ["source customers: export", "eperm"],
      ["sink orders: import/orders", "ok"],
    ]);
    chmodSync(join(folder, "export"), 0o777);
    expect(asNobody()).toEqual([
      ["source customers: export", MADE],
      ["sink orders: import/orders", "ok"],
    ]);
  },
);

test.skipIf(process.getuid?.() !== 0 || process.platform !== "linux")(
  "a file system that is mounted read only is named as that, and not as a right that people could grant",
  async ({ skip }) => {
    const folder = tempFolder();
    mkdirSync(join(folder, "export"));
    mkdirSync(join(folder, "import"));
    const place = join(folder, "export");
    if (spawnSync("/bin/mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", place]).status !== 0)
      skip("this machine mounts nothing");
    onTestFinished(() => void spawnSync("/bin/umount", [place]));
    const wanted = [{ path: place, rights: ["r", "w"] }] as const;
    expect(await localRights.missing(wanted)).toMatch(/export is mounted read only: mount it/);
    expect(await examined(folder)).toMatchObject([["source customers: export", "erofs"], {}]);
  },
);
