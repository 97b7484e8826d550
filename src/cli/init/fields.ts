/** What `fuelbridge init` must know: each a flag, and a question where somebody can be asked. */
import type { z } from "zod";
import { TrytonConfig } from "../../../connectors/tryton/config.ts";
import { explainIssues } from "../../config/issues.ts";
import { toJsonSchema } from "../../config/json-schema.ts";
import { shown } from "../../config/problems.ts";
import { settingsSchema } from "../../config/schema.ts";

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
  | "erpCompany";

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
  readonly only?: "files" | "tryton";
  /** What an empty answer means, and what `--yes` takes. */
  readonly usual?: string;
  /** What is wrong with an answer, and what would be right, without a full stop; null: nothing. */
  fault(answer: string): string | null;
}

const settings = settingsSchema([], []).shape;
const platform = settings.platform.shape;
const tryton = TrytonConfig.shape;

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
    question: "How the ERP is reached: files (a folder of exports and imports) or tryton",
    usual: "files",
    fault: (answer) =>
      /^(files|tryton)$/.test(answer) ? null : `${shown(answer)} is neither files nor tryton`,
  },
  {
    name: "folder",
    flag: "--folder <folder>",
    question: "Folder that is shared with the ERP",
    only: "files",
    fault: notEmpty,
  },
  {
    name: "erpUrl",
    flag: "--erp-url <url>",
    question: "Address of the Tryton server, without the database",
    only: "tryton",
    fault: (answer) => faultBy(tryton.url, answer),
  },
  {
    name: "erpDatabase",
    flag: "--erp-database <name>",
    question: "Name of its database",
    only: "tryton",
    fault: notEmpty,
  },
  {
    name: "erpUser",
    flag: "--erp-user <login>",
    question: "Login of fuelbridge's own user there",
    only: "tryton",
    usual: "fuelbridge",
    fault: notEmpty,
  },
  {
    name: "erpPassword",
    flag: "--erp-password-file <file>",
    question: "Its password (it is not shown)",
    secret: true,
    only: "tryton",
    fault: (answer) =>
      /^.{8,}$/.test(answer) ? null : "it must be one line of at least 8 characters",
  },
  {
    name: "erpCompany",
    flag: "--erp-company <name>",
    question: "Name of the company in Tryton",
    only: "tryton",
    fault: notEmpty,
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
  const [found] = explainIssues(parsed.error.issues, answer, toJsonSchema(schema), () => null);
  if (found === undefined) return `${shown(answer)} is not possible here`;
  return `${found.message}. ${found.remedy}`.replace(/\.$/, "");
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
