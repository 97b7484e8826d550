/** What the console hands out as one file is what other programs unpack. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { SUMS, sumsOf, verified } from "../reconcile/evidence.ts";
import { sha256Hex } from "../core/keys.ts";
import { zipped } from "../core/zip.ts";

const UNZIP = "/usr/bin/unzip";

test.runIf(existsSync(UNZIP))("an evidence pack that is unpacked verifies under its seal", () => {
  const folder = tempFolder();
  const files = { "cases.csv": "number,amount\nINV-1,1.00\n", "report.txt": "Müller £\n" };
  const sums = sumsOf(files);
  const bytes = zipped(Object.entries({ ...files, [SUMS]: sums }));
  expect(bytes).toEqual(zipped(Object.entries({ ...files, [SUMS]: sums })));
  writeFileSync(join(folder, "pack.zip"), bytes);
  execFileSync(UNZIP, ["-q", join(folder, "pack.zip"), "-d", folder]);
  const unpacked = new Map(
    Object.keys(files).map((name) => [name, readFileSync(join(folder, name))]),
  );
  expect(verified(unpacked, readFileSync(join(folder, SUMS), "utf8"))).toEqual({
    seal: sha256Hex(sums),
    changed: [],
    missing: [],
    extra: [],
  });
});
