import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openApi } from "../platform/contract/openapi.ts";
import { referencePage } from "../platform/parts.ts";

const MAIN = join(import.meta.dirname, "..", "main.ts");

async function printed(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "openapi", ...args]);
  return stdout;
}

test("openapi prints the description, in an envelope with --json", async () => {
  const data: unknown = JSON.parse(JSON.stringify(openApi()));
  expect(JSON.parse(await printed())).toEqual(data);
  expect(JSON.parse(await printed("--json"))).toEqual({ ok: true, command: "openapi", data });
});

test("openapi --markdown prints the reference page", async () => {
  expect(await printed("--markdown")).toBe(referencePage());
});
