/** The Web Connector, as its published protocol has it: it calls a service, and runs what it gets in a company file. */
import { setTimeout as pause } from "node:timers/promises";
import type { CompanyFile } from "./company-file.fixture.ts";
import { NotParsed } from "./company-order.fixture.ts";
import { type Operation, operations } from "./service.ts";
import type { Element } from "../quickbooks/element.ts";
import { elementIn, escaped } from "./qbxml.ts";

class Killed extends Error {}

export class WebConnector {
  readonly #url: string;
  readonly #file: CompanyFile;
  readonly #login: { readonly user: string; readonly password: string };
  readonly #stop = new AbortController();
  /** It is killed at the nth step from now: before a call, or after QuickBooks did its work. 0: it is not. */
  killAt = 0;
  /** Done before each call, with what is called. */
  before: (operation: Operation, given: readonly string[]) => Promise<void> = () =>
    Promise.resolve();
  /** The sessions that it began. */
  sessions = 0;
  running: Promise<void> = Promise.resolve();

  constructor(
    url: string,
    file: CompanyFile,
    login: { readonly user: string; readonly password: string },
  ) {
    this.#url = url;
    this.#file = file;
    this.#login = login;
  }

  /** Session after session, until it is stopped. */
  start(): this {
    this.running = (async () => {
      const { signal } = this.#stop;
      while (!signal.aborted) {
        await this.session().catch((error: unknown) => {
          if (!(error instanceof Killed) && !isNetwork(error)) throw error;
        });
        await pause(5, undefined, { signal }).catch(() => {});
      }
    })();
    return this;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.running;
  }

  /** One. @throws Killed */
  async session(): Promise<string> {
    this.#file.sessionOver();
    await this.call("serverVersion");
    await this.call("clientVersion", "34.0.10012.79");
    const [ticket = "", state = ""] = await this.list(
      "authenticate",
      this.#login.user,
      this.#login.password,
    );
    if (state === "nvu" || state === "none") return state;
    this.sessions++;
    while (!this.#stop.signal.aborted) {
      const xml = await this.call("sendRequestXML", ticket, "", "company.qbw", "US", "16", "0");
      if (xml === "") {
        const why = await this.call("getLastError", ticket);
        if (why !== "NoOp") break;
        await pause(5);
        continue;
      }
      const [response, hresult] = this.#run(xml);
      this.#step();
      const done = Number(
        await this.call("receiveResponseXML", ticket, response, hresult, hresult && "parse error"),
      );
      if (done < 0) await this.call("getLastError", ticket);
      if (done < 0 || done === 100) break;
    }
    return await this.call("closeConnection", ticket);
  }

  #run(xml: string): readonly [string, string] {
    const { cuts } = this.#file;
    const at = cuts.findIndex(({ name }) => name.test(xml));
    const [cut] = at < 0 ? [] : cuts.splice(at, 1);
    if (cut?.when === "before") throw new Killed();
    try {
      const answer = this.#file.answer(xml);
      if (cut !== undefined) throw new Killed();
      return [answer, ""];
    } catch (error) {
      if (error instanceof NotParsed) return ["", "0x80040400"];
      throw error;
    }
  }

  #step(): void {
    if (this.killAt > 0 && --this.killAt === 0) throw new Killed();
  }

  async call(operation: Operation, ...given: readonly string[]): Promise<string> {
    return (await this.#post(operation, given)).content;
  }

  async list(operation: Operation, ...given: readonly string[]): Promise<readonly string[]> {
    return (await this.#post(operation, given)).below.map(({ content }) => content);
  }

  async #post(operation: Operation, given: readonly string[]): Promise<Element> {
    this.#step();
    await this.before(operation, given);
    const inner = operations[operation].takes
      .split(" ")
      .filter(Boolean)
      .map((name, at) => `<${name}>${escaped(given[at] ?? "")}</${name}>`)
      .join("");
    const body = `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><${operation} xmlns="http://developer.intuit.com/">${inner}</${operation}></soap:Body></soap:Envelope>`;
    const answer = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "text/xml; charset=utf-8",
        // The service may be another process with the next call.
        connection: "close",
        SOAPAction: `"http://developer.intuit.com/${operation}"`,
      },
      body,
      signal: this.#stop.signal,
    });
    const text = await answer.text();
    const result = elementIn(text).child("Body")?.below[0]?.below[0];
    if (result?.name !== `${operation}Result`) throw new Error(`${operation}: ${text}`);
    return result;
  }
}

const isNetwork = (error: unknown): boolean =>
  error instanceof TypeError || (error as Error).name === "AbortError";
