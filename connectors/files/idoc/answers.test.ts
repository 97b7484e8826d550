import { mkdtempSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSinks } from "../sink.ts";
import {
  aleaud,
  bill,
  emptyFolder,
  itemOf,
  order,
  outgoing,
  sinkConfig,
  siteIn,
} from "./idoc.fixture.ts";

const { signal } = new AbortController();

test("several messages share a folder of answers, and a file that is still written is left until it is whole", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idoc-"));
  const inbox = emptyFolder(folder, "aleaud");
  const answers = { folder: "aleaud" };
  let now = Date.now();
  const site = siteIn(folder, { now: () => new Date(now) });
  const settings = {
    bills: sinkConfig("INVOIC", { answers }),
    orders: sinkConfig("ORDERS", { answers }),
  };
  const { bills, orders } = openSinks(settings, site);
  if (bills === undefined || orders === undefined) throw new Error("no sinks");
  const sent = [outgoing(bills, itemOf(bill())), outgoing(orders, itemOf(order()))];
  const [billed = "", ordered = ""] = sent.map(
    ({ target }) => /(\d{16})\.xml$/.exec(target)?.[1] ?? "",
  );
  const both = async (): Promise<number[]> => {
    const found = [];
    for (const [at, sink] of [bills, orders].entries()) {
      const delivered = { id: "it", counterpart: "it", body: sent[at]?.body ?? null };
      const [told] = (await sink.inspect?.([delivered], signal)) ?? [];
      found.push(told?.is === "there" ? told.differences.length : -1);
    }
    return found;
  };
  writeFileSync(join(inbox, "1.xml"), aleaud(billed, "51"));
  writeFileSync(join(inbox, "2.xml"), aleaud(ordered, "56"));
  // Half of an answer: nothing is said of it before it is at rest.
  writeFileSync(join(inbox, "3.xml"), aleaud(ordered, "53").slice(0, 400));
  expect(await both()).toEqual([0, 0]);
  now += 61_000;
  utimesSync(join(inbox, "3.xml"), now / 1000, now / 1000);
  expect(await both()).toEqual([1, 1]);
  writeFileSync(join(inbox, "3.xml"), aleaud(ordered, "53", { at: "20260815000000" }));
  now += 61_000;
  expect(await both()).toEqual([1, 0]);
  expect(readdirSync(inbox)).toEqual(["archive"]);
});
