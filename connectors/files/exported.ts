/** What an ERP's newest export says, in the words of holdings: as of that file, not as it is now. */
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Facts, Holding, HoldingKind, HoldingState, Role } from "../../src/core/holdings.ts";
import { parseExact } from "../../src/core/json.ts";
import type { SourceConfig, TableSource } from "./config.ts";
import { PartFault } from "../../src/formats/table/csv.ts";
import type { Site } from "./folder/port.ts";
import {
  customerInvoices,
  type CustomerInvoice,
} from "../../src/formats/table/layouts/invoices.ts";
import { customers, suppliers } from "../../src/formats/table/layouts/parties.ts";
import { type PriceLine, priceLists } from "../../src/formats/table/layouts/price-lists.ts";
import type { Profile } from "../../src/formats/table/profile.ts";
import {
  ageOf,
  ARCHIVED,
  type FileSet,
  findSets,
  type Found,
  isNamed,
  listEach,
} from "./pickup.ts";
import { changesOf } from "../../src/formats/table/records.ts";
import { Blocked } from "./folder/rights.ts";
import { archiveFolders } from "./retention.ts";
import { openSet, readSet } from "./sets.ts";
import { encodingOf } from "../../src/formats/table/sheets.ts";
import { profileOf } from "./reader.ts";
import { placeOf } from "./source.ts";

/** Layouts whose records both sides hold, and as what. */
const KINDS: Readonly<Record<string, HoldingKind>> = {
  [customers.name]: "party",
  [suppliers.name]: "party",
  [priceLists.name]: "price",
  [customerInvoices.name]: "invoice",
};

/** Lists of parties that each have codes of their own. */
const ROLES: Readonly<Record<string, Role>> = {
  [customers.name]: "customer",
  [suppliers.name]: "supplier",
};

/** A source of tables that both sides hold. */
export const exportedKind = (source: SourceConfig): HoldingKind | null =>
  source.format === "table" ? (KINDS[source.layout] ?? null) : null;

export interface Export {
  readonly holdings: readonly Holding[];
  /** When the ERP wrote it, ISO 8601 UTC. */
  readonly at: string;
  /** How many files it is made of. */
  readonly parts: number;
}

/**
 * The newest export that was read; where none was, or the archive was emptied, the newest that lies there unread.
 * @throws SourceUnavailable when there is none
 */
export async function newestExport(config: TableSource, surroundings: Site): Promise<Export> {
  const profile = profileOf(config, surroundings.folder);
  const place = placeOf(config, surroundings);
  const told = async (folder: string, set: FileSet): Promise<Export | null> => {
    const changes = await changesIn(folder, set, profile, config, surroundings);
    if (changes === null) return null;
    const holdings = changes.map((change) => holdingOf(profile.layout.name, change));
    return { holdings, at: new Date(ageOf(set)).toISOString(), parts: set.parts.size };
  };
  const { kept } = surroundings;
  const known = kept?.newest(place) ?? null;
  if (known !== null) {
    const newest = await told(known.folder, known.set);
    if (newest !== null) return newest;
    kept?.forget(place);
  }
  for (const folder of [...(await archiveFolders(place)), place.folder])
    for (const set of await newestSets(place, folder, NEWEST)) {
      const newest = await told(folder, set);
      if (newest === null) continue;
      if (folder !== place.folder) kept?.keep(place, folder, set.parts);
      return newest;
    }
  throw new SourceUnavailable(
    `There is no export of ${config.layout} in ${place.folder}, read or unread (${patternsOf(config).join(", ")}).`,
    { next: "Export it in the ERP, and leave the newest file in the archive folder." },
  );
}

const patternsOf = ({ pick }: TableSource): readonly string[] =>
  typeof pick === "string" ? [pick] : Object.values(pick);

/** Every export of a source that still lies there, read and unread, the oldest first. @throws SourceUnavailable as `changesIn` */
export async function everyExport(
  config: TableSource,
  surroundings: Site,
): Promise<readonly (readonly Change[])[]> {
  const place = placeOf(config, surroundings);
  const placed: { folder: string; set: FileSet }[] = [];
  for (const folder of [...(await archiveFolders(place)), place.folder])
    for (const set of await newestSets(place, folder, Infinity)) placed.push({ folder, set });
  placed.sort((one, other) => ageOf(one.set) - ageOf(other.set));
  const profile = profileOf(config, surroundings.folder);
  const exports: (readonly Change[])[] = [];
  for (const { folder, set } of placed) {
    const changes = await changesIn(folder, set, profile, config, surroundings);
    if (changes !== null) exports.push(changes);
  }
  return exports;
}

