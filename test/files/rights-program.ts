/** Reads the customers in folders, as the user that it is started as, and prints what each reading came to. */
import { files } from "../../connectors/files/index.ts";
import type { Obstacle } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { surroundingsIn } from "../support/surroundings.ts";

const told: unknown[] = [];
for (const folder of process.argv.slice(2)) {
  const endpoint = files.open(
    files.config.parse({
      folder: ".",
      settleMs: 0,
      sources: {
        it: { layout: "books.parties", profile: "tryton-export/customers", pick: "customers*.csv" },
      },
    }),
    surroundingsIn(folder),
  );
  const obstacles: Obstacle[] = [];
  const ids: string[] = [];
  let unavailable: string | null = null;
  const reading = {
    signal: new AbortController().signal,
    known: () => null,
    stored: () => false,
    hindered: (obstacle: Obstacle) => void obstacles.push(obstacle),
  };
  try {
    for await (const page of endpoint.sources["it"]?.read(null, reading) ?? [])
      ids.push(...page.changes.map(({ id }) => id));
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    unavailable = error.next;
  }
  told.push({ ids, obstacles, unavailable });
}
process.stdout.write(JSON.stringify(told));
