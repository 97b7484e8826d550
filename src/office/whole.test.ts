/** A file of the documents that fit has all of them, or says that it has not. */
import { expect, test } from "vitest";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { Decimal } from "../core/decimal.ts";
import { runFlow } from "../engine/daemon.ts";
import { wholeOf } from "./documents.ts";

const signal = new AbortController().signal;
const COUNT = 1_234;

async function site() {
  const made = engineOn(tempFolder());
  const changes = Array.from({ length: COUNT }, (_, at) => bill(`INV-${at}`, "1.01"));
  const flow = made.flow({
    mapping: { ...billMapping, about: ({ amount }) => ({ partyName: "Prairie Fuel", amount }) },
    sink: receiver(),
    source: pagesOf([{ changes, position: 1 }]),
  });
  await runFlow(made.engine, flow, signal);
  return officeOn(made.engine, [flow]);
}

test("a file of documents has every one once, and what nobody has searched yet, too", async () => {
  const office = await site();
  const asked = { text: null, least: "1.00", most: "1.02" };
  const { documents, isAll } = await wholeOf(office.documents, asked);
  expect(isAll).toBe(true);
  expect(new Set(documents.map(({ number }) => number)).size).toBe(COUNT);
  expect(Decimal.sum(documents.map(({ amount }) => Decimal.of(amount ?? "0"))).fixed(2)).toBe(
    "1246.34",
  );
});

test("a file that ends before the last page, or before what cannot be chosen yet, says so", async () => {
  const office = await site();
  const asked = { text: null };
  const endless = async (one: Parameters<typeof office.documents>[0]) => ({
    ...(await office.documents({ ...one, before: null })),
    next: "1~1",
  });
  expect(await wholeOf(endless, asked)).toMatchObject({ isAll: false });
  const behind = async (one: Parameters<typeof office.documents>[0]) => ({
    ...(await office.documents(one)),
    unsearched: 7,
  });
  expect(await wholeOf(behind, asked)).toMatchObject({ isAll: false, unsearched: 7 });
});
