/** What `fuelbridge init` must know: each a flag, and a question where somebody can be asked. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { z } from "zod";
import { faultOfTimeZone } from "../core/time.ts";

/** What a site can begin with, a connector or a format of files: the shipped configuration of each, and its endpoint there. */
export const erps = {
  files: { template: "example.yaml", endpoint: "erp" },
  idoc: { template: "example.yaml", part: "parts/idoc.yaml", endpoint: "sap" },
  x12: { template: "example.yaml", part: "parts/x12.yaml", endpoint: "edi" },
  tryton: { template: "tryton.yaml", endpoint: "books" },
  "quickbooks-desktop": { template: "quickbooks-desktop.yaml", endpoint: "books" },
  "quickbooks-online": { template: "quickbooks-online.yaml", endpoint: "books" },
  "business-central": { template: "business-central.yaml", endpoint: "books" },
  "sql-staging": { template: "sql-staging.yaml", endpoint: "books" },
  example: { template: "example.yaml", part: "parts/example.yaml", endpoint: "books" },
} as const satisfies Readonly<Record<string, Begun>>;

export interface Begun {
  readonly template: string;
  /** The file whose endpoints and flows stand in the place of the template's. */
  readonly part?: string;
  readonly endpoint: string;
}

export type Erp = keyof typeof erps;
const [FILES, ...OTHERS] = Object.keys(erps);
const ANY_ERP = `${OTHERS.slice(0, -1).join(", ")} or ${OTHERS.at(-1)}`;

/** `answer` may be none of them: the others are told so before. */
export const erpOf = ({ erp = "" }: Answers): Erp => (isErp(erp) ? erp : "files");
const isErp = (name: string): name is Erp => Object.hasOwn(erps, name);

export interface Field {
  readonly name: string;
  /** `--company <label>`; of a secret it names a file. */
  readonly flag: string;
  /** Of the flag, for people; left out: a field before it has the same flag. */
  readonly help?: string;
  /** Says what is meant, without a question mark. */
  readonly question: string;
  /** Not shown while it is typed; as a flag it comes from a file. */
  readonly secret?: true;
  /** Asked only for these. */
  readonly only?: readonly Erp[];
  /** The setting of the endpoint that it becomes. */
  readonly setting?: string;
  /** The file in `secrets` that keeps it. */
  readonly kept?: { readonly file: string; readonly about: string };
  /** What an empty answer means, and what `--yes` takes. */
  readonly usual?: string;
  /** What an answer must be; left out: not empty, and of a secret one line of eight characters. */
  readonly schema?: (schemas: Schemas) => z.ZodType;
  /** What is wrong with an answer, and what would be right, without a full stop; null: nothing. */
  readonly fault?: (answer: string, schemas: Schemas) => string | null;
}

