/** `fuelbridge quickbooks authorise`: a person lets fuelbridge into a company of QuickBooks Online. */
import {
  authoriseBy,
  beginAuthorising,
  isLoopback,
  redirectedHere,
} from "../../connectors/quickbooks-online/tokens.ts";
import type { QuickbooksOnlineConfig } from "../../connectors/quickbooks-online/config.ts";
import { systemClock } from "../app/process.ts";

const WAIT_MS = 10 * 60_000;

/**
 * @param name the endpoint, as the configuration calls it
 * @param folder of the configuration
 * @throws EnvironmentError
 */
export async function authorise(name: string, config: QuickbooksOnlineConfig, folder: string) {
  const system = systemClock();
  const clock = { now: () => new Date(), pause: (ms: number) => system.pause(ms) };
  const begun = beginAuthorising(config, folder, clock);
  process.stderr.write(
    `Open this address in a browser, sign in as an administrator and choose the company:\n\n${begun.address}\n\n`,
  );
  const stored = isLoopback(config)
    ? await redirectedHere(config, begun, AbortSignal.timeout(WAIT_MS))
    : await begun.finish(await pasted());
  const { day } = authoriseBy(stored, clock.now());
  return {
    data: { endpoint: name, company: stored.company, until: day },
    text: `fuelbridge may ask company ${stored.company} (endpoint ${name}), without use until ${day}.\n`,
  };
}

/** Where the redirect address is on another machine. */
async function pasted(): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question("Then paste the whole address that the browser shows at the end: ");
  } finally {
    lines.close();
  }
}
