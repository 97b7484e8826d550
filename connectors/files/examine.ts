/**
 * What this user may do in the folders of the exchange, tried where the folders are ours alone and asked for where the
 * ERP looks too: nothing is ever put into those to try it.
 */
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { FilesConfig, SinkConfig, SourceConfig } from "./config.ts";
import { type Drop, failure } from "./drop.ts";
import { foldersOf } from "./sink.ts";
import { troubleOf } from "./trouble.ts";

/** One line for the server, and one for each folder of the sources and sinks that flows use. */
export async function examineFiles(
  config: FilesConfig,
  drop: Drop,
  { parts }: Pick<Needs, "parts">,
): Promise<Examination[]> {
  const sources = Object.entries(config.sources).filter(([name]) => parts.has(name));
  const sinks = Object.entries(config.sinks).filter(([name]) => parts.has(name));
  const examinations: Examination[] = [];
  const look = async (what: string, work: () => Promise<string | null>): Promise<void> =>
    void examinations.push(await looked(what, work));
  if (drop.describe !== undefined)
    await look(`server ${drop.where}`, () => drop.describe?.() ?? Promise.resolve(null));
  for (const [name, source] of sources) {
    const folder = drop.at(source.folder);
    await look(`source ${name}: ${folder}`, () => sourceNote(drop, source, folder));
  }
  for (const [name, sink] of sinks)
    await look(`sink ${name}: ${drop.at(sink.folder)}`, () => sinkNote(drop, sink));
  return examinations;
}

/** Files are listed and read there, and moved into `archive` and `failed`, which are made when the first one comes. */
async function sourceNote(
  drop: Drop,
  source: SourceConfig,
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
async function sinkNote(drop: Drop, sink: SinkConfig): Promise<string | null> {
  const { target, staging } = foldersOf(sink, (path) => drop.at(path));
  const isThere = await drop.rights.expectWritable(target);
  const isStaged = await drop.rights.expectWritable(staging);
  if (isStaged) await tried(drop, staging);
  if (!isThere || !isStaged) return "it will be made at the start";
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

async function looked(what: string, look: () => Promise<string | null>): Promise<Examination> {
  try {
    const note = await look();
    return { what, fault: null, ...(note === null ? {} : { note }) };
  } catch (error) {
    const { code, detail, next } = troubleOf(error);
    const fault: Fault = { code: code.toLowerCase(), message: detail, next };
    return { what, fault };
  }
}
