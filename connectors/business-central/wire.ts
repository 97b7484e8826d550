/** The API of Business Central (v2.0): OData over HTTP, rows in pages, and what its errors mean. */
import { z } from "zod";
import type { Surroundings } from "../../src/core/contract.ts";
import { text } from "../../src/ledger/documents.ts";
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import { clientCredentials } from "../../src/ledger/oauth.ts";
import { type Odata, openOdata, quoted } from "../../src/ledger/odata.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { type Credentials, openRest } from "../../src/ledger/rest.ts";
import type { BusinessCentralConfig } from "./config.ts";

/** What people call it in a message. */
export const BOOKS = "Business Central";

export type Wire = Odata;

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

export function openWire(config: BusinessCentralConfig, surroundings: Surroundings): Wire {
  const { tenant = "", environment, company, deadlineMs } = config;
  const rest = openRest({
    url: config.url ?? `${AUDIENCE}/v2.0/${tenant}/${encodeURIComponent(environment)}/api/v2.0`,
    deadlineMs,
    connections: 4,
    headers: paced(credentialsOf(config, surroundings), config.requests * SHARE, surroundings),
    error: Told,
  });
  let opening: Promise<string> | null = null;

  async function found(signal: AbortSignal): Promise<string> {
    if (z.guid().safeParse(company).success) return `/companies(${company})`;
    const $filter = encodeURIComponent(`name eq ${quoted(company)}`);
    const { value } = await rest.call(`/companies?$filter=${$filter}`, null, Companies, signal);
    const [one] = value;
    if (one !== undefined) return `/companies(${one.id})`;
    const missing = { status: 404, code: "Internal_CompanyNotFound" };
    throw new LedgerError("answered", `there is no company ${company}`, missing);
  }

  return openOdata(rest, {
    root: (signal) =>
      (opening ??= found(signal).catch((error: unknown) => {
        opening = null;
        throw error;
      })),
    headers: { "accept-language": "en-US" },
    replica: { "data-access-intent": "ReadOnly" },
    stamp: "lastModifiedDateTime",
  });
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
    "#Internal_InvalidTableRelation|Internal_RecordNotFound data not-in-business-central":
      "Create in Business Central what the message names, or correct the cross-reference or setting that names it; then retry.",
    "~closed data closed-period":
      "An accountant opens the posting period in Business Central (General Ledger Setup, User Setup), or books the document by hand; then retry.",
    "~blocked data blocked":
      "Whoever blocked it in Business Central decides: take the block off there and retry, or book by hand and resolve it here.",
    "~dimension data no-dimension":
      "Set dimensions in the configuration, or a default dimension on the party or account in Business Central; then retry.",
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
