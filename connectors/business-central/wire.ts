/** The API of Business Central (v2.0): OData over HTTP, rows in pages, and what its errors mean. */
import { z } from "zod";
import type { Surroundings } from "../../src/core/contract.ts";
import { defined } from "../../src/core/defined.ts";
import { text } from "../../src/ledger/documents.ts";
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import { clientCredentials } from "../../src/ledger/oauth.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { type Credentials, openRest } from "../../src/ledger/rest.ts";
import type { HttpRequest } from "../../src/transport/http.ts";
import type { BusinessCentralConfig } from "./config.ts";

/** What people call it in a message. */
export const BOOKS = "Business Central";

export type Wire = ReturnType<typeof openWire>;
export type Query = Readonly<Record<string, string>>;

/** Rows of a page; names in one filter, because an address has a bound. */
const [PAGE, NAMES] = [200, 40];
/** Any five minutes lie in six of ours: with this share of the limit in each (900 of 6,000), they have never more. */
const [SHARE, MINUTE_MS] = [0.15, 60_000];
const AUDIENCE = "https://api.businesscentral.dynamics.com";

/** The words end with an id for Microsoft's support, another one each time. */
const Told = z
  .object({ error: z.object({ code: z.string(), message: z.string() }) })
  .transform(({ error: { code, message } }) => ({
    code,
    message: message.replace(/\s*CorrelationId:.*$/s, ""),
  }));
const Companies = z.object({ value: z.array(z.object({ id: text })) });

interface Asked {
  readonly method?: HttpRequest["method"];
  readonly body?: object;
  /** The record is changed only if it is still this version. */
  readonly etag?: string;
}

