import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { parseExact } from "../core/json.ts";
import { useSandbox } from "../../test/conformance/support.ts";
import { written } from "./notation.ts";

const renumbered = (text: string, numbersWritten: "padded" | "exponent" | "alternating", nth = 0) =>
  written(text, nth, { numbersWritten, timesWritten: "utc", idsWritten: "small" });

const NUMBERS = ["0", "1", "100", "-100", "1.5", "0.05", "2.4567", "10.10", "123456789012345.678"];

test.each(["padded", "exponent"] as const)("%s: each number keeps its value", (notation) => {
  for (const number of NUMBERS) {
    const [other] = parseExact(renumbered(`[${number}]`, notation)) as unknown as [Decimal];
    expect(other.text).not.toBe(number);
    expect(Decimal.of(other.plain()).equals(Decimal.of(number)), other.text).toBe(true);
  }
});

test("what a string holds is no number, and one with an exponent stays", () => {
  expect(renumbered('{"a 1":"100 \\" 2","b":100,"c":1e2}', "padded")).toBe(
    '{"a 1":"100 \\" 2","b":100.00,"c":1e2}',
  );
  expect(renumbered("[100,1.50,0]", "exponent")).toBe("[1e2,15e-1,0e0]");
});

const sandbox = useSandbox();

test("reading numbersWritten: answers write the same value otherwise; a record's version stays", async () => {
  const { control } = sandbox;
  const [row] = await control.records("invoices", [{ total: 100 }]);
  const read = async (): Promise<string> =>
    (await sandbox.get(`/invoices/${String(row?.["id"])}`)).text;
  const updatedAt = /"updatedAt":"[^"]+"/.exec(await read())?.[0];
  for (const [numbersWritten, total] of [
    ["padded", "100.00"],
    ["exponent", "1e2"],
  ] as const) {
    await control.readings({ numbersWritten });
    expect(await read()).toContain(`"total":${total},`);
    expect(await read()).toContain(updatedAt);
  }
  await control.readings({ numbersWritten: "alternating" });
  expect(new Set([await read(), await read(), await read()]).size).toBe(3);
  const notations = [0, 1, 2, 3].map((nth) => renumbered("[100]", "alternating", nth));
  expect(notations).toEqual(["[100]", "[100.00]", "[1e2]", "[100]"]);
});
