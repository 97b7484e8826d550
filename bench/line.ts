/**
 * Files a second over a line to an SFTP server that takes 200 ms there and back, both ways, by the whole road: a store, the
 * engine, OpenSSH. Then over one that is cut again and again, where nothing may be lost or doubled.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startSshd } from "../src/demo/sshd.ts";
import { table } from "../src/views/text.ts";
import { type LineOptions, openLine } from "../test/files/line.ts";
import { lineSite } from "../test/files/line-site.ts";
import { nothing, siteOf } from "./outbound-site.ts";
import { inFolder, median, say, verdict } from "./support.ts";

const FILES = 200;
const DELAY_MS = 200;
const FILES_A_SECOND = 10;
/** Packets of the server between two cuts; to log in takes about ten of them. */
const CUT_EVERY = 200;

interface Exchanged {
  /** Files a second. */
  readonly out: number;
  readonly back: number;
  /** Of both ways. */
  readonly lost: number;
  readonly doubled: number;
  readonly cuts: number;
}

export async function benchLine(rounds: number): Promise<void> {
  say("", `files: ${FILES} each way over SFTP, a line of ${DELAY_MS} ms; files/s out, in`);
  const whole: Exchanged[] = [];
  const cut: Exchanged[] = [];
  for (let at = 0; at < rounds; at++) {
    whole.push(await exchange({ delayMs: DELAY_MS }));
    cut.push(await exchange({ delayMs: DELAY_MS, isCut: (packet) => packet % CUT_EVERY === 0 }));
    for (const one of [whole, cut])
      say(
        `  ${one[at]?.out.toFixed(1)}  ${one[at]?.back.toFixed(1)}   cuts: ${one[at]?.cuts}   lost: ${one[at]?.lost}   doubled: ${one[at]?.doubled}`,
      );
  }
  const speed = (what: string, figure: number): string[] => [
    what,
    figure.toFixed(1),
    `>= ${FILES_A_SECOND}`,
    verdict(figure >= FILES_A_SECOND),
  ];
  const wrong = [...whole, ...cut].reduce((sum, { lost, doubled }) => sum + lost + doubled, 0);
  say(
    "",
    table(
      ["LINE", "FIGURE", "TARGET", ""],
      [
        speed("files out a second", median(whole.map(({ out }) => out))),
        speed("files in a second", median(whole.map(({ back }) => back))),
        ["lost or doubled", String(wrong), "0", verdict(wrong === 0)],
      ],
    ),
  );
}

const exchange = (options: LineOptions): Promise<Exchanged> =>
  inFolder(async (folder) => {
    const sshd = await startSshd(join(folder, "sshd"));
    const line = await openLine(sshd.port, options);
    const shared = join(folder, "shared");
    const state = join(folder, "state");
    for (const one of [shared, state]) mkdirSync(one);
    const { engine, store } = siteOf(state, nothing, 0, () => ({}));
    const { host, user, hostKey, keyFile } = sshd;
    const key = readFileSync(keyFile, "utf8").trim();
    const site = lineSite(shared, engine, { host, port: line.port, user, hostKey, key });
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const startedMs = performance.now();
      await work();
      return (FILES * 1_000) / (performance.now() - startedMs);
    };
    try {
      const taken = site.takeAway();
      const out = await timed(() => site.send(FILES));
      site.drop(FILES);
      const back = await timed(() => site.read());
      const seen = await taken();
      const arrived = [seen.length, new Set(site.came).size];
      const copies = [...seen, site.came.length].reduce((sum, count) => sum + count, 0);
      const lost = arrived.reduce((sum, count) => sum + FILES - count, 0);
      return { out, back, lost, doubled: copies + lost - 2 * FILES, cuts: line.cuts };
    } finally {
      await site.end();
      store.close();
      await line.end();
      await sshd.end();
    }
  });
