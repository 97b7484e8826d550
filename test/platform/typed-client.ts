/** The typed client against a sandbox, or against a server that answers as a test says. */
import { expect, onTestFinished } from "vitest";
import type { PlatformOptions } from "../../src/platform/client.ts";
import { PlatformError } from "../../src/platform/answers.ts";
import { openPlatformClient, type PlatformClient } from "../../src/platform/platform-client.ts";
import { serving } from "../support/http.ts";
import { clientOptions, usePlatform } from "./support.ts";

interface Said {
  readonly type?: string;
  readonly body?: string | Buffer;
  /** The answer stays open. */
  readonly end?: false;
}

export function useTypedClient(scenario: "empty" | "conformance") {
  const platform = usePlatform(scenario);

  function open(options: Partial<PlatformOptions> = {}, key = "supplier"): PlatformClient {
    const { baseUrl } = platform.urls();
    const at = { url: baseUrl, apiKey: platform.secret(key) };
    const client = openPlatformClient(clientOptions({ ...at, ...options }));
    onTestFinished(() => client.close());
    return client;
  }

  /** A client of a server that answers every request like this. */
  async function against(
    answer: (request: { readonly url?: string | undefined }) => Said,
    options: Partial<PlatformOptions> = {},
  ): Promise<PlatformClient> {
    const { url, close } = await serving((request, response) => {
      const { type = "application/json", body = "", end } = answer(request);
      response.writeHead(200, { "content-type": type, "x-request-id": "req-1" });
      if (end === false) response.write(body);
      else response.end(body);
    });
    onTestFinished(close);
    return open({ url: `${url}/v1/public`, ...options });
  }

  return { ...platform, open, against };
}

export async function errorOf(work: Promise<unknown>): Promise<PlatformError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlatformError);
  return error as PlatformError;
}

let keys = 0;
/** A fresh Idempotency-Key. */
export const key = (): string => `a-key-for-the-test-${++keys}`;
