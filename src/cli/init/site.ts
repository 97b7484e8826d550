/** What `fuelbridge init` writes, made from the configurations that are shipped: pure, the disk comes after. */
import { isMap, isScalar, parseDocument } from "yaml";
import type { Mapping } from "../../core/contract.ts";
import { type Answers, environmentOf, erpOf, erps, fieldsFor } from "./fields.ts";

/** A file to write. */
export interface Made {
  /** From the folder of the configuration, or absolute. */
  readonly path: string;
  readonly text: string;
  /** For people, in a few words. */
  readonly about: string;
  /** Only the service may read it. */
  readonly secret?: true;
  /** It holds people's work once it is there: it is never written again. */
  readonly kept?: true;
}

export interface Site {
  readonly files: readonly Made[];
  /** Folders of the exchange with the ERP that the configuration names, absolute. */
  readonly folders: readonly string[];
  /** The flows, those that are paused apart. */
  readonly flows: { readonly running: readonly string[]; readonly paused: readonly string[] };
}

export interface Ground {
  /** The shipped configuration for the connector, as text. */
  readonly template: string;
  /** The JSON Schema for editors, as text. */
  readonly schema: string;
  readonly mappings: readonly Pick<Mapping, "name" | "tables">[];
  /** `YYYY-MM-DD`: the day of the first start. */
  readonly today: string;
  /** The folder of the store, as the configuration names it. */
  readonly state: string;
  /** The name of the configuration's file. */
  readonly file: string;
  /** A UUID that nobody has. */
  readonly uuid: string;
}

const API_KEY = "secrets/api-key";

/** `answers` are complete, and `folder` in them is absolute. */
export function siteOf(answers: Answers, ground: Ground): Site {
  const { text, flows, folders } = configurationOf(answers, ground);
  const names = flows.map(({ mapping }) => mapping);
  const used = ground.mappings.filter(({ name }) => names.includes(name));
  return {
    files: [
      ...secretsOf(answers),
      ...tablesOf(used),
      { path: "fuelbridge.schema.json", text: ground.schema, about: "for editors" },
      { path: ground.file, text, about: "the configuration" },
    ],
    folders,
    flows: {
      running: flows.filter(({ paused }) => !paused).map(({ name }) => name),
      paused: flows.filter(({ paused }) => paused).map(({ name }) => name),
    },
  };
}

interface FlowNamed {
  readonly name: string;
  readonly mapping: string;
  readonly paused: boolean;
}

function configurationOf(answers: Answers, { template, today, state, uuid }: Ground) {
  const document = parseDocument(template.replace(/^( *)# CHANGE: (.)/gm, marked), {
    schema: "core",
  });
  const erp = erpOf(answers);
  const { endpoint } = erps[erp];
  const set: [path: string[], value: string | undefined][] = [
    [["company"], answers.company],
    [["currency"], answers.currency],
    [["timeZone"], answers.timeZone],
    [["firstStart"], today],
    [["state"], state],
    [["platform", "url"], answers.platform],
    [["platform", "environment"], environmentOf(answers.apiKey ?? "") ?? undefined],
    [["platform", "apiKey"], `\${file:${API_KEY}}`],
    ...settingsOf(answers).map(([name, value]): [string[], string] => [
      ["endpoints", endpoint, name],
      value,
    ]),
    // Nobody asks for these, and two sites must not share them.
    ...(erp === "quickbooks-desktop" ? [own("fileId", uuid)] : []),
    ...(erp === "quickbooks-online" ? [own("tokens", `${state}/quickbooks-online.json`)] : []),
  ];
  function own(name: string, value: string): [string[], string] {
    return [["endpoints", endpoint, name], value];
  }
  for (const [path, value] of set) if (value !== undefined) document.setIn(path, value);
  const head = isMap(document.contents) ? document.contents.items[0]?.key : null;
  if (isScalar(head)) head.commentBefore = headOf(head.commentBefore ?? "", today);
  const value = document.toJS() as Shipped;
  return {
    text: document.toString({ lineWidth: 0 }),
    folders: [...foldersOf(value.endpoints[endpoint])],
    flows: Object.entries(value.flows).map(([name, { mapping, paused = false }]): FlowNamed => ({
      name,
      mapping,
      paused,
    })),
  };
}

/** What is used here of a shipped configuration. */
interface Shipped {
  readonly endpoints: Readonly<Record<string, FilesSettings>>;
  readonly flows: Readonly<Record<string, { readonly mapping: string; readonly paused?: boolean }>>;
}
interface FilesSettings {
  readonly folder?: string;
  readonly sources?: Readonly<Record<string, { readonly folder: string }>>;
}

/** Folders that the ERP writes into. Those that it reads from are created by the daemon. */
function* foldersOf(endpoint: FilesSettings | undefined): Generator<string> {
  if (endpoint?.folder === undefined) return;
  yield endpoint.folder;
  for (const { folder } of Object.values(endpoint.sources ?? {}))
    yield `${endpoint.folder}/${folder}`;
}

const marked = (_: string, indent: string, first: string): string =>
  `${indent}# ${first.toUpperCase()}`;

/** The last paragraph of the shipped file's head explains the form; the ones before it are about copying that file. */
function headOf(shipped: string, today: string): string {
  const paragraphs = shipped.split("\n \n");
  const [modeline = ""] = paragraphs;
  return [
    modeline,
    ` Written by fuelbridge init on ${today}. Every setting may be changed here; then look with\n \n` +
      "   fuelbridge check        is everything right here? (asks nobody)\n" +
      "   fuelbridge doctor       does everything hold that synchronising needs? (asks the platform and the ERP)",
    paragraphs.at(-1) ?? "",
  ].join("\n \n");
}

/** What was answered of the endpoint, by its settings; a secret by the file that keeps it. */
const settingsOf = (answers: Answers): [name: string, value: string][] =>
  fieldsFor(answers).flatMap(({ name, setting, kept }): [string, string][] => {
    const answer = answers[name];
    if (setting === undefined || answer === undefined) return [];
    return [[setting, kept === undefined ? answer : `\${file:secrets/${kept.file}}`]];
  });

const secretsOf = (answers: Answers): Made[] => [
  { path: API_KEY, text: `${answers.apiKey}\n`, about: "the platform's API key", secret: true },
  ...fieldsFor(answers).flatMap(({ name, kept }): Made[] => {
    const answer = answers[name];
    if (kept === undefined || answer === undefined) return [];
    const { file, about } = kept;
    return [{ path: `secrets/${file}`, text: `${answer}\n`, about, secret: true }];
  }),
];

/** One table with the columns that any of the mappings reads. */
function tablesOf(mappings: readonly Pick<Mapping, "tables">[]): Made[] {
  const columns = new Map<string, Set<string>>();
  for (const { tables = {} } of mappings)
    for (const [table, names] of Object.entries(tables))
      columns.set(table, new Set([...(columns.get(table) ?? []), ...names]));
  return [...columns].map(([table, names]) => ({
    path: `crossref/${table}.csv`,
    text: `${[...names].join(",")}\n`,
    about: `table with the columns ${[...names].join(", ")}`,
    kept: true,
  }));
}
