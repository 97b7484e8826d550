import { expect, test } from "vitest";
import { askCommand, commandHere } from "../../test/support/here.ts";
import { openApi } from "../platform/contract/openapi.ts";
import { referencePage } from "../platform/parts.ts";

test("openapi prints the description, in an envelope with --json", async () => {
  const data: unknown = JSON.parse(JSON.stringify(openApi()));
  expect(JSON.parse((await commandHere("openapi")).out)).toEqual(data);
  expect(await askCommand("openapi")).toEqual(data);
});

test("openapi --markdown prints the reference page", async () => {
  expect((await commandHere("openapi", "--markdown")).out).toBe(referencePage());
});
