import { expect, test } from "vitest";
import type { Outgoing } from "../../core/contract.ts";
import type { PlatformAnswer } from "../answers.ts";
import { ownReplay } from "./write.ts";

const request = (body: string): Outgoing => ({
  key: "k",
  target: "POST /invoices",
  body,
  items: [],
  firstSentAt: null,
});
const replayed: PlatformAnswer = { name: "replayed", detail: "201, replayed", ids: ["a"] };
const sent = request('{"invoiceNumber":"INV-1","total":100.10}');
const judged = (data: string, answer = replayed, asked = sent): PlatformAnswer => {
  const text = `{"success":true,"data":${data}}`;
  return ownReplay(answer, { kind: "answer", status: 201, headers: {}, text }, asked);
};

test("a replay that shows what was sent is ours, whatever its notation and what it leaves out", () => {
  for (const data of ['{"id":"a","invoiceNumber":"INV-1","total":1.001e2}', '{"id":"a"}', "[]"])
    expect(judged(data), data).toBe(replayed);
  expect(judged('{"total":"100.1"}')).toBe(replayed);
  expect(judged('{"invoiceNumber":"INV-2"}', replayed, request(""))).toBe(replayed);
});

test("a replay that shows another record is a key conflict, which says both; an answer of our own is not judged", () => {
  expect(judged('{"invoiceNumber":"INV-2","total":100.1}')).toEqual({
    name: "key-conflict",
    detail:
      '201, replayed, but it shows another record: invoiceNumber "INV-2", and ours is "INV-1"',
  });
  expect(judged('{"invoiceNumber":"INV-1","total":100.11}').name).toBe("key-conflict");
  const done: PlatformAnswer = { name: "done", detail: "201", ids: ["a"] };
  expect(judged('{"invoiceNumber":"INV-2"}', done)).toBe(done);
});
