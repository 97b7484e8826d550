/** What `fuelbridge init` must know: each a flag, and a question where somebody can be asked. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { z } from "zod";
import { DesktopConfig } from "../../../connectors/quickbooks-desktop/config.ts";
import {
  faultOfRedirect,
  QuickbooksOnlineConfig,
} from "../../../connectors/quickbooks-online/config.ts";
import { TrytonConfig } from "../../../connectors/tryton/config.ts";
import { explainIssues, shown } from "../../config/problems.ts";
import { settingsSchema, toJsonSchema } from "../../config/schema.ts";

export type FieldName =
  | "company"
  | "currency"
  | "timeZone"
  | "platform"
  | "apiKey"
  | "erp"
  | "folder"
  | "erpUrl"
  | "erpDatabase"
  | "erpUser"
  | "erpPassword"
  | "erpCompany"
  | "qbwcCompany"
  | "qbwcPassword"
  | "companyId"
  | "clientId"
  | "clientSecret"
  | "redirectUri";

/** The connectors that a site can begin with: the shipped configuration of each, and what it calls the endpoint. */
export const erps = {
  files: { template: "example.yaml", endpoint: "erp" },
  tryton: { template: "tryton.yaml", endpoint: "books" },
  "quickbooks-desktop": { template: "quickbooks-desktop.yaml", endpoint: "books" },
  "quickbooks-online": { template: "quickbooks-online.yaml", endpoint: "books" },
} as const;
export type Erp = keyof typeof erps;

/** `answer` may be none of them: the others are told so before. */
export const erpOf = ({ erp = "" }: Answers): Erp => (isErp(erp) ? erp : "files");
const isErp = (name: string): name is Erp => Object.hasOwn(erps, name);

/** What was answered so far. */
export type Answers = Partial<Record<FieldName, string>>;

export interface Field {
  readonly name: FieldName;
  /** `--company <label>`; of a secret it names a file. */
  readonly flag: string;
  /** Says what is meant, without a question mark. */
  readonly question: string;
  /** Not shown while it is typed; as a flag it comes from a file. */
  readonly secret?: true;
  /** Asked only for this connector. */
  readonly only?: Erp;
  /** The setting of the endpoint that it becomes. */
  readonly setting?: string;
  /** The file in `secrets` that keeps it. */
  readonly kept?: { readonly file: string; readonly about: string };
  /** What an empty answer means, and what `--yes` takes. */
  readonly usual?: string;
  /** What is wrong with an answer, and what would be right, without a full stop; null: nothing. */
  fault(answer: string): string | null;
}

const settings = settingsSchema([], []).shape;
const platform = settings.platform.in.shape;
const tryton = TrytonConfig.shape;
const online = QuickbooksOnlineConfig.shape;
const desktop = DesktopConfig.shape;

