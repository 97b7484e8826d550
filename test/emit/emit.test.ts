/** What others are given to validate: the same with the same seed, and read back by our own reader. */
import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { documents } from "../../connectors/files/documents.ts";
import { draftsIn } from "../../connectors/files/drafts.ts";
import { guardedAs } from "../../connectors/files/profile.ts";
import { openProfile } from "../../connectors/files/profile-open.ts";
import { bothWays } from "../../connectors/files/round-trip.suite.ts";
import { requests } from "../../connectors/quickbooks-desktop/tables.ts";
import { csvFiles } from "./csv.ts";
import { desktopRequests } from "./quickbooks-desktop.ts";

const readable = new Set(bothWays);

const digest = (seed: number): string =>
  hash(
    "sha256",
    [...csvFiles(seed, 3)].map(({ path, bytes }) => `${path} ${bytes.toString("hex")}`).join("\n"),
  );

test("with one seed the files have the same bytes, with another they have not", () => {
  expect(digest(7)).toBe(digest(7));
  expect(digest(8)).not.toBe(digest(7));
});

test("every file of every kind, from cases and random documents, is one record to our reader", async () => {
  const kinds = new Set<string>();
  const cases = new Set<string>();
  for (const { path, bytes } of csvFiles(1, 20)) {
    const name = path.slice(0, path.lastIndexOf("/"));
    const profile = openProfile(name, "");
    const text = new TextDecoder(profile.encoding === "auto" ? "utf-8" : profile.encoding).decode(
      bytes,
    );
    const own = guardedAs(profile, profile.quotes !== "none" && profile.file === "csv");
    const drafts = await draftsIn(own, text);
    expect(drafts.length, path).toBe(1);
    // A journal for QuickBooks has rows that our reader takes for two things: it is only written.
    if (readable.has(profile)) expect(drafts[0]?.problems, path).toEqual([]);
    kinds.add(profile.layout.name);
    if (path.includes("/case-")) cases.add(profile.layout.name);
  }
  const all = Object.keys(documents).map((kind) => `files.${kind}`);
  expect([...kinds].toSorted()).toEqual(all.toSorted());
  expect([...cases].toSorted()).toEqual(all.toSorted());
});

test("every request that QuickBooks Desktop can be asked is written, the same with one seed", async () => {
  const [one, another] = [await desktopRequests(7, 3), await desktopRequests(7, 3)];
  expect(one).toEqual(another);
  const kinds = new Set(
    one.flatMap(({ bytes }) =>
      [...bytes.toString().matchAll(/<(\w+)Rq requestID/g)].map(([, name]) => name),
    ),
  );
  expect(kinds).toEqual(new Set(Object.keys(requests)));
});
