/** What the set-up of the test run asks of a machine. */
import { globSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isThere, lacking } from "./machine.ts";
import { pythonEnvironment } from "./pypi.ts";

test("a trytond without its modules lacks each module's package, and no more", () => {
  const bare = (path: string): boolean => /^[^*]*\/trytond-6\.0\.\*$/.test(path);
  expect(lacking("trytond", bare)).toEqual([
    "tryton-modules-account-invoice",
    "tryton-modules-account-payment",
    "tryton-modules-sale",
    "tryton-modules-purchase",
    "tryton-modules-product-price-list",
    "tryton-modules-sale-price-list",
  ]);
  const all = (path: string): boolean => !path.endsWith("/sale/tryton.cfg");
  expect(lacking("trytond", all)).toEqual(["tryton-modules-sale"]);
});

test("a server without one of its modules leaves its suites out", () => {
  expect(isThere("trytond")).toBe(
    globSync("/usr/lib/python3/dist-packages/trytond/modules/sale/tryton.cfg").length > 0,
  );
});

test("an environment of PyPI is complete when each of its packages is there, whatever the case of their names", () => {
  const name = `fuelbridge-machine-test-${process.pid}`;
  const folder = new URL(`../../node_modules/.cache/${name}`, import.meta.url).pathname;
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { missing } = pythonEnvironment(
    ["python-sql==1.8.1", "Genshi==0.7.12", "lxml==6.1.3"],
    name,
  );
  expect(missing()).toHaveLength(3);
  const made = (path: string) => mkdirSync(join(folder, path), { recursive: true });
  made("bin/python");
  made("lib/python3.11/site-packages/python_sql-1.8.1.dist-info");
  made("lib/python3.11/site-packages/genshi-0.7.12.dist-info");
  made("lib/python3.11/site-packages/lxml-5.0.0.dist-info");
  expect(missing()).toEqual(["lxml==6.1.3"]);
});
