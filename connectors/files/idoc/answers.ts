/**
 * What SAP answers to our IDocs (ALEAUD, STATUS): delivered and posted are two states. Answers lie in a folder; those that
 * were read lie in its archive, which is read again after a start and is the only memory of them. Of several answers to
 * one IDoc the last one counts: somebody in SAP may have processed it again.
 */
import { hash } from "node:crypto";
import { FileFault } from "../csv.ts";
import { readWhole } from "../disk.ts";
import type { Drop, Site } from "../drop.ts";
import { archivedName, findSets, type Found, list, moveAway, writeErrors } from "../pickup.ts";
import { unavailable } from "../trouble.ts";
import type { AnswersConfig } from "./config.ts";
import { below, field, type Idoc, idocsIn, type Read, XML_BYTES_MAX } from "./xml.ts";

export interface Answer {
  /** `53` */
  readonly status: string;
  /** SAP's words, with its parameters in them. */
  readonly text: string;
  /** `YYYYMMDDHHMMSS` of SAP's clock: the later one counts. */
  readonly at: string;
}

/** Answers by the DOCNUM of ours that they are about. */
export type Answers = ReadonlyMap<string, Answer>;

const PICKED = "heads";

/** One reader for each folder of a drop: SAP answers to all our messages in one. */
const readers = new WeakMap<Drop, Map<string, () => Promise<Answers>>>();

/** Reads what has come since it was asked last. @throws SourceUnavailable when the folder cannot be read */
export function answersIn(config: AnswersConfig, site: Site): () => Promise<Answers> {
  const known = readers.get(site.drop) ?? new Map<string, () => Promise<Answers>>();
  readers.set(site.drop, known);
  const folder = site.drop.at(config.folder);
  const reader = known.get(folder) ?? readerOf(config, site);
  known.set(folder, reader);
  return reader;
}

function readerOf(config: AnswersConfig, site: Site): () => Promise<Answers> {
  const { drop } = site;
  const folder = drop.at(config.folder);
  const archive = drop.at(config.folder, config.archive);
  const failed = drop.at(config.folder, config.failed);
  const patterns = new Map([[PICKED, config.pick]]);
  const known = new Map<string, Answer>();
  /** The archive was read, once since the start. */
  let remembered = false;
  /** Since when a file was seen as it is. */
  let seen = new Map<string, Seen>();

  const filesIn = async (path: string): Promise<Found[]> =>
    findSets(patterns, await list(drop, path)).flatMap(({ parts }) => [...parts.values()]);
  const take = (bytes: Buffer, name: string): void => {
    for (const [docnum, answer] of answersOf(bytes, name)) {
      const last = known.get(docnum);
      if (last === undefined || last.at <= answer.at) known.set(docnum, answer);
    }
  };

  /** It was an answer when it was archived; what somebody else put there is none. */
  const takeKnown = (bytes: Buffer, name: string): void => {
    try {
      take(bytes, name);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      site.note("answer refused", { file: name, reason: error.message });
    }
  };

  async function remember(): Promise<void> {
    if (remembered) return;
    if ((await drop.look(archive)) !== null)
      for (const { name } of (await list(drop, archive)).filter(({ regular }) => regular)) {
        const bytes = await readWhole(drop, drop.path.join(archive, name));
        if (bytes !== null) takeKnown(bytes, name);
      }
    remembered = true;
  }

  async function read(file: Found): Promise<void> {
    const { name, size } = file;
    const bytes = await readWhole(drop, drop.path.join(folder, name));
    if (bytes === null || bytes.length !== size) return;
    try {
      take(bytes, name);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      const movedAs = await moveAway(drop, folder, file, failed, archivedName(name, sha256(bytes)));
      const { line, column } = error;
      const reason = `the file ${error.message}`;
      await writeErrors(drop, failed, movedAs, [{ file: name, line, column, reason }]);
      site.note("answer refused", { file: name, reason: error.message });
      return;
    }
    if (site.looking !== true)
      await moveAway(drop, folder, file, archive, archivedName(name, sha256(bytes)));
  }

  return async () => {
    try {
      await remember();
      if ((await drop.look(folder)) === null) return known;
      const files = (await filesIn(folder)).filter(({ regular }) => regular);
      const now = site.now().getTime();
      seen = new Map(
        files.map((file) => [
          file.name,
          seenAs(file, seen.get(file.name), { now, isLocal: drop.isLocal }),
        ]),
      );
      for (const file of files)
        if (now - (seen.get(file.name)?.sinceMs ?? now) >= REST_MS) await read(file);
      return known;
    } catch (error) {
      throw unavailable(error, `the answers in ${folder} cannot be read`);
    }
  };
}

/** A file that did not change for so long is whole. */
const REST_MS = 60_000;

interface Seen extends Pick<Found, "size" | "mtimeMs"> {
  readonly sinceMs: number;
}

/** On this machine since its time of change; a server's clock is not ours, so there since it was first seen so. */
function seenAs(
  { size, mtimeMs }: Found,
  before: Seen | undefined,
  { now, isLocal }: { readonly now: number; readonly isLocal: boolean },
): Seen {
  if (before?.size === size && before.mtimeMs === mtimeMs) return before;
  return { size, mtimeMs, sinceMs: isLocal ? Math.min(mtimeMs, now) : now };
}

