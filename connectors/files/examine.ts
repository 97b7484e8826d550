/**
 * What this user may do in the folders of the exchange, tried where the folders are ours alone and asked for where the
 * ERP looks too: nothing is ever put into those to try it.
 */
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { FilesConfig, SinkConfig, SourceConfig } from "./config.ts";
import { type Drop, failure, type Wanted } from "./folder/port.ts";
import { foldersOf } from "./sink.ts";
import { isRightMissing } from "./folder/rights.ts";
import { troubleOf } from "./folder/trouble.ts";

/** One line for the server, and one for each folder of the sources and sinks that flows use. */
export async function examineFiles(
  config: FilesConfig,
  drop: Drop,
  { parts }: Pick<Needs, "parts">,
): Promise<Examination[]> {
  const sources = Object.entries(config.sources).filter(([name]) => parts.has(name));
  const sinks = Object.entries(config.sinks).filter(([name]) => parts.has(name));
  const examinations: Examination[] = [];
  const look = async (
    what: string,
    work: () => Promise<string | null>,
    wanted: readonly Wanted[] = [],
  ): Promise<void> =>
    void examinations.push(await looked(what, work, () => drop.rights.missing(wanted)));
  if (drop.describe !== undefined)
    await look(`server ${drop.where}`, () => drop.describe?.() ?? Promise.resolve(null));
  for (const [name, source] of sources) {
    const folder = drop.at(source.folder);
    const wanted = [drop.at(source.folder, source.archive), drop.at(source.folder, source.failed)];
    await look(`source ${name}: ${folder}`, () => sourceNote(drop, source, folder), [
      { path: folder, rights: ["x", "r", "w"] },
      ...wanted.map((path): Wanted => ({ path, rights: ["x", "w"] })),
    ]);
    if (source.format !== "x12" || source.replies === undefined) continue;
    const { replies } = source;
    await look(`replies of ${name}: ${drop.at(replies.folder)}`, () => sinkNote(drop, replies));
  }
  for (const [name, sink] of sinks) {
    const { target, staging } = foldersOf(sink, (path) => drop.at(path));
    const wanted = [target, staging].map((path): Wanted => ({ path, rights: ["x", "r", "w"] }));
    await look(`sink ${name}: ${target}`, () => sinkNote(drop, sink), wanted);
    if (sink.format !== "x12" || sink.acknowledgements === undefined) continue;
    const { acknowledgements } = sink;
    const folder = drop.at(acknowledgements.folder);
    await look(`acknowledgements of ${name}: ${folder}`, () =>
      sourceNote(drop, acknowledgements, folder),
    );
  }
  return examinations;
}

/** Files are listed and read there, and moved into `archive` and `failed`, which are made when the first one comes. */
async function sourceNote(
  drop: Drop,
  source: Pick<SourceConfig, "folder" | "archive" | "failed">,
  folder: string,
): Promise<string | null> {
  const { rights } = drop;
  if (!(await rights.expectWritable(folder))) throw failure("ENOENT", `${folder} is not there`);
  await drop.list(folder);
  await rights.expectOwn(folder);
  const made: string[] = [];
  for (const setting of ["archive", "failed"] as const) {
    const target = drop.at(source.folder, source[setting]);
    if (!(await rights.expectWritable(target))) made.push(setting);
    else {
      await tried(drop, target);
      await rights.expectTogether(folder, target);
    }
  }
  return made.length === 0 ? null : `${made.join(" and ")} will be made with the first file`;
}

/** Files are written in the staging folder and moved from there. */
async function sinkNote(
  drop: Drop,
  sink: Pick<SinkConfig, "folder" | "staging">,
): Promise<string | null> {
  const { target, staging } = foldersOf(sink, (path) => drop.at(path));
  const isThere = await drop.rights.expectWritable(target);
  const isStaged = await drop.rights.expectWritable(staging);
  if (isStaged) await tried(drop, staging);
  if (!isThere || !isStaged) {
    const exchange = drop.at(".");
    const isInside = target.startsWith(exchange);
    if (isInside && !(await drop.rights.expectWritable(exchange)))
      throw failure("ENOENT", `${exchange} is not there`);
    return "it will be made at the start";
  }
  await drop.rights.expectTogether(target, staging);
  return null;
}

/** Writes a file, renames it, deletes it. Its name is none that is looked for. */
async function tried(drop: Drop, folder: string): Promise<void> {
  const one = drop.path.join(folder, `.fuelbridge-${process.pid}-tried`);
  const other = `${one}-renamed`;
  try {
    await drop.write(one, Buffer.from("tried by fuelbridge doctor\n"), "any");
    await drop.move(one, other);
  } finally {
    for (const path of [one, other]) await drop.remove(path);
  }
}

/** `missing`: advice for the right that is missing; null: none is known to be. */
async function looked(
  what: string,
  look: () => Promise<string | null>,
  missing: () => Promise<string | null>,
): Promise<Examination> {
  try {
    const note = await look();
    return { what, fault: null, ...(note === null ? {} : { note }) };
  } catch (error) {
    const { code, detail, next } = troubleOf(error);
    const advice = isRightMissing(code) ? await missing() : null;
    const fault: Fault = { code: code.toLowerCase(), message: detail, next: advice ?? next };
    return { what, fault };
  }
}