/**
 * Null: it is gone, cut short, or not what the profile says; the source tells a person of it.
 * @throws SourceUnavailable when it may not be read, or there is no room for it
 */
async function changesIn(
  folder: string,
  set: FileSet,
  profile: Profile,
  config: TableSource,
  surroundings: Site,
): Promise<readonly Change[] | null> {
  try {
    const { drop } = surroundings;
    const opened = await openSet(drop, folder, set, encodingOf(config.encoding, profile));
    if (opened === null) return null;
    try {
      const { signal } = new AbortController();
      const read = await readSet({ profile, config, surroundings }, opened, { signal });
      if (read === null) return null;
      const { scratch, extract } = read;
      try {
        return extract.cut === null ? changesOf(scratch, 0, scratch.count()) : null;
      } finally {
        scratch.close();
      }
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof PartFault) return null;
    if (error instanceof Blocked)
      throw new SourceUnavailable(error.message, { next: error.next, cause: error });
    throw error;
  }
}

/** Files of a folder that are kept in mind while it is listed; an export that is whole is among the newest. */
const NEWEST = 1_000;

/**
 * Whole sets of the `most` newest files, the newest first. In the archive names have a hash before their ending, the same
 * in all of a set.
 */
async function newestSets(
  { drop, patterns, manifest }: ReturnType<typeof placeOf>,
  folder: string,
  most: number,
): Promise<FileSet[]> {
  const all = [...patterns.values()];
  let files: Found[] = [];
  const trim = (): void => {
    files = files.toSorted((one, other) => other.mtimeMs - one.mtimeMs).slice(0, most);
  };
  await listEach(
    drop,
    folder,
    (file) => {
      if (file.regular) files.push(file);
      if (files.length >= most * 2) trim();
    },
    (name) =>
      !(manifest !== null && name.endsWith(manifest)) &&
      all.some((pattern) => isNamed(pattern, name.replace(ARCHIVED, "$2"))),
  );
  trim();
  const sets = [...Map.groupBy(files, ({ name }) => ARCHIVED.exec(name)?.[1] ?? "").values()];
  return sets
    .flatMap((alike) => {
      const plain = new Map(
        alike.map((file) => [{ ...file, name: file.name.replace(ARCHIVED, "$2") }, file]),
      );
      return findSets(patterns, [...plain.keys()]).map((set) => ({
        ...set,
        parts: new Map([...set.parts].map(([part, file]) => [part, plain.get(file) ?? file])),
      }));
    })
    .filter(({ missing }) => missing.length === 0)
    .toSorted((one, other) => ageOf(other) - ageOf(one));
}

function holdingOf(layout: string, change: Change): Holding {
  const kind = KINDS[layout] as HoldingKind;
  const facts = change.fault === undefined ? factsOf(layout, change) : {};
  const role = ROLES[layout];
  return {
    kind,
    id: change.id,
    ...(role === undefined ? {} : { role }),
    version: null,
    mark: null,
    change,
    facts,
  };
}

function factsOf(layout: string, { id, text }: Change): Facts {
  const record = parseExact(text);
  if (layout === customerInvoices.name) return invoiceFacts(customerInvoices.record.parse(record));
  if (layout === priceLists.name) return priceFacts(id, priceLists.record.parse(record));
  const { code, name } = customers.record.parse(record);
  return { number: code, state: "open", words: { name } };
}

const STATES: Readonly<Record<string, HoldingState>> = {
  draft: "draft",
  validated: "draft",
  posted: "open",
  paid: "paid",
  cancelled: "ended",
};

function invoiceFacts(invoice: CustomerInvoice): Facts {
  const { number, partyCode, currency, date, reconciled, untaxed, tax, total } = invoice;
  const state = STATES[invoice.state];
  const due = invoice.dueDates.flatMap((one) => one.due ?? []).toSorted();
  const isOver = state === "paid" || state === "ended";
  const open = invoice.amountToPay ?? (isOver ? Decimal.zero : null);
  return {
    ...(number === null ? {} : { number }),
    party: partyCode,
    ...(state === undefined ? {} : { state }),
    days: {
      ...(date === null ? {} : { date }),
      due: due.at(-1) ?? null,
      paid: state === "paid" ? reconciled : null,
    },
    money: { untaxed, tax, total, ...(open === null ? {} : { open }) },
    words: { side: "sale", currency },
  };
}

/** A formula is no price; the mapping says so. */
const priceFacts = (id: string, { formula }: PriceLine): Facts => {
  const text = formula?.trim() ?? "";
  return { number: id, ...(Decimal.is(text) ? { money: { price: Decimal.of(text) } } : {}) };
};
