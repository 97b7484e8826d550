/** `fuelbridge init`, the first thing that a new user types: by questions, and by flags as a script has them. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { connectorsNamed } from "../../connectors/index.ts";
import { mappings } from "../../mappings/index.ts";
import { commandHere } from "../../test/support/site-command.ts";
import { fuelbridge } from "../../test/support/site-program.ts";
import { loadConfig } from "../config/config.ts";
import { exitCodes } from "../core/errors.ts";
import { platformOffers as platform } from "../platform/parts.ts";
import { type Answers, askFor, type Erp, erps, type Ground, siteOf, writeSite } from "./init.ts";

const connectors = await connectorsNamed();
const ROOT = join(import.meta.dirname, "..", "..");
const KEY = "svc_test_canary0000";
const PASSWORD = "canary-password";

/** A terminal, and a person who types the next line whenever a question stands there. */
async function typed(lines: readonly string[], given: Answers = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  const left = [...lines];
  output.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    if (!stripVTControlCharacters(shown).endsWith(": ")) return;
    const line = left.shift();
    setImmediate(() => input.write(line === undefined ? "\u0003" : `${line}\r`));
  });
  const answers = await askFor(given, { input, output });
  return { answers, shown };
}

test("init asks seven questions, says what is wrong with an answer and asks again, and shows no key", async () => {
  const { answers, shown } = await typed([
    "Prairie Fuel",
    "prairie",
    "",
    "CST",
    "America/Chicago",
    "http://api.example.com/v1/public",
    "https://api.example.com/v1/public",
    PASSWORD,
    KEY,
    "files",
    "/srv/erp-exchange",
  ]);
  expect(answers).toEqual({
    company: "prairie",
    currency: "USD",
    timeZone: "America/Chicago",
    platform: "https://api.example.com/v1/public",
    apiKey: KEY,
    erp: "files",
    folder: "/srv/erp-exchange",
  });
  expect(shown).toContain('"Prairie Fuel" does not have the right form. A label');
  expect(shown).toContain('"CST" is an abbreviation');
  expect(shown).toContain("is http, which is for this machine's loopback address only");
  expect(shown).toContain("this is no key of the platform");
  expect(shown).not.toContain("canary");
});

test("what a flag says is not asked, and Ctrl-C ends the questions", async () => {
  const { answers, shown } = await typed(["prairie"], { currency: "USD", timeZone: "UTC" });
  expect(answers).toBeNull();
  expect(shown).not.toContain("Currency");
  expect(shown).toContain("Address of the platform's API");
});

const shipped = (name: string): string => readFileSync(join(ROOT, "config", name), "utf8");
const groundOf = (template: string): Ground => ({
  template: shipped(template),
  schema: "{}",
  mappings,
  today: "2026-11-22",
  state: "/var/lib/fuelbridge",
  file: "fuelbridge.yaml",
  uuid: "0f8fad5b-d9cb-469f-a165-70867728950e",
});
const COMMON = {
  company: "south",
  currency: "CAD",
  timeZone: "America/Toronto",
  platform: "https://api.example.com/v1/public",
  apiKey: KEY,
};

const SETTINGS: Readonly<Record<string, object>> = {
  files: { folder: "/srv/erp" },
  tryton: { url: "https://tryton.example.com", user: "bridge", password: PASSWORD },
  "quickbooks-desktop": {
    company: "Prairie Fuel",
    user: "fuelbridge-south",
    password: PASSWORD,
    fileId: "0f8fad5b-d9cb-469f-a165-70867728950e",
  },
  "quickbooks-online": {
    company: "9130357",
    environment: "production",
    clientId: "client-id-of-ours",
    clientSecret: PASSWORD,
    redirectUri: "https://fuel.example.com/callback",
    tokens: "/var/lib/fuelbridge/quickbooks-online.json",
  },
  "business-central": {
    tenant: "contoso.example",
    company: "Prairie Fuel",
    clientId: "client-id-of-ours",
    clientSecret: PASSWORD,
  },
  "sql-staging": {
    dialect: "mariadb",
    host: "db.example.com",
    database: "staging",
    user: "bridge",
    password: PASSWORD,
  },
};