const sha256 = (bytes: Buffer): string => hash("sha256", bytes, "hex");

/** @throws FileFault */
export function answersOf(bytes: Buffer, file: string): [docnum: string, answer: Answer][] {
  if (bytes.length > XML_BYTES_MAX)
    throw new FileFault(`has ${bytes.length} bytes; ${XML_BYTES_MAX} are possible`);
  return idocsIn(bytes, file).flatMap((idoc) => {
    const message = field(idoc.control, "EDI_DC40", "MESTYP");
    if (message === "ALEAUD") return aleaudIn(idoc);
    if (message === "STATUS") return statusIn(idoc);
    throw new FileFault(`has the message ${message ?? "none"}; answers are ALEAUD or STATUS`);
  });
}

const PARAMETERS = ["STAPA1", "STAPA2", "STAPA3", "STAPA4"] as const;

/** One E1STATE for each of our IDocs, below the E1ADHDR of their message. The IDoc's own time is all the time there is. */
function aleaudIn({ control, records, origin }: Idoc): [string, Answer][] {
  const at = `${field(control, "EDI_DC40", "CREDAT") ?? ""}${field(control, "EDI_DC40", "CRETIM") ?? ""}`;
  const headers = records.filter(({ name }) => name === "E1ADHDR");
  const states = headers.flatMap((header) => below(header, "E1STATE"));
  if (states.length === 0) throw new FileFault(`has no E1STATE in ${origin}`);
  return states.map((state) => {
    const texts = PARAMETERS.map((name) => field(state, "E1STATE", name));
    return stated(origin, {
      docnum: field(state, "E1STATE", "DOCNUM"),
      status: field(state, "E1STATE", "STATUS"),
      text: inWords(field(state, "E1STATE", "STATXT"), texts, state),
      at,
    });
  });
}

function statusIn({ records, origin }: Idoc): [string, Answer][] {
  const states = below({ below: records }, "E1STATS");
  if (states.length === 0) throw new FileFault(`has no E1STATS in ${origin}`);
  return states.map((state) => {
    const texts = PARAMETERS.map((name) => field(state, "E1STATS", name));
    return stated(origin, {
      docnum: field(state, "E1STATS", "DOCNUM"),
      status: field(state, "E1STATS", "STATUS"),
      text: inWords(field(state, "E1STATS", "STATXT"), texts, null),
      at: `${field(state, "E1STATS", "LOGDAT") ?? ""}${field(state, "E1STATS", "LOGTIM") ?? ""}`,
    });
  });
}

/** @throws FileFault for an answer to nothing, or that says nothing */
function stated(
  origin: string,
  {
    docnum,
    status,
    text,
    at,
  }: Omit<Answer, "status"> & { docnum: string | null; status: string | null },
): [string, Answer] {
  if (docnum === null || status === null || !/^\d{2}$/.test(status))
    throw new FileFault(`has an answer without DOCNUM or STATUS in ${origin}`);
  return [docnum.padStart(16, "0"), { status, text, at }];
}

/** SAP's placeholders `&`, `&1` and `$1` with their parameters; the message's class and number as its people know it. */
function inWords(
  text: string | null,
  parameters: readonly (string | null)[],
  state: Read | null,
): string {
  let next = 0;
  const words = (text ?? "").replaceAll(
    /[&$](\d)?/g,
    (_, place: string | undefined) =>
      parameters[place === undefined ? next++ : Number(place) - 1] ?? "",
  );
  const [id, number] =
    state === null
      ? [null, null]
      : [field(state, "E1STATE", "STAMID"), field(state, "E1STATE", "STAMNO")];
  const said =
    words.replaceAll(/\s+/g, " ").trim() || parameters.filter((one) => one !== null).join(" ");
  return id === null ? said : `${said} (${id} ${number ?? ""})`;
}

/** Posted: nothing is left to do. */
const POSTED = new Set(["53"]);
/** On its way inside SAP: received, passed on, waiting. */
const PENDING = new Set(["50", "62", "64", "66", "69"]);

/** How SAP has an IDoc that was delivered: in words, where a person is needed; null: no one is. */
export function standingOf(
  answer: Answer | undefined,
  { withinHours }: AnswersConfig,
  deliveredAt: string | undefined,
  now: Date,
): string | null {
  if (answer !== undefined && POSTED.has(answer.status)) return null;
  if (answer !== undefined && !PENDING.has(answer.status))
    return `status ${answer.status}${momentOf(answer)}: ${answer.text || "no text"}`;
  if (withinHours === undefined || deliveredAt === undefined) return null;
  const hours = (now.getTime() - Date.parse(deliveredAt)) / 3_600_000;
  if (hours < withinHours) return null;
  return answer === undefined
    ? `no answer within ${withinHours} hours`
    : `status ${answer.status}${momentOf(answer)}, and nothing since for ${withinHours} hours`;
}

/** Two refusals with one text are two: the time tells them apart. */
const momentOf = ({ at }: Answer): string =>
  /^\d{14}$/.test(at)
    ? ` of ${at.slice(0, 4)}-${at.slice(4, 6)}-${at.slice(6, 8)} ${at.slice(8, 10)}:${at.slice(10, 12)}`
    : "";