const FIELDS = [
  {
    name: "company",
    flag: "--company <label>",
    help: "a short label of the company, never changed afterwards",
    question: "Company: a short label of your own (lower-case letters, digits, hyphens)",
    schema: ({ company }) => company,
  },
  {
    name: "currency",
    flag: "--currency <code>",
    help: "the currency of the books (ISO 4217)",
    question: "Currency of the books (ISO 4217)",
    usual: "USD",
    schema: ({ currency }) => currency,
  },
  {
    name: "timeZone",
    flag: "--time-zone <zone>",
    help: "the company's time zone, for example America/Chicago",
    question: "Time zone of the company, for example America/Chicago",
    ...usualZone(),
    schema: ({ timeZone }) => timeZone,
  },
  {
    name: "platform",
    flag: "--platform <url>",
    help: "the address of the platform's API",
    question: "Address of the platform's API (it ends in /v1/public)",
    schema: ({ url }) => url,
  },
  {
    name: "apiKey",
    flag: "--api-key-file <file>",
    help: "a file with the platform's API key (- is standard input)",
    question: "API key of the platform (svc_live_... or svc_test_...; it is not shown)",
    secret: true,
    fault: (answer) =>
      environmentOf(answer) === null
        ? "this is no key of the platform: one begins with svc_live_ or svc_test_, and is a single line without blanks"
        : null,
  },
  {
    name: "erp",
    flag: "--erp <connector>",
    help: `${FILES}, ${ANY_ERP}`,
    question: `The ERP: ${FILES} (a folder of exports and imports), ${ANY_ERP}`,
    usual: "files",
    fault: (answer, { shown }) =>
      isErp(answer) ? null : `${shown(answer)} is none of ${Object.keys(erps).join(", ")}`,
  },
  {
    name: "folder",
    flag: "--folder <folder>",
    help: "files, idoc, x12: the folder that is shared with the ERP or the partner",
    question: "Folder that is shared with the ERP or the partner",
    only: ["files", "idoc", "x12"],
    setting: "folder",
  },
  {
    name: "erpUrl",
    flag: "--erp-url <url>",
    help: "tryton, example: the address of the server",
    question: "Address of the Tryton server, without the database",
    only: ["tryton"],
    setting: "url",
    schema: ({ tryton }) => tryton.url,
  },
  {
    name: "erpDatabase",
    flag: "--erp-database <name>",
    help: "tryton, sql-staging: the name of the database",
    question: "Name of its database",
    only: ["tryton"],
    setting: "database",
  },
  {
    name: "erpUser",
    flag: "--erp-user <login>",
    help: "tryton, sql-staging: the login of fuelbridge's own user",
    question: "Login of fuelbridge's own user there",
    only: ["tryton"],
    setting: "user",
    usual: "fuelbridge",
  },
  {
    name: "erpPassword",
    flag: "--erp-password-file <file>",
    help: "tryton, sql-staging: a file with its password; quickbooks-desktop: with what is typed into the Web Connector; example: with its token",
    question: "Its password (it is not shown)",
    secret: true,
    only: ["tryton"],
    setting: "password",
    kept: { file: "tryton-password", about: "the password in Tryton" },
  },
  {
    name: "erpCompany",
    flag: "--erp-company <name>",
    help: "tryton, quickbooks-desktop: the name of the company there",
    question: "Name of the company in Tryton",
    only: ["tryton"],
    setting: "company",
  },
  {
    name: "qbwcCompany",
    flag: "--erp-company <name>",
    question: "Name of the company as QuickBooks has it",
    only: ["quickbooks-desktop"],
    setting: "company",
    schema: ({ desktop }) => desktop.company,
  },
  {
    name: "qbwcPassword",
    flag: "--erp-password-file <file>",
    question: "Password that the administrator will type into the Web Connector (it is not shown)",
    secret: true,
    only: ["quickbooks-desktop"],
    setting: "password",
    kept: { file: "web-connector-password", about: "what is typed into the Web Connector" },
  },
  {
    name: "companyId",
    flag: "--erp-company-id <digits>",
    help: "quickbooks-online: the company id",
    question: "Company id in QuickBooks (Settings, Account and settings, Billing)",
    only: ["quickbooks-online"],
    setting: "company",
    schema: ({ online }) => online.company,
  },
  {
    name: "clientId",
    flag: "--erp-client-id <id>",
    help: "quickbooks-online: the client id of the app at Intuit",
    question: "Client id of the app at developer.intuit.com, its production key",
    only: ["quickbooks-online"],
    setting: "clientId",
    schema: ({ online }) => online.clientId,
  },
  {
    name: "clientSecret",
    flag: "--erp-client-secret-file <file>",
    help: "quickbooks-online: a file with its client secret",
    question: "Its client secret (it is not shown)",
    secret: true,
    only: ["quickbooks-online"],
    setting: "clientSecret",
    kept: { file: "client-secret", about: "the client secret of the app" },
  },
  {
    name: "redirectUri",
    flag: "--erp-redirect <url>",
    help: "quickbooks-online: a redirect address of the app",
    question: "Redirect address of the app: https and a name, of any page of yours",
    only: ["quickbooks-online"],
    setting: "redirectUri",
    fault: (answer, { faultOfRedirect, shown }) => {
      const fault = faultOfRedirect(answer);
      return fault === null ? null : `${shown(answer)} ${fault}`;
    },
  },
  {
    name: "tenant",
    flag: "--erp-tenant <name>",
    help: "business-central: the tenant of Microsoft Entra",
    question: "Tenant of Microsoft Entra: its domain or its id",
    only: ["business-central"],
    setting: "tenant",
    schema: ({ central }) => central.tenant.unwrap(),
  },
  {
    name: "centralCompany",
    flag: "--erp-company <name>",
    question: "Company, as the page Companies of Business Central names it",
    only: ["business-central"],
    setting: "company",
    schema: ({ central }) => central.company,
  },
  {
    name: "centralClientId",
    flag: "--erp-client-id <id>",
    question: "Id of the application in Microsoft Entra",
    only: ["business-central"],
    setting: "clientId",
    schema: ({ central }) => central.clientId.unwrap(),
  },
  {
    name: "centralSecret",
    flag: "--erp-client-secret-file <file>",
    question: "Its client secret (it is not shown)",
    secret: true,
    only: ["business-central"],
    setting: "clientSecret",
    kept: { file: "client-secret", about: "the client secret of the application" },
  },
  {
    name: "sqlDialect",
    flag: "--erp-dialect <name>",
    help: "sql-staging: postgresql or mariadb",
    question: "Server of the tables: postgresql or mariadb",
    only: ["sql-staging"],
    setting: "dialect",
    usual: "postgresql",
    schema: ({ staging }) => staging.dialect,
  },
  {
    name: "sqlHost",
    flag: "--erp-host <name>",
    help: "sql-staging: the server's name or address",
    question: "Its name or address",
    only: ["sql-staging"],
    setting: "host",
    usual: "127.0.0.1",
    schema: ({ staging }) => staging.host,
  },
  {
    name: "sqlDatabase",
    flag: "--erp-database <name>",
    question: "Database with the tables of fuelbridge sql schema",
    only: ["sql-staging"],
    setting: "database",
    schema: ({ staging }) => staging.database,
  },
  {
    name: "sqlUser",
    flag: "--erp-user <login>",
    question: "fuelbridge's own user there",
    only: ["sql-staging"],
    setting: "user",
    usual: "fuelbridge",
  },
  {
    name: "sqlPassword",
    flag: "--erp-password-file <file>",
    question: "Its password (it is not shown)",
    secret: true,
    only: ["sql-staging"],
    setting: "password",
    kept: { file: "sql-password", about: "the password of the database's user" },
  },
  {
    name: "ledgerUrl",
    flag: "--erp-url <url>",
    question: "Address of the example's ledger",
    only: ["example"],
    setting: "url",
    schema: ({ ledger }) => ledger.url,
  },
  {
    name: "ledgerToken",
    flag: "--erp-password-file <file>",
    question: "Its access token (it is not shown)",
    secret: true,
    only: ["example"],
    setting: "token",
    kept: { file: "ledger", about: "the access token of the ledger" },
  },
] as const satisfies readonly Field[];

