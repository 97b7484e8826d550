/** What every queue promises to the engine, whoever carries its jobs. */
import { expect, it } from "vitest";
import type { Outgoing } from "../core/contract.ts";
import { type Answer, outcomes } from "../core/outcome.ts";
import type { Job, Queue, Sinks } from "./shared.ts";

/** Opens a queue whose jobs these sinks carry out; it ends with the test. */
type Open = (sinks: Sinks) => Promise<Queue>;

export const outgoing = (body: string): Outgoing => ({
  key: `fb1_test_${body}`,
  target: "POST /things",
  body,
  items: [{ number: body, id: body, revision: "1" }],
  firstSentAt: null,
});

let jobs = 0;
export const job = (body: string, sink = "things"): Job => ({
  id: `send-${++jobs}`,
  sink,
  request: outgoing(body),
});

export const done = (id: string): Answer => ({ outcome: "done", detail: "201", ids: [id] });

export function itCarries(open: Open): void {
  it("each job is carried out once, and its own answer comes home", async () => {
    const sent: Outgoing[] = [];
    const queue = await open({
      things: {
        send: async (request) => {
          sent.push(request);
          return done(`id of ${request.body}`);
        },
      },
    });
    const request = { ...outgoing("one"), firstSentAt: "2026-11-21T12:00:00.000Z" };
    expect(await queue.carry({ id: "first-1", sink: "things", request })).toEqual(
      done("id of one"),
    );
    expect(await queue.carry(job("two"))).toEqual(done("id of two"));
    expect(sent).toEqual([request, outgoing("two")]);
  });

  it("twenty at once: none is mixed up, none is doubled", async () => {
    const sent: string[] = [];
    const queue = await open({
      things: {
        send: async ({ body }) => {
          sent.push(body);
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
          return done(body);
        },
      },
    });
    const bodies = Array.from({ length: 20 }, (_, at) => `body ${at}`);
    const answers = await Promise.all(bodies.map((body) => queue.carry(job(body))));
    expect(answers).toEqual(bodies.map(done));
    expect(sent.toSorted()).toEqual(bodies.toSorted());
  });

  it("bytes go through unchanged: digits, accents, quotes, line ends", async () => {
    const body = '{"amount":1234567890123456.70,"name":"Füel \\"€\\" \u2028 & Söhne"}\r\n';
    let received = "";
    const queue = await open({
      things: { send: async (request) => ((received = request.body), done("1")) },
    });
    await queue.carry(job(body));
    expect(received).toBe(body);
  });

  it("every kind of answer comes home unchanged, with its ids, nulls, faults and waits", async () => {
    const answers = Array.from({ length: 24 }, (_, at): Answer => ({
      outcome: outcomes[at % 4] as Answer["outcome"],
      detail: `${at} "detail" ü`,
      ...(at % 2 === 0 ? { ids: ["a", null, "b"] } : {}),
      ...(at % 3 === 0
        ? { fault: { code: "bad-row", message: "line 1\nline 2", next: "Mend it.", field: "x.y" } }
        : {}),
      ...(at % 5 === 0 ? { waitMs: at, requestId: `req-${at}` } : {}),
      ...(at % 7 === 0 ? { stop: "scope", person: "now", waits: [null, "2026-11-21"] } : {}),
      ...(at % 4 === 3 ? { probe: true, running: true, unanswered: true, holdMs: at } : {}),
    }));
    const queue = await open({
      things: { send: async ({ body }) => answers[Number(body)] as Answer },
    });
    const home = await Promise.all(answers.map((_, at) => queue.carry(job(String(at)))));
    expect(home).toEqual(answers);
  });

  it("closing waits for the work in hand and brings its answer home", async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    const queue = await open({
      things: {
        send: async () => {
          start();
          await end;
          return done("late");
        },
      },
    });
    const carrying = queue.carry(job("one"));
    await started;
    const closing = queue.close();
    finish();
    expect(await carrying).toEqual(done("late"));
    await closing;
  });

  it("a sink that nobody has is told by name: nothing was sent", async () => {
    const queue = await open({ things: { send: async () => done("1") } });
    const answer = await queue.carry(job("one", "thingz"));
    expect(answer.outcome).toBe("nothing");
    expect(answer.detail).toContain('there is no sink "thingz"');
    expect(answer.detail).toContain("things");
    expect(await queue.carry(job("two"))).toEqual(done("1"));
  });
}
