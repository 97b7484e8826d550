/** What a company answers with; what it says no to has an HTTP status and a code of the API. */
import type { ServerResponse } from "node:http";
import { stringifyExact } from "../../src/core/json.ts";

export interface Told {
  readonly status: number;
  readonly answer: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function refuse(code: string, message: string, status = 400): never {
  throw new Refusal(status, code, message);
}

/** What stands in an answer that tells nothing of its cause. */
export const faultOf = ({ status }: { readonly status: number }): object => ({
  error: { code: status === 500 ? "Internal_ServerError" : "Unknown", message: "bad weather" },
});

export function answered(response: ServerResponse, { status, answer, headers }: Told): void {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(answer === null ? undefined : stringifyExact(answer));
}
