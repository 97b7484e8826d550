/** IDocs and interchanges with manifests: bytes, hash and documents are compared; rows and sums are of tables. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formats, rightOf } from "../../test/files/bad-inbox.ts";
import { dropFolder } from "../../test/files/source.ts";

/** How many documents a file has: IDocs, transaction sets. */
const documentsIn = (text: string): number => text.match(/<IDOC |~ST\*/g)?.length ?? 0;

async function outcome(
  source: Readonly<Record<string, unknown>>,
  content: string,
  manifest: object,
) {
  const folder = await dropFolder();
  onTestFinished(() => folder.remove());
  await folder.put("b1.dat", content);
  await folder.put("b1.dat.manifest", JSON.stringify(manifest));
  const { changes } = await folder.read({ ...source, manifest: ".manifest" });
  const strip = (names: readonly string[]) =>
    names.map((name) => name.replace(/\.[0-9a-f]{8}/, ""));
  const failed = await folder.names("failed");
  const report = failed.find((name) => name.endsWith(".errors.csv"));
  return {
    read: changes.length,
    archived: strip(await folder.names("archive")),
    failed: strip(failed),
    report: report === undefined ? "" : await readFile(join(folder.path, "failed", report), "utf8"),
  };
}

test.each(
  ["idoc", "x12"].map((name) => ({
    name,
    source: { ...formats[name]?.source, pick: "b*.dat" },
    right: rightOf(name),
  })),
)(
  "$name: a file that comes to its manifest is read and archived with it; any other is refused with both values",
  async ({ source, right }) => {
    const documents = documentsIn(right);
    const bytes = Buffer.byteLength(right);
    const good = { file: "b1.dat", bytes, sha256: hash("sha256", right, "hex"), documents };
    const { read, archived, failed } = await outcome(source, right, good);
    expect({ archived, failed }).toEqual({ archived: ["b1.dat", "b1.dat.manifest"], failed: [] });
    expect(read).toBeGreaterThan(0);
    const wrong: readonly (readonly [object, string])[] = [
      [{ documents: 9 }, `has ${documents} documents, and b1.dat.manifest says 9`],
      [{ bytes: 5 }, `has ${bytes} bytes, and b1.dat.manifest says 5`],
      [{ sha256: "00" }, "and b1.dat.manifest says 00"],
      [{ rows: 3 }, "is no table, and b1.dat.manifest says how many rows it has"],
      [{ sums: { Price: 1 } }, "is no table, and b1.dat.manifest has sums of columns"],
    ];
    for (const [more, reason] of wrong) {
      const found = await outcome(source, right, { ...good, ...more });
      expect([found.read, found.archived], reason).toEqual([0, []]);
      expect(found.failed).toEqual(["b1.dat", "b1.dat.manifest", "b1.errors.csv"]);
      expect(found.report).toContain(reason);
    }
  },
);
