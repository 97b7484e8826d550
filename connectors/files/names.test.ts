/** Names that nothing can be reached by. */
import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { dropFolder, picks } from "../../test/files/source.ts";

test.skipIf(process.platform !== "linux")(
  "a file whose name is no UTF-8 is told, and never passed over in silence",
  async () => {
    const folder = await dropFolder();
    onTestFinished(() => folder.remove());
    const name = Buffer.concat([Buffer.from(`${folder.path}/customers-`), Buffer.of(0xe9, 0xff)]);
    writeFileSync(Buffer.concat([name, Buffer.from(".csv")]), "ID\n");
    const { pages, obstacles } = await folder.read(picks.customers);
    expect(pages).toEqual([]);
    expect(obstacles).toMatchObject([
      { what: "customers-\uFFFD\uFFFD.csv", fault: { code: "odd-name" } },
    ]);
  },
);
