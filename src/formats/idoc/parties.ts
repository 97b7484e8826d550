/** Customers (DEBMAS) and vendors (CREMAS) as parties. Their code is SAP's number as it is written, with its zeros. */
import type { PartyRecord } from "../../ledger/records.ts";
import type { PartySource } from "./config.ts";
import { badField, type Taken, type TakenFrom } from "./taken.ts";
import { below, field, overlong, type Read } from "./xml.ts";

/** What both segments have. */
const SHARED = [
  "LAND1",
  "LOEVM",
  "NAME1",
  "NAME2",
  "NAME3",
  "NAME4",
  "ORT01",
  "PSTLZ",
  "REGIO",
  "STRAS",
  "TELF1",
  "MSGFN",
] as const;

interface Party {
  readonly segment: "E1KNA1M" | "E1LFA1M";
  readonly code: string | null;
  readonly group: string | null;
  readonly isBlocked: boolean;
}

export function partyRecords(config: PartySource): TakenFrom {
  const isCustomer = config.message === "DEBMAS";
  const segment = isCustomer ? "E1KNA1M" : "E1LFA1M";
  return (idoc) => {
    const found = below({ below: idoc.records }, segment);
    if (found.length === 0)
      return [refusal(idoc.origin, segment, `is missing: the IDoc has no ${segment}`, null)];
    return found.map((one) => taken(config, one, isCustomer ? customer(one) : vendor(one)));
  };
}

/** `AUFSD`: no orders are taken from it. */
const customer = (read: Read): Party => ({
  segment: "E1KNA1M",
  code: field(read, "E1KNA1M", "KUNNR"),
  group: field(read, "E1KNA1M", "KTOKD"),
  isBlocked: field(read, "E1KNA1M", "AUFSD") !== null,
});

/** `SPERR`, `SPERM`: nothing is posted to it, nothing bought from it. */
const vendor = (read: Read): Party => ({
  segment: "E1LFA1M",
  code: field(read, "E1LFA1M", "LIFNR"),
  group: field(read, "E1LFA1M", "KTOKK"),
  isBlocked: field(read, "E1LFA1M", "SPERR") !== null || field(read, "E1LFA1M", "SPERM") !== null,
});

function taken({ accountGroups, message }: PartySource, read: Read, party: Party): Taken {
  const { segment, code, group, isBlocked } = party;
  if (accountGroups !== undefined && !accountGroups.includes(group ?? ""))
    return { id: null, why: `account group ${group ?? "none"}` };
  if (code === null) return refusal("?", segment, "has no number", read);
  const [long] = overlong(read, segment);
  if (long !== undefined) return refusal(code, segment, `cannot be right: ${long}`, read);
  const said = Object.fromEntries(
    SHARED.map((name) => [name, field(read, segment, name)]),
  ) as Record<(typeof SHARED)[number], string | null>;
  const names = [said.NAME1, said.NAME2, said.NAME3, said.NAME4].flatMap(
    (name) => name?.trim() || [],
  );
  if (names.length === 0) return refusal(code, `${segment}-NAME1`, `is empty for ${code}`, read);
  const record: PartyRecord = {
    code,
    name: names.join(" "),
    isCustomer: message === "DEBMAS",
    isSupplier: message === "CREMAS",
    companyId: null,
    email: null,
    phone: said.TELF1,
    street: said.STRAS,
    city: said.ORT01,
    state: said.REGIO === null || said.LAND1 === null ? said.REGIO : `${said.LAND1}-${said.REGIO}`,
    zip: said.PSTLZ,
    country: said.LAND1,
    // Deleted, marked for it, or blocked.
    active: said.MSGFN !== "003" && said.LOEVM === null && !isBlocked,
  };
  return { id: code, record };
}

const refusal = (id: string, at: string, message: string, read: Read | null): Taken => ({
  id,
  fault: badField(at, message),
  raw: read?.fields ?? null,
});
