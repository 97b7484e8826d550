/** What a company says no to, with an HTTP status and a code of the API. */
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
