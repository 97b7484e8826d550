/**
 * The connector kit: what every connector must show before it is put between somebody's books and the platform. A
 * connector's own test gives it a ground to stand on, with the real receiver, and calls {@link connectorSuite} once.
 */
import { describe, expect, test } from "vitest";
import type { Answer } from "../src/core/outcome.ts";
import { keeping, naming, paying, stamping } from "./connector-books.suite.ts";
import { expectLinkShape } from "./golden/links.ts";
import { numbers, steps } from "./support/runs.ts";
import {
  type Config,
  deliver,
  type Ground,
  type Kit,
  never,
  open,
  read,
  recordsOf,
  refusalOf,
  requestOf,
  SENT,
  sinkOf,
  stepsOf,
} from "./support/connector.ts";

export type { Config, Ground };

/** Real servers take their time, and wrong passwords are answered late. */
const TEST_MS = 300_000;

export function connectorSuite(kit: Kit): void {
  describe(`connector ${kit.connector.name}`, { timeout: TEST_MS }, () => {
    configuration(kit);
    for (const source of kit.sources) reading(kit, source);
    for (const source of kit.sources) stamping(kit, source);
    for (const sink of Object.keys(kit.sinks)) sending(kit, sink);
    for (const sink of Object.keys(kit.sinks)) keeping(kit, sink);
    if (kit.paying !== undefined) paying(kit, kit.paying);
    if (kit.hasClerk === true) naming(kit);
  });
}

