/**
 * What SAP answers to our IDocs (ALEAUD, STATUS): delivered and posted are two states. An answer is an acknowledgement of
 * a delivery (ADR 0019) and is stored as one; what SAP could not post is in SAP all the same, so the sink's inspection
 * tells a person of it. Of several answers to one IDoc the last one counts: somebody in SAP may have processed it again.
 */
import { hash } from "node:crypto";
import type { Acknowledgement, Delivered, Reference, Surroundings } from "../../core/contract.ts";
import { FileFault, type RecordReader, type RecordsRead } from "../format.ts";
import type { AnswerSettings } from "./config.ts";
import { below, field, type Idoc, idocsIn, type Read, XML_BYTES_MAX } from "./xml.ts";

/** What SAP will name an IDoc of ours by. */
export const referenceTo = (docnum: string): Reference => ({
  exchange: `idoc ${docnum}`,
  item: "",
});

/** A file that did not change for so long is whole: before, what cannot be read of it may still be written. */
const REST_MS = 60_000;

/** Files of nothing but ALEAUD and STATUS. */
export function answersReader({ now }: Pick<Surroundings, "now">): RecordReader {
  /** Files that cannot be read, and since when they are as they are. */
  const broken = new Map<string, { readonly hash: string; readonly sinceMs: number }>();
  return {
    form: "idoc.answers",
    restates: false,
    bytesMax: XML_BYTES_MAX,
    read(bytes, file): RecordsRead {
      try {
        const idocs = idocsIn(bytes, file);
        const acknowledgements = idocs.flatMap(answersOf);
        return { changes: [], documents: idocs.length, notices: [], acknowledgements };
      } catch (error) {
        if (!(error instanceof FileFault)) throw error;
        const seen = { hash: hash("sha256", bytes, "hex"), sinceMs: now().getTime() };
        const before = broken.get(file);
        if (before?.hash === seen.hash && seen.sinceMs - before.sinceMs >= REST_MS) {
          broken.delete(file);
          throw error;
        }
        if (before?.hash !== seen.hash) broken.set(file, seen);
        const fault = {
          code: "half-written",
          message: `It ${error.message}.`,
          next: "It may still be written: in a minute it is refused as it is.",
        };
        return { changes: [], documents: 0, notices: [], left: { fault, awaited: true } };
      }
    },
  };
}

const PARAMETERS = ["STAPA1", "STAPA2", "STAPA3", "STAPA4"] as const;

/**
 * Of one IDoc. ALEAUD has one E1STATE for each of our IDocs, below the E1ADHDR of their message; the IDoc's own time is all the
 * time there is. @throws FileFault
 */
export function answersOf({ control, records, origin }: Idoc): Acknowledgement[] {
  const message = field(control, "EDI_DC40", "MESTYP");
  const isAleaud = message === "ALEAUD";
  if (!isAleaud && message !== "STATUS")
    throw new FileFault(`has the message ${message ?? "none"}; answers are ALEAUD or STATUS`);
  const segment = isAleaud ? "E1STATE" : "E1STATS";
  const above = isAleaud ? records.filter(({ name }) => name === "E1ADHDR") : [{ below: records }];
  const states = above.flatMap((one) => below(one, segment));
  if (states.length === 0) throw new FileFault(`has no ${segment} in ${origin}`);
  return states.map((state) => {
    const moment = isAleaud
      ? [field(control, "EDI_DC40", "CREDAT"), field(control, "EDI_DC40", "CRETIM")]
      : [field(state, "E1STATS", "LOGDAT"), field(state, "E1STATS", "LOGTIM")];
    const texts = PARAMETERS.map((name) => field(state, segment, name));
    return stated(origin, {
      docnum: field(state, segment, "DOCNUM"),
      status: field(state, segment, "STATUS"),
      text: inWords(field(state, segment, "STATXT"), texts, isAleaud ? state : null),
      at: moment.join(""),
    });
  });
}

/** Posted: nothing is left to do. */
const POSTED = new Set(["53"]);
/** On its way inside SAP: received, passed on, waiting. */
const PENDING = new Set(["50", "62", "64", "66", "69"]);

/** What SAP said of one IDoc of ours, each as it stands there. */
interface Stated {
  readonly docnum: string | null;
  readonly status: string | null;
  /** SAP's words, with its parameters in them. */
  readonly text: string;
  /** `YYYYMMDDHHMMSS` of SAP's clock. */
  readonly at: string;
}

/** @throws FileFault for an answer to nothing, or that says nothing */
function stated(origin: string, { docnum, status, text, at }: Stated): Acknowledgement {
  if (docnum === null || status === null || !/^\d{2}$/.test(status))
    throw new FileFault(`has an answer without DOCNUM or STATUS in ${origin}`);
  const isDecided = !PENDING.has(status);
  const verdict = POSTED.has(status) ? "accepted" : isDecided ? "refused" : "awaited";
  const detail = `status ${status}${momentOf(at)}: ${text || "no text"}`;
  return { ...referenceTo(docnum.padStart(16, "0")), verdict, detail, at };
}

/** Two refusals with one text are two: the time tells them apart. */
const momentOf = (at: string): string =>
  /^\d{14}$/.test(at)
    ? ` of ${at.slice(0, 4)}-${at.slice(4, 6)}-${at.slice(6, 8)} ${at.slice(8, 10)}:${at.slice(10, 12)}`
    : "";

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

/** How SAP has an IDoc that was delivered: in words, where a person is needed; null: no one is. */
export function standingOf(
  { told, deliveredAt }: Pick<Delivered, "told" | "deliveredAt">,
  { withinHours }: AnswerSettings,
  now: Date,
): string | null {
  if (told?.verdict === "accepted") return null;
  if (told?.verdict === "refused") return told.detail;
  if (withinHours === undefined || deliveredAt === undefined) return null;
  const hours = (now.getTime() - Date.parse(deliveredAt)) / 3_600_000;
  if (hours < withinHours) return null;
  return told === undefined
    ? `no answer within ${withinHours} hours`
    : `${told.detail}, and nothing since for ${withinHours} hours`;
}
