/** The SOAP service that the Web Connector calls: one POST address, its WSDL, and a page for people. */
import { timingSafeEqual } from "node:crypto";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { resolve } from "node:path";
import type { DesktopConfig } from "./config.ts";
import type { Mailbox } from "./mailbox.ts";
import { callIn, envelopeOf, faultEnvelope, type SoapCall, wsdl } from "./soap.ts";
import { XmlFault } from "./xml.ts";

/** Bytes of the largest call: a page of records, escaped. */
const BODY_MAX = 48_000_000;

export interface Service {
  readonly close: () => Promise<void>;
}

/** Listens. @throws the system's error where it cannot */
export async function openService(
  config: DesktopConfig,
  folder: string,
  mailbox: Mailbox,
): Promise<Service> {
  const { url, listen, certificate, key } = config;
  const { protocol, port, pathname } = new URL(url);
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answer(config, mailbox, pathname, request, response).catch(() => response.destroy());
  };
  const read = (path: string | undefined): Buffer => readFileSync(resolve(folder, path ?? ""));
  const limits = { requestTimeout: 120_000, headersTimeout: 20_000, maxHeaderSize: 16_384 };
  const server: Server =
    protocol === "http:"
      ? createServer(limits, handle)
      : createTlsServer({ ...limits, cert: read(certificate), key: read(key) }, handle);
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(Number(port), listen, () => done());
  });
  return {
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  config: DesktopConfig,
  mailbox: Mailbox,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url = "" } = request;
  const asked = new URL(url, config.url);
  const say = (status: number, body: string): void => {
    response.writeHead(status, { "content-type": "text/xml; charset=utf-8" }).end(body);
  };
  if (method === "GET" || method === "HEAD") {
    if (asked.pathname === path && asked.search.toLowerCase() === "?wsdl")
      return say(200, wsdl(config.url));
    response
      .writeHead(200, { "content-type": "text/plain; charset=utf-8" })
      .end("fuelbridge serves the QuickBooks Web Connector here.\n");
    return;
  }
  if (method !== "POST" || asked.pathname !== path)
    return say(404, faultEnvelope("There is no such service."));
  const decoder = decoderOf(request.headers["content-type"]);
  if (decoder === null)
    return say(415, faultEnvelope("The call's encoding is not known: send UTF-8."));
  const bytes = await bodyOf(request);
  if (bytes === null) return say(413, faultEnvelope("The call is too large."));
  const body = decoder.decode(bytes);
  let call: SoapCall;
  try {
    call = callIn(body);
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    return say(500, faultEnvelope(`The call cannot be read: ${error.message}.`));
  }
  say(200, envelopeOf(call.operation, await resultOf(config, mailbox, call)));
}

/** For the `charset` of a content type; UTF-8 where it says none. Null: nobody knows it. */
function decoderOf(contentType = ""): InstanceType<typeof TextDecoder> | null {
  const [, charset = "utf-8"] = /charset="?([^\s;"]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > BODY_MAX) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

async function resultOf(
  config: DesktopConfig,
  mailbox: Mailbox,
  { operation, argument }: SoapCall,
): Promise<string | readonly string[]> {
  const ticket = argument("ticket");
  switch (operation) {
    case "serverVersion":
      return "fuelbridge";
    case "clientVersion":
      return "";
    case "authenticate":
      return authenticate(config, mailbox, argument("strUserName"), argument("strPassword"));
    case "sendRequestXML":
      return await mailbox.next(ticket);
    case "receiveResponseXML": {
      const [response, hresult, message] = ["response", "hresult", "message"].map(argument);
      return String(await mailbox.take(ticket, response ?? "", hresult ?? "", message ?? ""));
    }
    case "connectionError":
      return mailbox.broken(ticket, argument("hresult"), argument("message"));
    case "getLastError":
      return mailbox.lastError(ticket);
    case "closeConnection":
      return mailbox.close(ticket);
  }
}

function authenticate(
  { user, password, companyFile }: DesktopConfig,
  mailbox: Mailbox,
  givenUser: string,
  givenPassword: string,
): readonly string[] {
  const isRight = [isSame(givenUser, user), isSame(givenPassword, password)].every(Boolean);
  if (isRight) return [mailbox.begin(), companyFile];
  mailbox.refuse({
    message: "the Web Connector came with another user name or password",
    next: "In the Web Connector, click the password of this application and type the configured one; or add the .qwc file of `fuelbridge quickbooks qwc` again.",
    isCredentials: true,
    isUsual: false,
  });
  return ["", "nvu"];
}

const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(
    createHash("sha256").update(one).digest(),
    createHash("sha256").update(other).digest(),
  );
