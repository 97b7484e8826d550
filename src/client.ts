/**
 * The platform's API for programs besides the daemon: `import { client } from "fuelbridge/client"`. Every operation of the
 * contract is a method (docs/client.md).
 */
import { systemClock, version } from "./app/process.ts";
import { type Spent, usualBudget } from "./core/budget.ts";
import { ConfigurationError } from "./core/errors.ts";
import { openGovernor } from "./platform/client.ts";
import { openPlatformClient, type PlatformClient } from "./platform/platform-client.ts";

export { Decimal } from "./core/decimal.ts";
export { ConfigurationError, EnvironmentError } from "./core/errors.ts";
export { PlatformError } from "./platform/answers.ts";
export type { PlatformClient } from "./platform/platform-client.ts";

export interface ClientOptions {
  /** The base of the API: `https://host/v1/public`. Plain http is for this machine's loopback address only. */
  readonly url: string;
  /** Begins with `svc_live_` or `svc_test_`: requests go to that environment only. */
  readonly apiKey: string;
  /** The header that carries the key: `Authorization`, or `X-API-Key`. `bearer` when left out. */
  readonly auth?: "bearer" | "x-api-key";
  /** Requests that this client sends in a minute at most, waiting where it must; 600 when left out. */
  readonly perMinute?: number;
  /** Milliseconds for one request and its whole answer; 40,000 when left out. */
  readonly deadlineMs?: number;
}

/**
 * Opens a client; nothing is sent yet. Close it when it is no longer used: it keeps connections open. It counts no
 * requests of the month: the daemon's budget knows nothing of it.
 * @throws ConfigurationError when the key is none of the platform's, or the address is not safe for it
 */
export function client({ auth = "bearer", perMinute, ...options }: ClientOptions): PlatformClient {
  const environment = /^svc_(live|test)_/.exec(options.apiKey)?.[1];
  if (environment !== "live" && environment !== "test")
    throw new ConfigurationError(
      "apiKey is no key of the platform: it begins with neither svc_live_ nor svc_test_.",
      "Take the whole key, as the platform showed it.",
    );
  const clock = systemClock();
  const budget = {
    ...usualBudget,
    perMonth: Number.MAX_SAFE_INTEGER,
    ...(perMinute === undefined ? {} : { perMinute }),
  };
  const governor = openGovernor({ clock, budget, ledger: unkept });
  return openPlatformClient({ ...options, auth, environment, clock, governor, version });
}

/** No month is counted. */
const NOTHING: Spent = {};
const unkept = { spent: () => NOTHING, spend: () => {}, closedUntil: () => null };