test.each([
  ["files", "example.yaml", { ...COMMON, erp: "files", folder: "/srv/erp" }],
  [
    "tryton",
    "tryton.yaml",
    {
      ...COMMON,
      erp: "tryton",
      erpUrl: "https://tryton.example.com",
      erpDatabase: "prairie",
      erpUser: "bridge",
      erpPassword: PASSWORD,
      erpCompany: "Prairie Fuel",
    },
  ],
  [
    "quickbooks-desktop",
    "quickbooks-desktop.yaml",
    {
      ...COMMON,
      erp: "quickbooks-desktop",
      erpCompany: "Prairie Fuel",
      erpPassword: PASSWORD,
    },
  ],
  [
    "quickbooks-online",
    "quickbooks-online.yaml",
    {
      ...COMMON,
      erp: "quickbooks-online",
      erpCompany: "9130357",
      erpClientId: "client-id-of-ours",
      erpClientSecret: PASSWORD,
      erpRedirectUri: "https://fuel.example.com/callback",
    },
  ],
  [
    "business-central",
    "business-central.yaml",
    {
      ...COMMON,
      erp: "business-central",
      erpTenant: "contoso.example",
      erpCompany: "Prairie Fuel",
      erpClientId: "client-id-of-ours",
      erpClientSecret: PASSWORD,
    },
  ],
  [
    "sql-staging",
    "sql-staging.yaml",
    {
      ...COMMON,
      erp: "sql-staging",
      erpDialect: "mariadb",
      erpHost: "db.example.com",
      erpDatabase: "staging",
      erpUser: "bridge",
      erpPassword: PASSWORD,
    },
  ],
])(
  "the configuration for %s keeps the comments of config/%s and has every answer",
  (erp, name, answers) => {
    const { files } = siteOf(answers, groundOf(name));
    const folder = mkdtempSync(join(tmpdir(), "fuelbridge-init-"));
    for (const { path, text } of files) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text, { mode: 0o600 });
    }
    const config = loadConfig(join(folder, "fuelbridge.yaml"), {
      env: {},
      connectors,
      mappings,
      platform,
    });
    expect(config).toMatchObject({
      company: "south",
      currency: "CAD",
      timeZone: "America/Toronto",
      state: "/var/lib/fuelbridge",
      firstStart: "2026-11-22",
      platform: { url: COMMON.platform, environment: "test", apiKey: KEY },
      endpoints: [{ connector: { name: erp } }],
    });
    const { settings } = config.endpoints[0] ?? {};
    expect(settings).toMatchObject(SETTINGS[erp] ?? {});
    // Said once: of the company.
    expect(settings).not.toHaveProperty("currency");
    const text = readFileSync(join(folder, "fuelbridge.yaml"), "utf8");
    const comments = (yaml: string): string[] => yaml.match(/^ +# .*$/gm) ?? [];
    expect(comments(text)).toEqual(
      comments(shipped(name)).map((line) =>
        line.replace(/# CHANGE: (.)/, (_, first: string) => `# ${first.toUpperCase()}`),
      ),
    );
    expect(text).not.toMatch(/CHANGE|canary/);
  },
);

