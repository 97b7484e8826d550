/** Documents as tables, laid out as a profile says. */
import { hash } from "node:crypto";
import type { Item, Surroundings } from "../../core/contract.ts";
import type { TableSink } from "../../../connectors/files/config.ts";
import { documents } from "../documents.ts";
import type { DocumentWriter } from "../format.ts";
import { totalsIn } from "../manifest.ts";
import { openProfile } from "./profile-open.ts";
import { writeDocuments, type Writing } from "./write.ts";

const BATCH_ITEMS_MAX = 200;
const NAME_MAX = 100;

/** @throws InvalidProfile */
export function tableWriter(
  config: TableSink,
  surroundings: Pick<Surroundings, "folder" | "dayOf">,
): DocumentWriter {
  const writing = writingOf(config, surroundings);
  const { encoding, ending } = writing.profile;
  return {
    form: `files.${config.document}`,
    operation: documents[config.document].operation,
    writes: "upsert",
    itemsMax: config.per === "batch" ? (config.itemsMax ?? BATCH_ITEMS_MAX) : 1,
    encoding,
    nameOf: (items) => nameOf(config, items, ending),
    textOf: (items) =>
      writeDocuments(
        config.document,
        items.map((item) => item.document),
        writing,
      ),
    totalsOf: (name, body) => totalsIn(writing, name, body),
  };
}

/** @throws InvalidProfile */
export const writingOf = (
  { document, profile, spreadsheetSafe }: TableSink,
  { folder, dayOf }: Pick<Surroundings, "folder" | "dayOf">,
): Writing => ({
  profile: openProfile(profile ?? `files/${document}`, folder),
  spreadsheetSafe,
  dayOf,
});

/** Follows from number, id and revision alone; characters that are safe on every file system and in every shell. */
function nameOf(config: TableSink, items: readonly Item[], ending: string): string {
  const [item] = items;
  if (config.per === "batch" || item === undefined) {
    const content = JSON.stringify(items.map(({ id, revision }) => [id, revision]));
    return `${config.document}_${items.length}_${hash8(content)}.${ending}`;
  }
  const rest = `_${hash8(item.id)}_${hash8(item.revision)}.${ending}`;
  const number = item.number.replace(/[^A-Za-z0-9.-]+/g, "-");
  return `${`${config.document}_${number}`.slice(0, NAME_MAX - rest.length)}${rest}`;
}

const hash8 = (text: string): string => hash("sha256", text, "hex").slice(0, 8);
