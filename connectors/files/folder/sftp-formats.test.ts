/** IDocs and interchanges over OpenSSH, out and in, with what the other side acknowledges. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { files } from "../index.ts";
import type { Endpoint, Item, Outgoing, Page, Source } from "../../../src/core/contract.ts";
import { aleaud, bill, golden, itemOf, sinkConfig } from "../../../test/files/idoc.ts";
import { agreed, envelope, golden832, itemOf as ordered, order } from "../../../test/files/x12.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { isThere } from "../../../test/support/machine.ts";
import { startSshd } from "../../../test/support/sshd.ts";
import { surroundingsIn } from "../../../test/support/surroundings.ts";

const { signal } = new AbortController();
const NUMBER = 117;

let sshd: Awaited<ReturnType<typeof startSshd>>;

/** What lies on a server, and an endpoint over it. */
async function place(config: object) {
  const folder = tempFolder();
  for (const name of ["in", "out", "answers"]) mkdirSync(join(folder, name));
  const endpoint = files.open(
    files.config.parse({ folder, sftp: sshd.sftp, settleMs: 0, ...config }),
    surroundingsIn("/nowhere", { now: () => new Date("2026-11-19T12:00:00Z") }),
  );
  onTestFinished(() => endpoint.close());
  return { endpoint, folder, puts: puts(folder) };
}

const puts = (folder: string) => (name: string, text: string) =>
  writeFileSync(join(folder, name), text);

async function deliver({ sinks }: Endpoint, item: Item): Promise<Outgoing> {
  const { it } = sinks;
  if (it === undefined) throw new Error("no sink");
  const request = { ...it.freeze([item], NUMBER), key: "k", items: [item], firstSentAt: null };
  await it.prepare?.(request, signal);
  const sent = { ...request, firstSentAt: "2026-11-19T11:00:00Z" };
  expect(await it.send(sent, signal)).toMatchObject({ outcome: "done" });
  expect(await it.find(sent, signal)).toMatchObject({ found: "exact" });
  return request;
}

async function read(source: Source | undefined): Promise<Page[]> {
  const pages: Page[] = [];
  const reading = { signal, known: () => null, stored: () => false };
  for await (const page of source?.read(null, reading) ?? []) pages.push(page);
  return pages;
}

const told = (pages: readonly Page[]) =>
  pages.flatMap(({ acknowledgements = [] }) => acknowledgements);
const ids = (pages: readonly Page[]) =>
  pages.flatMap(({ changes }) => changes.map(({ id, fault }) => (fault === undefined ? id : "-")));

describe.runIf(isThere("sshd"))("OpenSSH", () => {
  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterAll(() => sshd.end());

  test("an IDoc goes out, SAP's answer and its customers come in, each once", async () => {
    const answers = { folder: "answers" };
    const { endpoint, folder, puts } = await place({
      sources: { it: { format: "idoc", message: "DEBMAS", folder: "in", pick: "*.xml" } },
      sinks: { it: { ...sinkConfig("INVOIC", { answers }), folder: "out" } },
    });
    const { body } = await deliver(endpoint, itemOf(bill()));
    const [name = ""] = readdirSync(join(folder, "out"));
    expect(readFileSync(join(folder, "out", name), "utf8")).toBe(body);
    const docnum = /(\d{16})\.xml$/.exec(name)?.[1] ?? "";
    puts("answers/1.xml", aleaud(docnum, "51"));
    puts("in/1.xml", golden("DEBMAS"));
    const acknowledged = endpoint.sinks["it"]?.acknowledged?.source;
    expect(told(await read(acknowledged))).toMatchObject([
      { exchange: `idoc ${docnum}`, verdict: "refused" },
    ]);
    expect(ids(await read(endpoint.sources["it"]))).toContain("0000012000");
    expect([await read(acknowledged), await read(endpoint.sources["it"])]).toEqual([[], []]);
    expect([readdirSync(join(folder, "answers")), readdirSync(join(folder, "in"))]).toEqual([
      ["archive"],
      ["archive"],
    ]);
  });

  test("an 850 goes out, its 997 and an 832 come in, each once", async () => {
    const acknowledgements = { folder: "answers", pick: "*.edi" };
    const x12 = agreed;
    const { endpoint, folder, puts } = await place({
      sources: { it: { format: "x12", layout: "books.prices", folder: "in", pick: "*.edi", x12 } },
      sinks: { it: { format: "x12", document: "orders", folder: "out", acknowledgements, x12 } },
    });
    const { body } = await deliver(endpoint, ordered(order()));
    const [name = ""] = readdirSync(join(folder, "out"));
    expect(readFileSync(join(folder, "out", name), "latin1")).toBe(body);
    const answer = ["997", `AK1*PO*${NUMBER}`, "AK2*850*0001", "AK5*A", "AK9*A*1*1*1"];
    puts("answers/1.edi", envelope({ functionalId: "FA", sets: [answer] }));
    puts("in/1.edi", envelope({ functionalId: "SC", sets: [golden832] }));
    const acknowledged = endpoint.sinks["it"]?.acknowledged?.source;
    expect(told(await read(acknowledged))).toMatchObject([
      { exchange: expect.stringMatching(/ 000000117$/), item: "0001", verdict: "accepted" },
      { item: null, verdict: "accepted" },
    ]);
    expect(ids(await read(endpoint.sources["it"]))).toHaveLength(2);
    expect([await read(acknowledged), await read(endpoint.sources["it"])]).toEqual([[], []]);
  });
});