export const fields: readonly (Field & { readonly name: keyof Answers })[] = FIELDS;

/** What was answered so far. */
export type Answers = { -readonly [Name in (typeof FIELDS)[number]["name"]]?: string };

/** The fields that count for these answers: the others are of another connector. */
export const fieldsFor = ({ erp = "" }: Answers): typeof fields =>
  fields.filter(({ only }) => only === undefined || (isErp(erp) && only.includes(erp)));

/** The environment that a key of the platform is of; null: it is no key. */
export const environmentOf = (key: string): string | null =>
  /^svc_(live|test)_[A-Za-z0-9_-]+$/.exec(key)?.[1] ?? null;

/** This machine's zone, where it is one that a company can have. */
function usualZone(): { usual?: string } {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone.includes("/") && faultOfTimeZone(timeZone) === null ? { usual: timeZone } : {};
}

/** What answers are checked by, loaded when somebody answers. */
export async function loadSchemas() {
  const [problems, schema, tryton, online, desktop, central, staging, ledger] = await Promise.all([
    import("../config/problems.ts"),
    import("../config/schema.ts"),
    import("../../connectors/tryton/config.ts"),
    import("../../connectors/quickbooks-online/config.ts"),
    import("../../connectors/quickbooks-desktop/config.ts"),
    import("../../connectors/business-central/config.ts"),
    import("../../connectors/sql-staging/config.ts"),
    import("../../connectors/example/config.ts"),
  ]);
  const [{ explainIssues, shown }, { settingsSchema, toJsonSchema }] = [problems, schema];
  const { platform, ...settings } = settingsSchema([], []).shape;
  return {
    ...settings,
    url: platform.in.shape.url,
    tryton: tryton.TrytonConfig.shape,
    online: online.QuickbooksOnlineConfig.shape,
    desktop: desktop.DesktopConfig.shape,
    central: central.BusinessCentralConfig.shape,
    staging: staging.SqlStagingConfig.shape,
    ledger: ledger.ExampleConfig.shape,
    faultOfRedirect: online.faultOfRedirect,
    /** In the words that `check` has for the same value in a configuration. */
    faultBy(its: z.ZodType, answer: string): string | null {
      const { error } = its.safeParse(answer);
      const subject = { value: answer, schema: toJsonSchema(its), source: () => null };
      const [found] = explainIssues(error?.issues ?? [], subject);
      return found === undefined ? null : `${found.message}. ${found.remedy}`.replace(/\.$/, "");
    },
    shown,
  };
}
type Schemas = Awaited<ReturnType<typeof loadSchemas>>;