export const fields: readonly Field[] = [
  {
    name: "company",
    flag: "--company <label>",
    question: "Company: a short label of your own (lower-case letters, digits, hyphens)",
    fault: (answer) => faultBy(settings.company, answer),
  },
  {
    name: "currency",
    flag: "--currency <code>",
    question: "Currency of the books (ISO 4217)",
    usual: "USD",
    fault: (answer) => faultBy(settings.currency, answer),
  },
  {
    name: "timeZone",
    flag: "--time-zone <zone>",
    question: "Time zone of the company, for example America/Chicago",
    ...usualZone(),
    fault: (answer) => faultBy(settings.timeZone, answer),
  },
  {
    name: "platform",
    flag: "--platform <url>",
    question: "Address of the platform's API (it ends in /v1/public)",
    fault: (answer) => faultBy(platform.url, answer),
  },
  {
    name: "apiKey",
    flag: "--api-key-file <file>",
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
    question: `The ERP: files (a folder of exports and imports), ${Object.keys(erps).slice(1, -1).join(", ")} or ${Object.keys(erps).at(-1)}`,
    usual: "files",
    fault: (answer) =>
      isErp(answer) ? null : `${shown(answer)} is none of ${Object.keys(erps).join(", ")}`,
  },
  {
    name: "folder",
    flag: "--folder <folder>",
    question: "Folder that is shared with the ERP",
    only: "files",
    setting: "folder",
    fault: notEmpty,
  },
  {
    name: "erpUrl",
    flag: "--erp-url <url>",
    question: "Address of the Tryton server, without the database",
    only: "tryton",
    setting: "url",
    fault: (answer) => faultBy(tryton.url, answer),
  },
  {
    name: "erpDatabase",
    flag: "--erp-database <name>",
    question: "Name of its database",
    only: "tryton",
    setting: "database",
    fault: notEmpty,
  },
  {
    name: "erpUser",
    flag: "--erp-user <login>",
    question: "Login of fuelbridge's own user there",
    only: "tryton",
    setting: "user",
    usual: "fuelbridge",
    fault: notEmpty,
  },
  {
    name: "erpPassword",
    flag: "--erp-password-file <file>",
    question: "Its password (it is not shown)",
    secret: true,
    only: "tryton",
    setting: "password",
    kept: { file: "tryton-password", about: "the password in Tryton" },
    fault: ofEightCharacters,
  },
  {
    name: "erpCompany",
    flag: "--erp-company <name>",
    question: "Name of the company in Tryton",
    only: "tryton",
    setting: "company",
    fault: notEmpty,
  },
  {
    name: "qbwcCompany",
    flag: "--erp-company <name>",
    question: "Name of the company as QuickBooks has it",
    only: "quickbooks-desktop",
    setting: "company",
    fault: (answer) => faultBy(desktop.company, answer),
  },
  {
    name: "qbwcPassword",
    flag: "--erp-password-file <file>",
    question: "Password that the administrator will type into the Web Connector (it is not shown)",
    secret: true,
    only: "quickbooks-desktop",
    setting: "password",
    kept: { file: "web-connector-password", about: "what is typed into the Web Connector" },
    fault: ofEightCharacters,
  },
  {
    name: "companyId",
    flag: "--erp-company-id <digits>",
    question: "Company id in QuickBooks (Settings, Account and settings, Billing)",
    only: "quickbooks-online",
    setting: "company",
    fault: (answer) => faultBy(online.company, answer),
  },
  {
    name: "clientId",
    flag: "--erp-client-id <id>",
    question: "Client id of the app at developer.intuit.com, its production key",
    only: "quickbooks-online",
    setting: "clientId",
    fault: (answer) => faultBy(online.clientId, answer),
  },
  {
    name: "clientSecret",
    flag: "--erp-client-secret-file <file>",
    question: "Its client secret (it is not shown)",
    secret: true,
    only: "quickbooks-online",
    setting: "clientSecret",
    kept: { file: "client-secret", about: "the client secret of the app" },
    fault: ofEightCharacters,
  },
  {
    name: "redirectUri",
    flag: "--erp-redirect <url>",
    question: "Redirect address of the app: https and a name, of any page of yours",
    only: "quickbooks-online",
    setting: "redirectUri",
    fault: (answer) => {
      const fault = faultOfRedirect(answer);
      return fault === null ? null : `${shown(answer)} ${fault}`;
    },
  },
];

/** The fields that count for these answers: the others are of another connector. */
export const fieldsFor = ({ erp }: Answers): readonly Field[] =>
  fields.filter(({ only }) => only === undefined || only === erp);

/** The environment that a key of the platform is of; null: it is no key. */
export function environmentOf(key: string): "live" | "test" | null {
  const [, environment] = /^svc_(live|test)_[A-Za-z0-9_-]+$/.exec(key) ?? [];
  return (environment as "live" | "test" | undefined) ?? null;
}

/** In the words that `check` has for the same value in a configuration. */
function faultBy(schema: z.ZodType, answer: string): string | null {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return null;
  const [found] = explainIssues(parsed.error.issues, {
    value: answer,
    schema: toJsonSchema(schema),
    source: () => null,
  });
  if (found === undefined) return `${shown(answer)} is not possible here`;
  return `${found.message}. ${found.remedy}`.replace(/\.$/, "");
}

function ofEightCharacters(answer: string): string | null {
  return /^.{8,}$/.test(answer) ? null : "it must be one line of at least 8 characters";
}

function notEmpty(answer: string): string | null {
  return answer === "" ? "an answer is needed" : null;
}

/** This machine's zone, where it is one that a company can have. */
function usualZone(): { usual?: string } {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone.includes("/") && settings.timeZone.safeParse(timeZone).success
    ? { usual: timeZone }
    : {};
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks for what `given` lacks, in the order of the fields. @returns null when the person ended it (Ctrl-C, Ctrl-D)
 */
export async function askFor(given: Answers, terminal: Terminal): Promise<Answers | null> {
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
  const ask = async (field: Field): Promise<string> => {
    const usual = field.usual === undefined ? "" : ` [${field.usual}]`;
    // The question itself is shown; what is typed after it may not be.
    const answer = lines.question(`${field.question}${usual}: `, { signal: ended.signal });
    hidden = field.secret === true;
    try {
      return (await answer).trim() || (field.usual ?? "");
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
      const fault = next.fault(answer);
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