/** Every method @throws LedgerError */
export function openWire(config: BusinessCentralConfig, surroundings: Surroundings) {
  const { tenant = "", environment, company, deadlineMs } = config;
  const rest = openRest({
    url: config.url ?? `${AUDIENCE}/v2.0/${tenant}/${encodeURIComponent(environment)}/api/v2.0`,
    deadlineMs,
    connections: 4,
    headers: paced(credentialsOf(config, surroundings), config.requests * SHARE, surroundings),
    error: Told,
  });
  let opening: Promise<string> | null = null;

  /** The path of the company. */
  const opened = (signal: AbortSignal): Promise<string> =>
    (opening ??= found(signal).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  async function found(signal: AbortSignal): Promise<string> {
    if (z.guid().safeParse(company).success) return `/companies(${company})`;
    const $filter = encodeURIComponent(`name eq ${quoted(company)}`);
    const { value } = await rest.call(`/companies?$filter=${$filter}`, null, Companies, signal);
    const [one] = value;
    if (one !== undefined) return `/companies(${one.id})`;
    const missing = { status: 404, code: "Internal_CompanyNotFound" };
    throw new LedgerError("answered", `there is no company ${company}`, missing);
  }

  async function exchange<T>(
    path: string,
    schema: z.ZodType<T>,
    { method, body, etag }: Asked,
    signal: AbortSignal,
    more: Query = {},
  ): Promise<T> {
    const headers = { "accept-language": "en-US", ...defined({ "if-match": etag }), ...more };
    return rest.call(path, body ?? null, schema, signal, { ...defined({ method }), headers });
  }

  const wire = {
    /** One exchange with what is under the company: `/salesInvoices(…)`. */
    async call<T>(path: string, schema: z.ZodType<T>, asked: Asked, signal: AbortSignal) {
      return exchange(`${await opened(signal)}${path}`, schema, asked, signal);
    },
    /**
     * Rows of a set, page by page; `position` reads on after them, null: they were the last.
     * @param replica a copy that may be behind will do
     */
    async *pages<T>(
      set: string,
      query: Query,
      row: z.ZodType<T>,
      signal: AbortSignal,
      { from = null, replica = false }: { from?: string | null; replica?: boolean } = {},
    ): AsyncGenerator<{ readonly rows: readonly T[]; readonly position: string | null }> {
      const Page = z.object({ value: z.array(row), "@odata.nextLink": z.string().optional() });
      const asked = Object.entries(query).map(
        ([name, one]) => `${name}=${encodeURIComponent(one)}`,
      );
      const first = `${await opened(signal)}/${set}?${asked.join("&")}`;
      const headers = {
        prefer: `odata.maxpagesize=${PAGE}`,
        ...(replica ? { "data-access-intent": "ReadOnly" } : {}),
      };
      for (let path: string | null = from ?? first; path !== null;) {
        const page: z.infer<typeof Page> = await exchange(path, Page, {}, signal, headers);
        const link = page["@odata.nextLink"];
        path = link === undefined ? null : rest.pathIn(link);
        yield { rows: page.value, position: path };
      }
    },
    /** Rows with one of these conditions, which are on one field: no `or` joins others. */
    async either<T>(
      set: string,
      conditions: readonly string[],
      row: z.ZodType<T>,
      signal: AbortSignal,
      query: Query = {},
    ): Promise<T[]> {
      const [found, each]: [T[], string[]] = [[], [...new Set(conditions)]];
      for (let at = 0; at < each.length; at += NAMES) {
        const $filter = each.slice(at, at + NAMES).join(" or ");
        for await (const { rows } of wire.pages(set, { ...query, $filter }, row, signal))
          found.push(...rows);
      }
      return found;
    },
    close: () => rest.close(),
  };
  return wire;
}

function credentialsOf(
  { tenant, login, clientId = "", clientSecret = "", user, accessKey }: BusinessCentralConfig,
  surroundings: Surroundings,
): Credentials {
  const url = login ?? `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`;
  if (user === undefined)
    return clientCredentials({ url, clientId, clientSecret, scope: `${AUDIENCE}/.default` }, () =>
      surroundings.now(),
    );
  const authorization = `Basic ${Buffer.from(`${user}:${accessKey}`).toString("base64")}`;
  return async () => ({ authorization });
}

/** A request waits for the next minute rather than being refused with all others of this user. */
function paced(credentials: Credentials, most: number, surroundings: Surroundings): Credentials {
  let [since, count] = [0, 0];
  return async (signal, refused) => {
    for (;;) {
      const nowMs = surroundings.now().getTime();
      if (nowMs - since >= MINUTE_MS) [since, count] = [nowMs, 0];
      if (count < most) break;
      await surroundings.pause(since + MINUTE_MS - nowMs, signal);
    }
    count++;
    return credentials(signal, refused);
  };
}

/** As a filter has it. */
export const quoted = (told: string): string => `'${told.replaceAll("'", "''")}'`;
export const equals = (field: string, values: readonly string[]): string[] =>
  values.map((value) => `${field} eq ${quoted(value)}`);
/** What is no id is none of theirs. */
export const idsAre = (ids: readonly string[]): string[] =>
  ids.filter((id) => z.guid().safeParse(id).success).map((id) => `id eq ${id}`);

/** What the API's errors mean. The first row that matches counts; a write that no row knows is unknown. */
export const errors = errorTable(
  {
    "#invalid_client|unauthorized_client|invalid_request|access_denied configuration:credentials wrong-client":
      "Correct tenant, clientId and clientSecret in the configuration: they are those of the application in Microsoft Entra; its secret may have expired.",
    "401 configuration:credentials unauthorised":
      "Enable the application on the page Microsoft Entra applications of Business Central; on premises, correct user and accessKey.",
    "403 configuration:scope forbidden":
      "Give the application in Business Central the permission set for what the message names.",
    "#Internal_CompanyNotFound configuration:scope no-company":
      "Correct company in the configuration: the page Companies of Business Central lists them.",
    "#no-journal configuration:scope no-journal":
      "Create the batch in Business Central, without number series, or correct journals in the configuration.",
    "405 configuration:scope api-off":
      "On premises, switch on ODataServicesEnabled and ApiServicesEnabled of the server.",
    "409 raced raced": TRIED_AGAIN,
    "412 raced raced": TRIED_AGAIN,
    "#Internal_EntityWithSameKeyExists raced taken": TRIED_AGAIN,
    "~draftOnly raced posted-before": TRIED_AGAIN,
    "404@posted raced gone": TRIED_AGAIN,
    "429 busy:30000 throttled": TRIED_AGAIN,
    "503 busy:60000 busy": TRIED_AGAIN,
    "~closed data closed-period":
      "An accountant opens the posting period in Business Central (General Ledger Setup, User Setup), or books the document by hand; then retry.",
    "~blocked data blocked":
      "Whoever blocked it in Business Central decides: take the block off there and retry, or book by hand and resolve it here.",
    "~dimension data no-dimension":
      "Set dimensions in the configuration, or a default dimension on the party or account in Business Central; then retry.",
    "#Internal_InvalidTableRelation|Internal_RecordNotFound data not-in-business-central":
      "Create in Business Central what the message names, or correct the cross-reference or setting that names it; then retry.",
    "~manual configuration:scope number-series":
      "Allow manual numbers (Manual Nos.) in the number series of customers and vendors.",
    "400 data refused-by-business-central":
      "Correct what the message names in Business Central, or the document where it comes from; then retry.",
  },
  {
    closed: /within your range of allowed posting dates/,
    blocked: /\bis blocked\b|must not be blocked|Blocked must be/i,
    dimension: /dimension/i,
    draftOnly: /can be applied to a draft invoice only/,
    manual: /enter numbers manually/,
  },
);