test(
  "init from flags writes the configuration, the secrets and the tables for the service's user, looks them over, and overwrites nothing",
  { timeout: 600_000 },
  async () => {
    const root = mkdtempSync(join(tmpdir(), "fuelbridge-init-"));
    chmodSync(root, 0o755);
    const directory = join(root, "etc");
    const config = join(directory, "fuelbridge.yaml");
    writeFileSync(join(root, "key"), `${KEY}\n`);
    const isRoot = process.getuid?.() === 0;
    const flags = [
      ["--directory", directory],
      ["--company", "prairie"],
      ["--currency", "USD"],
      ["--time-zone", "America/Chicago"],
      ["--platform", "http://127.0.0.1:9/v1/public"],
      ["--api-key-file", join(root, "key")],
      ["--erp", "files"],
      ["--folder", join(root, "exchange")],
      ["--state", join(root, "state")],
      isRoot ? ["--owner", "nobody"] : [],
    ].flat();
    const { code, out, err } = await fuelbridge(["init", ...flags]).ended;
    expect({ code, err }).toMatchObject({ code: exitCodes.ok });
    const entries = globSync("**", { cwd: root, exclude: ["exchange/import/**"] });
    const rights = entries
      .filter((path) => path !== "." && path !== "key")
      .map((path) => {
        const { mode, uid } = statSync(join(root, path));
        return `${(mode & 0o777).toString(8)} ${isRoot && uid === 0 ? "root" : "service"} ${path}`;
      });
    const kept = isRoot ? "root" : "service";
    expect(rights.toSorted()).toEqual(
      [
        `750 ${kept} etc`,
        `750 ${kept} etc/crossref`,
        `640 ${kept} etc/crossref/customers.csv`,
        `640 ${kept} etc/crossref/items.csv`,
        `640 ${kept} etc/crossref/taxes.csv`,
        `640 ${kept} etc/fuelbridge.schema.json`,
        `640 ${kept} etc/fuelbridge.yaml`,
        "700 service etc/secrets",
        "600 service etc/secrets/api-key",
        "755 service exchange",
        "755 service exchange/export",
        "700 service state",
        "600 service state/fuelbridge.sqlite",
      ].toSorted(),
    );
    expect(readFileSync(join(directory, "crossref/items.csv"), "utf8")).toBe("product,item\n");
    // The platform cannot be reached: doctor says so, and how to look again.
    expect(out).toContain("ECONNREFUSED");
    expect(out).toContain(`look again: node src/launch.mjs doctor --config ${config}`);
    // In a checkout the command is not on the PATH. test/install.sh looks at what the package says.
    expect(out.trimEnd().split("\n").at(-1)).toBe(`  node src/launch.mjs run --config ${config}`);
    expect(out + err).not.toContain(KEY);

    writeFileSync(join(directory, "crossref/items.csv"), "product,item\nULSD,1\n");
    const second = await commandHere(["init", ...flags]);
    expect(second).toMatchObject({ code: exitCodes.configuration, out: "" });
    expect(second.err).toContain(`    ${join(directory, "crossref/items.csv")} (1 row)`);
    expect(second.err).toContain(`    ${config}`);
    expect(second.err).toContain("--force");

    // Told to, it writes the configuration and the secrets anew, and still no table.
    const site = siteOf(
      { ...COMMON, erp: "files", folder: join(root, "exchange") },
      groundOf("example.yaml"),
    );
    const again = writeSite(site, { folder: directory, state: join(root, "state"), owner: null });
    expect(again.filter(({ written }) => !written).map(({ path }) => path)).toEqual([
      join(directory, "secrets/api-key"),
      ...["items", "taxes", "customers"].map((name) => join(directory, `crossref/${name}.csv`)),
    ]);
    expect(readFileSync(config, "utf8")).toContain("currency: CAD");
    expect(readFileSync(join(directory, "crossref/items.csv"), "utf8")).toContain("ULSD,1");
  },
);

test("without a terminal and with a flag missing, init says which", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-init-"));
  const words = ["init", "--directory", folder, "--erp", "tryton", "--yes"];
  const { code, err } = await commandHere(words);
  expect(code).toBe(exitCodes.configuration);
  for (const flag of [
    "--company <label>",
    "--platform <url>",
    "--api-key-file <file>",
    "--erp-url <url>",
    "--erp-database <name>",
    "--erp-password-file <file>",
    "--erp-company <name>",
  ])
    expect(err).toContain(`    ${flag}  `);
  expect(err).not.toMatch(/--currency|--folder|--erp-user/);
  expect(globSync("*", { cwd: folder })).toEqual([]);
});

