/** What the sandbox's tests drive it with: plain HTTP, keys by name, the control interface. */
import { type SandboxOptions, startSandbox } from "./server.ts";

interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The envelope, or null for what is no JSON. */
  readonly json: Envelope;
}

export interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

interface Envelope {
  readonly success: boolean;
  readonly data: Item & readonly Item[];
  readonly meta: {
    total: number;
    page: number;
    totalPages: number;
    hasMore: boolean;
    nextCursor: string;
  };
  readonly error: { code: string; message: string; [field: string]: unknown };
}

interface Options {
  readonly key?: string;
  readonly body?: unknown;
  /** The Idempotency-Key; writes get a new one by default. */
  readonly idem?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Driver {
  readonly baseUrl: string;
  readonly controlUrl: string;
  readonly close: () => Promise<void>;
  #keys: Map<string, { key: string; companyId: string }> | null = null;
  #count = 0;

  constructor(started: { baseUrl: string; controlUrl: string; close: () => Promise<void> }) {
    this.baseUrl = started.baseUrl;
    this.controlUrl = started.controlUrl;
    this.close = started.close;
  }

  static async start(options: SandboxOptions = {}): Promise<Driver> {
    return new Driver(await startSandbox({ scenario: "empty", ...options }));
  }

  async call(method: string, path: string, options: Options = {}): Promise<Said> {
    const {
      key = "supplier",
      body,
      idem = `driver-key-${String(++this.#count).padStart(8, "0")}`,
    } = options;
    const answer = await fetch(this.baseUrl + path, {
      method,
      headers: {
        "X-API-Key": (await this.key(key)).key,
        ...(method === "GET" || idem === null ? {} : { "Idempotency-Key": idem }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...options.headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: parsed(text) as Envelope };
  }

  get(path: string, options?: Options): Promise<Said> {
    return this.call("GET", path, options);
  }

  post(path: string, body: unknown, options?: Options): Promise<Said> {
    return this.call("POST", path, { ...options, body });
  }

  put(path: string, body: unknown, options?: Options): Promise<Said> {
    return this.call("PUT", path, { ...options, body });
  }

  /** A control request that succeeds. */
  async control<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<T> {
    const answer = await fetch(this.controlUrl + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = (await answer.json()) as T;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(said)}`);
    return said;
  }

  async key(name: string): Promise<{ key: string; companyId: string }> {
    this.#keys ??= await this.#readKeys();
    const key = this.#keys.get(name);
    if (key === undefined) throw new Error(`no key ${name}`);
    return key;
  }

  advance(seconds: number): Promise<unknown> {
    return this.control("POST", "/clock", { advanceSeconds: seconds });
  }

  arm(fault: object): Promise<unknown> {
    return this.control("POST", "/faults", fault);
  }

  read(readings: object): Promise<unknown> {
    return this.control("POST", "/readings", readings);
  }

  async raw(resource: string, records: readonly object[], key = "supplier"): Promise<Item[]> {
    const said = await this.control<{ records: Item[] }>("POST", `/records/${resource}`, {
      key,
      records,
    });
    return said.records;
  }

  async records(resource: string, key = "supplier"): Promise<Item[]> {
    return (await this.control<{ records: Item[] }>("GET", `/records/${resource}?key=${key}`))
      .records;
  }

  async requests(query = ""): Promise<Logged[]> {
    return (await this.control<{ requests: Logged[] }>("GET", `/requests${query}`)).requests;
  }

  /** The ids of a whole walk, in its order. */
  async walk(path: string, options?: Options): Promise<string[]> {
    const ids: string[] = [];
    const start = path.includes("updatedSince")
      ? path
      : `${path}?updatedSince=2000-01-01T00:00:00Z`;
    for (let next: string | null = start; next !== null;) {
      const { json } = await this.get(next, options);
      ids.push(...json.data.map(({ id }) => id));
      const { hasMore, nextCursor } = json.meta;
      next = hasMore ? `${path.split("?")[0] ?? ""}?cursor=${nextCursor}` : null;
    }
    return ids;
  }

  async #readKeys() {
    const { keys } = await this.control<{
      keys: { name: string; key: string; companyId: string }[];
    }>("GET", "/keys");
    return new Map(keys.map((key) => [key.name, key]));
  }
}

interface Logged {
  readonly seq: number;
  readonly key: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
  readonly replayed: boolean;
  readonly fault: string | null;
  readonly bodyHash: string | null;
}

/** An invoice that the contract accepts. */
export const invoice = (invoiceNumber = "INV-1", more: object = {}) => ({
  invoiceNumber,
  subtotal: 100,
  total: 100,
  lineItems: [{ description: "ULSD", amount: 100 }],
  ...more,
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
