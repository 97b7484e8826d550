/** Files that SAP sends, as the neutral records of books: customers, vendors and rack prices. */
import type { Change, Surroundings } from "../../core/contract.ts";
import { stringifyExact } from "../../core/json.ts";
import type { Fault } from "../../core/fault.ts";
import type { RecordReader } from "../format.ts";
import { priceRecords } from "./cond.ts";
import type { IdocSource } from "./config.ts";
import { partyRecords } from "./parties.ts";
import { NEXT, type Taken, type TakenFrom } from "./taken.ts";
import { field, type Idoc, idocsIn, XML_BYTES_MAX } from "./xml.ts";

export const idocRecords = ({ message }: Pick<IdocSource, "message">): string =>
  message === "COND_A" ? "books.prices" : "books.parties";

export function idocReader(
  config: IdocSource,
  site: Pick<Surroundings, "currency" | "dayOf" | "now">,
): RecordReader {
  const take: TakenFrom =
    config.message === "COND_A" ? priceRecords(config, site) : partyRecords(config);
  return {
    form: idocRecords(config),
    restates: true,
    bytesMax: XML_BYTES_MAX,
    read(bytes, file) {
      const left = new Map<string, number>();
      const changes: Change[] = [];
      const idocs = idocsIn(bytes, file);
      for (const idoc of idocs) {
        const refused = notForUs(config, idoc);
        if (refused !== null) {
          const raw = Object.entries(idoc.control.fields);
          changes.push(changeOf(idoc, { id: idoc.origin, fault: refused, raw }));
          continue;
        }
        for (const taken of take(idoc))
          if (taken.id === null) left.set(taken.why, (left.get(taken.why) ?? 0) + 1);
          else changes.push(changeOf(idoc, taken));
      }
      const notices = [...left].map(([why, count]) => `${file}: ${count} left out: ${why}.`);
      return { changes, documents: idocs.length, notices };
    },
  };
}

/** Ids of records are at most this long. */
const ID_MAX = 200;

function changeOf({ origin }: Idoc, taken: Exclude<Taken, { id: null }>): Change {
  const common = { id: taken.id.slice(0, ID_MAX), version: null, origin };
  return "fault" in taken
    ? {
        ...common,
        text: stringifyExact({ raw: taken.raw, why: taken.fault.message }),
        fault: taken.fault,
      }
    : { ...common, text: stringifyExact(taken.record) };
}

/** Why an IDoc is not taken at all; null: it is. */
function notForUs(config: IdocSource, { control }: Idoc): Fault | null {
  const said = (name: Parameters<typeof field<"EDI_DC40">>[2]): string =>
    field(control, "EDI_DC40", name) ?? "";
  if (said("MESTYP") !== config.message) return wrong("MESTYP", said("MESTYP"), config.message);
  if (config.sender !== undefined && said("SNDPRN") !== config.sender)
    return wrong("SNDPRN", said("SNDPRN"), config.sender);
  if (config.receiver !== undefined && said("RCVPRN") !== config.receiver)
    return wrong("RCVPRN", said("RCVPRN"), config.receiver);
  if (said("TEST") === "X" && !config.tests)
    return {
      code: "test-idoc",
      message: "the IDoc is marked as a test (TEST=X)",
      next: 'Have it sent without the mark; or set "tests: true" where this is a test system.',
      field: "TEST",
    };
  return null;
}

const wrong = (name: string, is: string, wanted: string): Fault => ({
  code: "not-for-us",
  message: `the IDoc's ${name} is "${is}"; taken is "${wanted}"`,
  next: NEXT,
  field: name,
});