/** What each connector's flags are beside the common ones, and the commands that come before the start. SECRET, FOLDER: paths. */
const BEGUN: Readonly<Record<Erp, readonly [flags: string, commands?: readonly string[]]>> = {
  files: ["--folder FOLDER"],
  idoc: ["--folder FOLDER"],
  x12: ["--folder FOLDER"],
  tryton: [
    "--erp-url http://127.0.0.1:9 --erp-database prairie --erp-company Prairie --erp-password-file SECRET",
  ],
  "quickbooks-online": [
    `--erp-company 9130357 --erp-client-id client-id-of-ours --erp-client-secret-file SECRET
    --erp-redirect-uri https://fuel.example.com/callback`,
    ["quickbooks authorise"],
  ],
  "quickbooks-desktop": ["--erp-company Prairie --erp-password-file SECRET", ["quickbooks qwc"]],
  "business-central": [
    `--erp-tenant contoso.example --erp-company Prairie --erp-client-id client-id-of-ours
    --erp-client-secret-file SECRET`,
  ],
  "sql-staging": ["--erp-database staging --erp-password-file SECRET"],
  example: ["--erp-url http://127.0.0.1:9 --erp-token-file SECRET"],
};

test("init can begin with every connector", () => {
  const begun = Object.values(erps).map(({ endpoint, ...its }) => {
    const text = shipped("part" in its ? its.part : its.template);
    const { endpoints } = parse(text) as { endpoints: Record<string, { connector: string }> };
    return endpoints[endpoint]?.connector;
  });
  expect(new Set(begun)).toEqual(new Set(connectors.map(({ name }) => name)));
});

test.each(Object.entries(BEGUN))(
  "init for %s writes a configuration that check finds right, and says what comes before the start",
  { timeout: 600_000 },
  async (erp, [flags, commands = []]) => {
    const root = mkdtempSync(join(tmpdir(), "fuelbridge-init-"));
    const config = join(root, "etc", "fuelbridge.yaml");
    for (const [name, text] of Object.entries({ key: KEY, secret: PASSWORD }))
      writeFileSync(join(root, name), `${text}\n`);
    const given = flags
      .replace("SECRET", join(root, "secret"))
      .replace("FOLDER", join(root, "exchange"))
      .split(/\s+/);
    const common =
      `init --directory ${join(root, "etc")} --state ${join(root, "state")} --erp ${erp} --company prairie
      --platform http://127.0.0.1:9/v1/public --currency USD --time-zone America/Chicago --api-key-file ${join(root, "key")}
      --skip-doctor --yes`.split(/\s+/);
    // It calls itself for the check, by the program's own path: the test above has the program there.
    const program = join(root, "main.ts");
    writeFileSync(program, `console.log("asked:", process.argv.slice(2).join(" "));`);
    const { argv } = process;
    onTestFinished(() => void (process.argv = argv));
    process.argv = [process.execPath, program];
    const { code, out, err } = await commandHere([...common, ...given]);
    expect([code, err.replace(/Written.*\n\n/, "")]).toEqual([exitCodes.ok, ""]);
    expect(out).toContain(`asked: check --config ${config}\n`);
    const checked = await commandHere(["check", "--config", config]);
    expect(checked).toMatchObject({ code: exitCodes.ok, err: "" });
    expect(checked.out).toContain(`${config} is right.`);
    const told = out.match(/(?<=^ {2}node src\/launch\.mjs ).*?(?= --config)/gm);
    expect(told).toEqual([...commands, "run"]);
    expect(out + checked.out).not.toContain(PASSWORD);
    if (erp !== "quickbooks-online") return;
    const words = ["src/launch.mjs", "quickbooks", "authorise", "--config", config];
    const unasked = spawnSync(process.execPath, words, { cwd: ROOT, input: "", encoding: "utf8" });
    expect(unasked.stderr).toContain("it begins with https://fuel.example.com/callback");
    expect(unasked.status).toBe(exitCodes.environment);
  },
);
