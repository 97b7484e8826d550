/**
 * `npm run tryton`: what config/tryton.yaml needs to be tried in a checkout. Starts the platform's sandbox and a real Tryton
 * with the books of a small distributor (made as connectors/tryton/README.md says), writes the API key and the password
 * into var/tryton, and keeps both until Ctrl-C. Started again, it goes on with what both hold.
 */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startSandbox } from "../../src/sandbox/server.ts";
import { controlOf } from "../conformance/support.ts";
import { preparedBooks } from "../support/tryton-books.ts";
import { TrytonDaemon } from "../support/tryton-daemon.ts";
import { isInstalled, testedSeries } from "../support/tryton-releases.ts";
import { SYNC } from "../support/tryton-setup.ts";

const DATABASE = "prairie";
const TRADES = 25;
const { values: ports } = parseArgs({
  options: {
    platform: { type: "string", default: "8085" },
    tryton: { type: "string", default: "8000" },
  },
});

if (isInstalled(testedSeries)) await serve();
else {
  process.stderr.write(
    "Tryton is not installed here. On Debian: npm test installs it (as root), or the packages of connectors/tryton/README.md.\n",
  );
  process.exitCode = 3;
}

async function serve(): Promise<void> {
  const folder = join(import.meta.dirname, "../../var/tryton");
  mkdirSync(folder, { recursive: true });
  const secret = (name: string, text: string): void =>
    writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 });
  const platform = await startSandbox({
    port: Number(ports.platform),
    db: join(folder, "platform.sqlite"),
    scenario: "demo",
    // A real Tryton takes a second for each document, and somebody waits for it.
    month: { trades: TRADES },
  });
  const keys = await controlOf(() => platform.controlUrl).keys();
  secret("api-key", keys.find(({ name }) => name === "supplier")?.key ?? "");
  secret("password", SYNC.password);
  const tryton = await TrytonDaemon.open(folder, { port: Number(ports.tryton) });
  if (!existsSync(tryton.pathOf(DATABASE)))
    copyFileSync(await preparedBooks(), tryton.pathOf(DATABASE));
  await tryton.start();
  process.stdout.write(
    `The platform: ${platform.baseUrl}\nTryton: ${tryton.url}, database ${DATABASE}\nReady; Ctrl-C ends both.\n`,
  );
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await tryton.end("SIGTERM");
  await platform.close();
}