function configuration(kit: Kit): void {
  test.for(kit.bad)("a configuration with a wrong $field is refused by its name", async (bad) => {
    const { config } = await kit.ground();
    const refused = kit.connector.config.safeParse(bad.config(config));
    const paths = refused.error?.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`);
    expect(paths?.join("\n")).toContain(bad.field);
  });

  test("a receiver that is there passes the check", async () => {
    const ground = await kit.ground();
    await open(kit, ground).check(never);
  });

  test("one that does not answer is told, with the next action, and nothing was sent", async () => {
    const ground = await kit.ground();
    await fails(kit, ground, ground.unreachable, null);
  });

  test("wrong credentials are told apart from that, or there are none", async () => {
    const ground = await kit.ground();
    if (ground.wrongCredentials !== "has none")
      await fails(kit, ground, ground.wrongCredentials, "credentials");
    else expect(JSON.stringify(ground.config)).not.toMatch(/password|secret|token|apiKey/i);
  });

  test("it may be closed twice, used or not", async () => {
    const ground = await kit.ground();
    const unused = open(kit, ground);
    await unused.close();
    await unused.close();
    const used = open(kit, ground);
    await used.check(never);
    await used.close();
    await used.close();
  });
}

/** The check, sources and sinks say the same of a configuration that cannot work. */
async function fails(kit: Kit, ground: Ground, config: Config, stop: string | null): Promise<void> {
  // A receiver counts wrong passwords, and in the end says something else: one of each will do.
  const asked = stop === null ? Infinity : 1;
  const endpoint = open(kit, ground, config);
  const told = { name: "SourceUnavailable", stop, next: expect.stringMatching(/\w+ \w+/) };
  await expect(endpoint.check(never)).rejects.toMatchObject(told);
  for (const source of kit.sources.slice(0, asked))
    await expect(read(endpoint, source, [])).rejects.toMatchObject(told);
  for (const [name, { good }] of Object.entries(kit.sinks).slice(0, asked)) {
    const sink = sinkOf(endpoint, name);
    const answer = await deliver(sink, [good]).catch((error: unknown) => error);
    if (answer instanceof Error) expect(answer).toMatchObject(told);
    else expect(answer).toMatchObject({ outcome: "nothing", ...(stop === null ? {} : { stop }) });
    // A stop is told with the advice of whoever answered, be it met by reading or by writing.
    if (stop !== null && !(answer instanceof Error))
      expect(answer).toMatchObject({ next: expect.stringMatching(/\w+ \w+/) });
    expect(await ground.effects(name, good)).toEqual([]);
  }
}

function reading(kit: Kit, source: string): void {
  const filled = async (): Promise<Ground> => {
    const ground = await kit.ground();
    await ground.fill(source);
    return ground;
  };

  test(
    `${source}: reading goes on from every position it gave, and no record is lost`,
    numbers,
    async () => {
      const whole = await read(open(kit, await filled()), source, []);
      expect(whole.length).toBeGreaterThanOrEqual(3);
      for (const stored of steps(whole.length - 1)) {
        const ground = await filled();
        const before = open(kit, ground);
        const first = await read(before, source, [], { pages: stored });
        // One that is called listens on its port alone.
        await before.close();
        const rest = await read(open(kit, ground), source, first);
        expect(recordsOf([...first, ...rest]), `after ${stored} pages`).toEqual(recordsOf(whole));
      }
    },
  );

  test(`${source}: when it is told to stop, it stops, and what is left comes next time`, async () => {
    const ground = await filled();
    const whole = recordsOf(await read(open(kit, await filled()), source, []));
    const stop = new AbortController();
    const endpoint = open(kit, ground);
    const first = await read(endpoint, source, [], { signal: stop.signal, each: stop });
    expect(first.length).toBeLessThanOrEqual(2);
    const rest = await read(endpoint, source, first);
    expect(recordsOf([...first, ...rest])).toEqual(whole);
    const told = await read(endpoint, source, [], { signal: AbortSignal.abort() });
    expect(recordsOf(told)).toEqual({});
  });
}

function sending(kit: Kit, name: string): void {
  const { good, refused } = kit.sinks[name] as Kit["sinks"][string];
  let left: Promise<readonly string[]> | undefined;
  /** What a delivery that nobody disturbed leaves behind: delivered once for all tests that compare with it. */
  const undisturbed = (): Promise<readonly string[]> => (left ??= deliverUndisturbed());
  async function deliverUndisturbed(): Promise<readonly string[]> {
    const ground = await kit.ground();
    expect(await deliver(sinkOf(open(kit, ground), name), [good])).toMatchObject({
      outcome: "done",
    });
    const effects = await ground.effects(name, good);
    expect(effects).toHaveLength(1);
    return effects;
  }

  test(`${name}: the same document is the same bytes`, async () => {
    const sink = sinkOf(open(kit, await kit.ground()), name);
    expect(sink.freeze([good])).toEqual(sink.freeze([good]));
    expect(sink.itemsMax).toBeGreaterThanOrEqual(1);
  });

  test(`${name}: the same request again makes nothing new, and is found`, async () => {
    const ground = await kit.ground();
    const sink = sinkOf(open(kit, ground), name);
    const request = requestOf(sink, [good]);
    expect(await sink.find(request, never)).toMatchObject({ found: "none" });
    const first = await deliver(sink, [good]);
    expect(first).toMatchObject({ outcome: "done" });
    expect(first.ids?.[0]).toEqual(expect.any(String));
    expectLinkShape(kit.connector.name, name, first.ids?.[0] ?? null);
    const effects = await ground.effects(name, good);
    const again = { ...request, firstSentAt: SENT };
    const second = await sink.send(again, never);
    expect(second.outcome).toBe("done");
    expect(second.ids).toEqual(first.ids);
    expect(await ground.effects(name, good)).toEqual(effects);
    expect(await sink.find(again, never)).toMatchObject({ found: "exact", ids: first.ids });
  });

  test(
    `${name}: cut off between sending and answer, find says the truth and nothing doubles`,
    numbers,
    async () => {
      const expected = await undisturbed();
      let cuts = 0;
      for (const step of stepsOf(kit)) {
        const ground = await kit.ground();
        const sink = sinkOf(open(kit, ground), name);
        const request = requestOf(sink, [good]);
        await sink.prepare?.(request, never);
        const sent = { ...request, firstSentAt: SENT };
        const { over, answer } = await ground.interrupt(name, sent, step);
        if (over) break;
        cuts++;
        const left = await ground.effects(name, good);
        const finding = await sink.find(sent, never);
        const where = `cut off after step ${step}, answered ${JSON.stringify(answer)}`;
        expect(["exact", "none"], where).toContain(finding.found);
        expect(finding.found === "exact", where).toBe(isSame(left, expected));
        if (answer !== null) truthful(answer, left, expected);
        if (finding.found === "none") {
          await sink.prepare?.(sent, never);
          expect(await sink.send(sent, never), where).toMatchObject({ outcome: "done" });
        }
        expect(await ground.effects(name, good), where).toEqual(expected);
        expect(await sink.find(sent, never), where).toMatchObject({ found: "exact" });
      }
      expect(cuts).toBeGreaterThan(0);
    },
  );

  test(`${name}: a document that is refused names its reason, and leaves nothing`, async () => {
    const ground = await kit.ground();
    const sink = sinkOf(open(kit, ground), name);
    const fault = await refusalOf(sink, refused);
    expect(fault).toMatchObject({
      code: expect.stringMatching(/^[a-z-]+$/),
      message: expect.stringMatching(/\w+ \w+/),
      next: expect.stringMatching(/\w+ \w+/),
    });
    expect(await ground.effects(name, refused)).toEqual([]);
  });

  test(`${name}: told to stop before it sends, it tells the truth about what it did`, async () => {
    const expected = await undisturbed();
    const ground = await kit.ground();
    const sink = sinkOf(open(kit, ground), name);
    const answer = await deliver(sink, [good], AbortSignal.abort());
    truthful(answer, await ground.effects(name, good), expected);
    const request = { ...requestOf(sink, [good]), firstSentAt: SENT };
    expect(await sink.send(request, never)).toMatchObject({ outcome: "done" });
    expect(await ground.effects(name, good)).toEqual(expected);
  });
}

/** "Yes" is the whole effect, "no" is none of it. */
function truthful(answer: Answer, left: readonly string[], expected: readonly string[]): void {
  const { outcome } = answer;
  const told = JSON.stringify(answer);
  if (outcome === "done") expect(left, told).toEqual(expected);
  if (outcome === "refused" || outcome === "nothing") expect(left, told).toEqual([]);
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  JSON.stringify(left) === JSON.stringify(right);
