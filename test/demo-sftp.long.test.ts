/**
 * The demo's second story: the ERP's folder is behind a real OpenSSH server.
 *
 * @module-tag numbers
 */
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../src/cli/demo/world.ts";
import { tempFolder } from "./support/folder.ts";
import { isThere } from "./support/machine.ts";
import { launch } from "./support/site-program.ts";

test.runIf(isThere("sshd"))(
  "npm run demo -- --erp sftp --once ends with the totals of the demo over a folder",
  { timeout: 1_200_000 },
  async () => {
    const totals: string[] = [];
    for (const erp of ["files", "sftp"]) {
      const home = tempFolder();
      for (const part of ["src", "connectors", "mappings", "config", "test/data", "package.json"])
        cpSync(join(root, part), join(home, part), { recursive: true });
      symlinkSync(join(root, "node_modules"), join(home, "node_modules"), "junction");
      const said = await launch(home, ["demo", "--erp", erp, "--once"]).ended;
      expect(said).toMatchObject({ code: 0, err: "" });
      expect(said.out).toContain(erp === "sftp" ? "var/demo-sftp/erp" : "var/demo/erp");
      totals.push(/Control totals[^]*?\n\n/.exec(said.out)?.[0] ?? "");
    }
    expect(totals[0]).toContain("equal");
    expect(totals[1]).toBe(totals[0]);
  },
);
