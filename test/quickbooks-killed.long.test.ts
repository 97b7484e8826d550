/**
 * fuelbridge is killed between every two calls of the Web Connector, which goes on with its session at the next process:
 * a document is in the company file once, and QuickBooks was told to add it once.
 *
 * @module-tag numbers
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "./support/folder.ts";
import { killsAsked } from "./support/runs.ts";
import { openSite, rowsOf } from "../connectors/quickbooks-desktop/desktop.fixture.ts";
import { guidOf } from "../connectors/quickbooks/text.ts";

const PROGRAM = fileURLToPath(new URL("./support/quickbooks-killed-program.ts", import.meta.url));
const CALLS_MAX = 100;
/** In turn, each at the next call; where more kills are asked for, sweep after sweep. */
const KINDS = [
  { prefix: "FL", sink: "invoices", add: "InvoiceAdd" },
  { prefix: "LD", sink: "orders", add: "SalesOrderAdd" },
  { prefix: "DT", sink: "shipments", add: "ItemReceiptAdd" },
] as const;
const KILLS = killsAsked() ?? 8;

const SLOW = { timeout: 300_000 + KILLS * 10_000 };

test("killed between any two SOAP calls, it books each document once", SLOW, async () => {
  const { connector, file, port } = await openSite({ calls: false });
  const folder = tempFolder();
  let child: ChildProcess | null = null;
  const start = async (): Promise<ChildProcess> => {
    const started = fork(PROGRAM, [folder, String(port)], { stdio: "inherit" });
    child = started;
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/qbwc`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(answers, { timeout: 60_000 }).toBe(true);
    return started;
  };
  const stop = async (): Promise<void> => {
    child?.kill("SIGKILL");
    if (child !== null && child.signalCode === null) await once(child, "exit");
  };
  onTestFinished(stop);
  let delivered = Promise.withResolvers<void>();
  const tell = (to: ChildProcess, number: string): void => {
    to.once("message", () => delivered.resolve());
    to.send(number);
  };
  let running = await start();
  connector.start();
  let kills = 0;
  /** The nth call of the Web Connector finds another process. False: the document took fewer. */
  const isKilledAt = async (nth: number, number: string, sink: string, add: string) => {
    delivered = Promise.withResolvers();
    let calls = 0;
    connector.before = async () => {
      if (++calls !== nth) return;
      kills++;
      await stop();
      running = await start();
      tell(running, number);
    };
    tell(running, number);
    await delivered.promise;
    connector.before = () => Promise.resolve();
    expect(rowsOf(file, sink, `id-${number}`), number).toHaveLength(1);
    const adds = file.asked.filter(
      (xml) => xml.includes(`<${add}Rq`) && xml.includes(guidOf(`id-${number}`)),
    );
    expect(adds, number).toHaveLength(1);
    return calls >= nth;
  };
  for (let sweep = 0, isEnough = false; !isEnough; sweep++, isEnough = kills >= KILLS)
    for (let nth = 1; nth <= CALLS_MAX; nth++) {
      const { prefix, sink, add } = KINDS[(sweep + nth) % KINDS.length] ?? KINDS[0];
      if (!(await isKilledAt(nth, `${prefix}-${sweep}-${nth}`, sink, add))) break;
    }
  await connector.stop();
  // Sign in, add and read back, each asked and answered; how often it is asked for nothing depends on the machine.
  expect(kills).toBeGreaterThanOrEqual(KILLS);
});
