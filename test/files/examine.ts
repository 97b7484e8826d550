/** A folder of an exchange as the doctor sees it. */
import { files } from "../../connectors/files/index.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import { surroundingsIn } from "../support/surroundings.ts";

/** Each line's text after the folder's own path, and what is wrong, noted or "ok". */
export async function examined(
  folder: string,
  archive = "archive",
  more: Partial<Surroundings> = {},
): Promise<(readonly [string, string])[]> {
  const endpoint = files.open(
    files.config.parse({
      folder: ".",
      sources: {
        customers: {
          layout: "books.parties",
          profile: "tryton-export/customers",
          folder: "export",
          archive,
          pick: "*.csv",
        },
      },
      sinks: { orders: { document: "orders", folder: "import/orders" } },
    }),
    surroundingsIn(folder, { looking: true, ...more }),
  );
  const needs = {
    currency: "USD",
    ourselves: [],
    parts: new Set(["customers", "orders"]),
    column: () => [],
    days: [],
  };
  const { signal } = new AbortController();
  await endpoint.check(signal);
  const all = (await endpoint.examine?.(signal, needs)) ?? [];
  return all.map(({ what, fault, note }) => [
    what.replace(`${folder}/`, ""),
    fault === null ? (note ?? "ok") : fault.code,
  ]);
}
