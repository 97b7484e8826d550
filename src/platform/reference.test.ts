/** The reference page is the generated one, and what it says of uses is what happens. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { invoice, party, price } from "../../test/conformance/samples.ts";
import { never, outgoing, reading, usePlatform } from "../../test/platform/support.ts";
import { type OperationId, operations } from "./contract/operations.ts";
import { platformSinks, platformSources } from "./endpoint.ts";
import { referencePage, uses } from "./reference.ts";

const PAGE = join(import.meta.dirname, "..", "..", "docs", "platform-api.md");
const used = new Set<OperationId>(Object.values(uses).flat());

test("docs/platform-api.md is the generated page", () => {
  expect(
    readFileSync(PAGE, "utf8"),
    "write it anew: fuelbridge openapi --markdown > docs/platform-api.md",
  ).toBe(referencePage());
});

test("every path written in the endpoint and its sinks is one of a used operation", () => {
  const sinks = join(import.meta.dirname, "sinks");
  const files = readdirSync(sinks).filter((name) => !name.endsWith(".test.ts"));
  const texts = [
    join(import.meta.dirname, "endpoint.ts"),
    ...files.map((name) => join(sinks, name)),
  ].map((file) => readFileSync(file, "utf8"));
  const paths = texts.flatMap((text) =>
    [...text.matchAll(/"(\/[a-z/-]+)(?:\?[^"]*)?"/g)].map(([, path]) => path),
  );
  const known = new Set<string | undefined>([...used].map((id) => operations[id].path));
  expect(paths).toContain("/invoices");
  expect(paths.filter((path) => !known.has(path))).toEqual([]);
});

describe("an end of a flow asks for what the page says, and for nothing else", () => {
  const platform = usePlatform("conformance");
  const { control } = platform;

  async function asked(work: Promise<void>): Promise<string[]> {
    await work;
    const requests = await control.requests();
    const ids = requests.map(({ method, path }) => operationOf(String(method), String(path)));
    return [...new Set(ids)].toSorted();
  }

  function operationOf(method: string, path: string): string {
    const found = Object.entries(operations).find(
      ([, row]) =>
        row.method === method && new RegExp(`^${row.path.replace("{id}", "[^/]+")}$`).test(path),
    );
    return found?.[0] ?? `${method} ${path}`;
  }

  test.each(platformSources)("source %s", async (name) => {
    await control.readings({ listsCarryLines: false });
    // All invoices of the scenario are the supplier's, for the customer to pay.
    const key = name === "invoicesPayable" ? "customer" : "supplier";
    const { sources } = platform.endpoint({}, key);
    const read = async (): Promise<void> => {
      for await (const page of sources[name]?.read(null, reading()) ?? [])
        expect(page.changes).not.toEqual([]);
    };
    expect(await asked(read())).toEqual([...uses[name]].toSorted());
  });

  const documents = {
    invoices: invoice(),
    customers: party(),
    suppliers: party(),
    rackPrices: price(),
  };

  test.each(platformSinks)("sink %s", async (name) => {
    const work = async (): Promise<void> => {
      const sink = platform.endpoint().sinks[name];
      if (sink === undefined) throw new Error(`no sink ${name}`);
      const request = outgoing(sink, [JSON.stringify(documents[name])]);
      expect(await sink.send(request, never)).toMatchObject({ name: "done" });
      await sink.find(request, never);
    };
    expect(await asked(work())).toEqual([...uses[name]].toSorted());
  });
});