export function faultOf(
  { schema, fault, secret }: Field,
  answer: string,
  all: Schemas,
): string | null {
  if (fault !== undefined) return fault(answer, all);
  if (schema !== undefined) return all.faultBy(schema(all), answer);
  if (secret !== undefined && !/^.{8,}$/.test(answer))
    return "it must be one line of at least 8 characters";
  return answer === "" ? "an answer is needed" : null;
}

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks for what `given` lacks, in the order of the fields. @returns null when the person ended it (Ctrl-C, Ctrl-D)
 */
export async function askFor(given: Answers, terminal: Terminal): Promise<Answers | null> {
  const schemas = await loadSchemas();
  let hidden = false;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (!hidden) terminal.output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: terminal.input, output, terminal: true });
  const ended = new AbortController();
  for (const event of ["SIGINT", "close"] as const) lines.once(event, () => ended.abort());
  const ask = async ({ question, usual = "", secret }: Field): Promise<string> => {
    const brackets = usual === "" ? "" : ` [${usual}]`;
    // The question itself is shown; what is typed after it may not be.
    const answer = lines.question(`${question}${brackets}: `, { signal: ended.signal });
    hidden = secret === true;
    try {
      return (await answer).trim() || usual;
    } finally {
      if (hidden) terminal.output.write("\n");
      hidden = false;
    }
  };
  const answers: Answers = { ...given };
  terminal.output.write(
    "Enter takes what stands in brackets. Nothing is written before the last answer.\n\n",
  );
  try {
    // Which fields count depends on the connector that is answered on the way.
    for (;;) {
      const next = fieldsFor(answers).find(({ name }) => answers[name] === undefined);
      if (next === undefined) return answers;
      const answer = await ask(next);
      const fault = faultOf(next, answer, schemas);
      if (fault === null) answers[next.name] = answer;
      else terminal.output.write(`  ${fault}.\n`);
    }
  } catch (error) {
    if (ended.signal.aborted) return null;
    throw error;
  } finally {
    lines.close();
  }
}
