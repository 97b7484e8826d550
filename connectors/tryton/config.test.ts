import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { TrytonConfig } from "./config.ts";

const accounts = { receivable: "1", payable: "2", revenue: "3", expense: "4" };
const least = {
  url: "https://tryton.example.com/",
  database: "prairie",
  user: "fuelbridge",
  password: "long-enough",
  company: "Prairie Fuel",
  accounts,
  paymentMethod: "Bank transfer",
};
const issue = (changed: Record<string, unknown>): string | undefined =>
  TrytonConfig.safeParse({ ...least, ...changed }).error?.issues[0]?.message;

test("sample.yaml is a configuration of this connector, and names every setting but the deadline", () => {
  const text = readFileSync(new URL("sample.yaml", import.meta.url), "utf8");
  const { endpoints } = parse(text) as { endpoints: { books: Record<string, unknown> } };
  const { connector, ...section } = endpoints.books;
  expect(connector).toBe("tryton");
  expect(TrytonConfig.safeParse(section).error).toBeUndefined();
  const left = Object.keys(TrytonConfig.shape).filter((name) => section[name] === undefined);
  expect(left).toEqual(["deadlineMs", "settleMs"]);
});

test("what is left out is what most want: posted, our numbers, Tryton's own journals", () => {
  expect(TrytonConfig.parse(least)).toMatchObject({
    url: "https://tryton.example.com",
    journals: { revenue: "REV", expense: "EXP" },
    posting: "post",
    guard: "search",
    numbering: "platform",
    batch: 20,
    warehouse: "WH",
    settleAfter: 26 * 3_600_000,
  });
  expect(TrytonConfig.parse({ ...least, settleAfter: "0s" })).toMatchObject({ settleAfter: 0 });
  expect(issue({ settleAfter: "soon" })).toBe("is not a duration such as 10m or 26h");
});

test.each([
  ["http://tryton.example.com", "loopback"],
  ["https://me:secret@tryton.example.com", "user name or password"],
  ["https://tryton.example.com?db=x", "query"],
  ["ftp://tryton.example.com", "neither https nor http"],
  ["tryton", "not an address"],
])("the address %s is refused", (url, why) => {
  expect(issue({ url })).toContain(why);
});

test.each([
  ["batch", 0],
  ["batch", 101],
  ["guard", "hope"],
  ["password", "short"],
  ["accounts", { ...accounts, receivable: "" }],
  ["accounts", { ...accounts, suspense: "9" }],
])("%s: %j is refused", (name, value) => {
  expect(issue({ [name]: value })).toBeDefined();
});
