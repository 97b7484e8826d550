/** The SOAP service that the Web Connector calls: one POST address, its WSDL, and a page for people. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { resolve } from "node:path";
import type { DesktopConfig } from "./config.ts";
import type { Mailbox } from "./mailbox.ts";
import { below, child, type Element, elementIn, escaped, XmlFault } from "./qbxml.ts";

/*
 * SOAP 1.1 as the QuickBooks Web Connector speaks it: document/literal, one namespace, elements by their local names. The
 * `Style` of a .qwc file changes how it encodes a request (types as attributes, a prefix); the local names stay.
 */

const NAMESPACE = "http://developer.intuit.com/";

/** Their arguments in Intuit's order; `getLastError` and others have only a ticket. */
export const operations = {
  serverVersion: [],
  clientVersion: ["strVersion"],
  authenticate: ["strUserName", "strPassword"],
  sendRequestXML: [
    "ticket",
    "strHCPResponse",
    "strCompanyFileName",
    "qbXMLCountry",
    "qbXMLMajorVers",
    "qbXMLMinorVers",
  ],
  receiveResponseXML: ["ticket", "response", "hresult", "message"],
  connectionError: ["ticket", "hresult", "message"],
  getLastError: ["ticket"],
  closeConnection: ["ticket"],
} as const;

export type Operation = keyof typeof operations;

interface SoapCall {
  readonly operation: Operation;
  /** Empty text where an argument is not there. */
  readonly argument: (name: string) => string;
}

/** @throws XmlFault when it is no call of an operation */
export function callIn(text: string): SoapCall {
  const envelope = elementIn(text);
  const body = child(envelope, "Body");
  const [call] = body?.below ?? [];
  if (envelope.name !== "Envelope" || call === undefined)
    throw new XmlFault("it is no SOAP envelope with a body");
  if (!(call.name in operations)) throw new XmlFault(`there is no operation ${call.name}`);
  return {
    operation: call.name as Operation,
    argument: (name) => below(call, name).map(contentOf).join(""),
  };
}

/** Some stacks put the text of `response` in as elements: what we need of it is never there. */
const contentOf = ({ text }: Element): string => text;

/** The envelope of an answer. A list becomes `<string>` elements of the same namespace (never of an array type). */
function envelopeOf(operation: Operation, result: string | readonly string[]): string {
  const inner =
    typeof result === "string"
      ? escaped(result)
      : result.map((one) => `<string>${escaped(one)}</string>`).join("");
  return (
    `${DECLARATION}<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>` +
    `<${operation}Response xmlns="${NAMESPACE}"><${operation}Result>${inner}</${operation}Result>` +
    `</${operation}Response></soap:Body></soap:Envelope>`
  );
}

const faultEnvelope = (message: string): string =>
  `${DECLARATION}<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>` +
  `<faultcode>soap:Client</faultcode><faultstring>${escaped(message)}</faultstring></soap:Fault></soap:Body></soap:Envelope>`;

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

/** What `?wsdl` answers: for people and tools; the Web Connector knows its operations by heart. */
function wsdl(address: string): string {
  const names = Object.keys(operations) as Operation[];
  const types = names
    .map(
      (name) =>
        element(
          name,
          operations[name]
            .map((one) => part(one, /^qbXML.*Vers$/.test(one) ? "s:int" : "s:string"))
            .join(""),
        ) + element(`${name}Response`, part(`${name}Result`, RESULTS[name] ?? "s:string")),
    )
    .join("");
  const messages = names
    .flatMap((name) => [
      `<wsdl:message name="${name}SoapIn"><wsdl:part name="parameters" element="tns:${name}"/></wsdl:message>`,
      `<wsdl:message name="${name}SoapOut"><wsdl:part name="parameters" element="tns:${name}Response"/></wsdl:message>`,
    ])
    .join("");
  const ports = names
    .map(
      (name) =>
        `<wsdl:operation name="${name}"><wsdl:input message="tns:${name}SoapIn"/><wsdl:output message="tns:${name}SoapOut"/></wsdl:operation>`,
    )
    .join("");
  const bound = names
    .map(
      (name) =>
        `<wsdl:operation name="${name}"><soap:operation soapAction="${NAMESPACE}${name}" style="document"/>` +
        `<wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation>`,
    )
    .join("");
  return (
    `${DECLARATION}<wsdl:definitions xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:tns="${NAMESPACE}" ` +
    `xmlns:s="http://www.w3.org/2001/XMLSchema" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" targetNamespace="${NAMESPACE}">` +
    `<wsdl:types><s:schema elementFormDefault="qualified" targetNamespace="${NAMESPACE}">${types}` +
    `<s:complexType name="ArrayOfString"><s:sequence><s:element minOccurs="0" maxOccurs="unbounded" name="string" nillable="true" type="s:string"/></s:sequence></s:complexType>` +
    `</s:schema></wsdl:types>${messages}<wsdl:portType name="QBWebConnectorSvcSoap">${ports}</wsdl:portType>` +
    `<wsdl:binding name="QBWebConnectorSvcSoap" type="tns:QBWebConnectorSvcSoap"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>${bound}</wsdl:binding>` +
    `<wsdl:service name="QBWebConnectorSvc"><wsdl:port name="QBWebConnectorSvcSoap" binding="tns:QBWebConnectorSvcSoap">` +
    `<soap:address location="${escaped(address)}"/></wsdl:port></wsdl:service></wsdl:definitions>`
  );
}

const element = (name: string, inner: string): string =>
  `<s:element name="${name}"><s:complexType><s:sequence>${inner}</s:sequence></s:complexType></s:element>`;
const part = (name: string, type: string): string =>
  `<s:element minOccurs="0" maxOccurs="1" name="${name}" type="${type}"/>`;

const RESULTS: Readonly<Partial<Record<Operation, string>>> = {
  authenticate: "tns:ArrayOfString",
  receiveResponseXML: "s:int",
};

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

/* The `.qwc` file that an administrator opens in the Web Connector: who calls which address. It has no password. */

/** Of this program, at every site. */
const OWNER = "{3f0b2d8e-5c1a-4c8a-9a61-7f0f1f6f2a11}";
const MINUTES = 10;

export function qwcOf({ url, user, company, fileId }: DesktopConfig): string {
  const support = new URL("/support", url).href;
  const fields = {
    AppName: `fuelbridge - ${company}`,
    AppID: "",
    AppURL: url,
    AppDescription: "Keeps QuickBooks and the fuel-logistics platform in step",
    AppSupport: support,
    UserName: user,
    OwnerID: OWNER,
    FileID: `{${fileId}}`,
    QBType: "QBFS",
    Style: "Document",
  };
  const lines = Object.entries(fields).map(
    ([name, text]) => `  <${name}>${escaped(text)}</${name}>`,
  );
  return [
    '<?xml version="1.0"?>',
    "<QBWCXML>",
    ...lines,
    `  <Scheduler><RunEveryNMinutes>${MINUTES}</RunEveryNMinutes></Scheduler>`,
    "  <IsReadOnly>false</IsReadOnly>",
    "</QBWCXML>",
    "",
  ].join("\n");
}
