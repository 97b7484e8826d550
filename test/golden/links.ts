/** What links call documents at a receiver: the grammar of each connector's ids, recorded in links.json (test/golden.test.ts). */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const PATH = join(import.meta.dirname, "links.json");

/** `sale 12 platform:5f0c…` → `sale N platform:<uuid>` */
const shapeOf = (id: string): string =>
  id
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "<uuid>")
    .replaceAll(/(?<=_)[0-9a-f]{8}(?=[_.])/g, "<hash>")
    .replaceAll(/\d+/g, "N");

/** A connector that is not recorded (one's own) has a grammar of its own. */
export function expectLinkShape(connector: string, sink: string, id: string | null): void {
  const all = (existsSync(PATH) ? JSON.parse(readFileSync(PATH, "utf8")) : {}) as Record<
    string,
    Record<string, string>
  >;
  const shape = shapeOf(id ?? "");
  if (process.env["FUELBRIDGE_GOLDEN"] === "record") {
    all[connector] = { ...all[connector], [sink]: shape };
    writeFileSync(PATH, `${JSON.stringify(all, null, 2)}\n`);
  }
  const recorded = all[connector]?.[sink];
  if (recorded !== undefined) expect(shape, `link ids of ${connector} ${sink}`).toBe(recorded);
}
