/**
 * The SOAP service that the Web Connector calls: one POST address, its WSDL, and a page for people. SOAP 1.1 as the
 * QuickBooks Web Connector speaks it: document/literal, one namespace, elements by their local names. The `Style` of a .qwc
 * file changes how it encodes a request (types as attributes, a prefix); the local names stay.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { isSameSecret } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import type { Mailbox } from "./mailbox.ts";
import { elementIn, escaped, XmlFault } from "./qbxml.ts";

interface OperationRow {
  /** The names of its arguments in Intuit's order. */
  readonly takes: readonly string[];
  /** Of its result in the WSDL. Left out: text. */
  readonly type?: string;
  /** @param given its arguments, empty text where one is not there */
  run(site: Site, ...given: readonly string[]): Result | Promise<Result>;
}
type Result = string | readonly string[];

interface Site {
  readonly config: DesktopConfig;
  readonly mailbox: Mailbox;
}

const SENT_WITH = "strHCPResponse strCompanyFileName qbXMLCountry qbXMLMajorVers qbXMLMinorVers";

export const operations = {
  serverVersion: { takes: [], run: () => "fuelbridge" },
  clientVersion: { takes: ["strVersion"], run: () => "" },
  authenticate: {
    takes: ["strUserName", "strPassword"],
    type: "tns:ArrayOfString",
    run: (site, user = "", password = "") => authenticated(site, user, password),
  },
  sendRequestXML: {
    takes: ["ticket", ...SENT_WITH.split(" ")],
    run: ({ mailbox }, ticket = "") => mailbox.next(ticket),
  },
  receiveResponseXML: {
    takes: ["ticket", "response", "hresult", "message"],
    type: "s:int",
    run: async ({ mailbox }, ticket = "", response = "", hresult = "", message = "") =>
      String(await mailbox.take(ticket, response, hresult, message)),
  },
  connectionError: {
    takes: ["ticket", "hresult", "message"],
    run: ({ mailbox }, ticket = "", hresult = "", message = "") =>
      mailbox.broken(ticket, hresult, message),
  },
  getLastError: { takes: ["ticket"], run: ({ mailbox }, ticket = "") => mailbox.lastError(ticket) },
  closeConnection: { takes: ["ticket"], run: ({ mailbox }, ticket = "") => mailbox.close(ticket) },
} as const satisfies Record<string, OperationRow>;

export type Operation = keyof typeof operations;

/** @throws XmlFault when it is no call of an operation */
export function callIn(text: string): {
  readonly operation: Operation;
  readonly given: readonly string[];
} {
  const envelope = elementIn(text);
  const [call] = envelope.child("Body")?.below ?? [];
  if (envelope.name !== "Envelope" || call === undefined)
    throw new XmlFault("it is no SOAP envelope with a body");
  if (!Object.hasOwn(operations, call.name))
    throw new XmlFault(`there is no operation ${call.name}`);
  const operation = call.name as Operation;
  const given = operations[operation].takes.map((name) => call.child(name)?.content ?? "");
  return { operation, given };
}

function authenticated({ config, mailbox }: Site, user: string, password: string): Result {
  const isRight = [isSameSecret(user, config.user), isSameSecret(password, config.password)].every(
    Boolean,
  );
  if (isRight) return [mailbox.begin(), config.companyFile];
  mailbox.refuse(
    "the Web Connector came with another user name or password",
    "In the Web Connector, click the password of this application and type the configured one; or add the .qwc file of `fuelbridge quickbooks qwc` again.",
  );
  return ["", "nvu"];
}

const NAMESPACE = "http://developer.intuit.com/";
const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

const enveloped = (body: string): string =>
  `${DECLARATION}<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`;

/** The envelope of an answer. A list becomes `<string>` elements of the same namespace (never of an array type). */
function envelopeOf(operation: Operation, result: Result): string {
  const inner =
    typeof result === "string"
      ? escaped(result)
      : result.map((one) => `<string>${escaped(one)}</string>`).join("");
  return enveloped(
    `<${operation}Response xmlns="${NAMESPACE}"><${operation}Result>${inner}</${operation}Result></${operation}Response>`,
  );
}

const element = (name: string, ...parts: readonly (readonly [name: string, type: string])[]) =>
  `<s:element name="${name}"><s:complexType><s:sequence>${parts.map(([part, type]) => `<s:element minOccurs="0" maxOccurs="1" name="${part}" type="${type}"/>`).join("")}</s:sequence></s:complexType></s:element>`;
const message = (name: string, of: string) =>
  `<wsdl:message name="${name}"><wsdl:part name="parameters" element="tns:${of}"/></wsdl:message>`;
const each = (template: (name: string, row: OperationRow) => string): string =>
  Object.entries<OperationRow>(operations)
    .map(([name, row]) => template(name, row))
    .join("");
const typeOf = (name: string) => (/^qbXML.*Vers$/.test(name) ? "s:int" : "s:string");
const LITERAL = `<soap:body use="literal"/>`;

/** What `?wsdl` answers: for people and tools; the Web Connector knows its operations by heart. */
function wsdl(address: string): string {
  const types = each(
    (name, { takes, type = "s:string" }) =>
      element(name, ...takes.map((one) => [one, typeOf(one)] as const)) +
      element(`${name}Response`, [`${name}Result`, type]),
  );
  const messages = each(
    (name) => message(`${name}SoapIn`, name) + message(`${name}SoapOut`, `${name}Response`),
  );
  const port = each(
    (name) =>
      `<wsdl:operation name="${name}"><wsdl:input message="tns:${name}SoapIn"/><wsdl:output message="tns:${name}SoapOut"/></wsdl:operation>`,
  );
  const binding = each(
    (name) =>
      `<wsdl:operation name="${name}"><soap:operation soapAction="${NAMESPACE}${name}" style="document"/><wsdl:input>${LITERAL}</wsdl:input><wsdl:output>${LITERAL}</wsdl:output></wsdl:operation>`,
  );
  return `${DECLARATION}<wsdl:definitions xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:tns="${NAMESPACE}" xmlns:s="http://www.w3.org/2001/XMLSchema" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" targetNamespace="${NAMESPACE}">
<wsdl:types><s:schema elementFormDefault="qualified" targetNamespace="${NAMESPACE}">${types}<s:complexType name="ArrayOfString"><s:sequence><s:element minOccurs="0" maxOccurs="unbounded" name="string" nillable="true" type="s:string"/></s:sequence></s:complexType></s:schema></wsdl:types>
${messages}<wsdl:portType name="QBWebConnectorSvcSoap">${port}</wsdl:portType>
<wsdl:binding name="QBWebConnectorSvcSoap" type="tns:QBWebConnectorSvcSoap"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>${binding}</wsdl:binding>
<wsdl:service name="QBWebConnectorSvc"><wsdl:port name="QBWebConnectorSvcSoap" binding="tns:QBWebConnectorSvcSoap"><soap:address location="${escaped(address)}"/></wsdl:port></wsdl:service></wsdl:definitions>`;
}

/** Bytes of the largest call: a page of records, escaped. */
const BODY_MAX = 48_000_000;

export type Service = Awaited<ReturnType<typeof openService>>;

/** Listens. @throws the system's error where it cannot */
export async function openService(config: DesktopConfig, folder: string, mailbox: Mailbox) {
  const { url, listen, certificate, key } = config;
  const { protocol, port } = new URL(url);
  const { fetch } = serving(config, mailbox);
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    void listener(request, response);
  const read = (path: string | undefined): Buffer => readFileSync(resolve(folder, path ?? ""));
  const limits = { requestTimeout: 120_000, headersTimeout: 20_000, maxHeaderSize: 16_384 };
  const server: Server =
    protocol === "http:"
      ? createServer(limits, handle)
      : createTlsServer({ ...limits, cert: read(certificate), key: read(key) }, handle);
  await once(server.listen(Number(port), listen), "listening");
  return {
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

const xml = (body: string, status = 200): Response =>
  new Response(body, { status, headers: { "content-type": "text/xml; charset=utf-8" } });

const fault = (status: number, message: string): Response =>
  xml(
    enveloped(
      `<soap:Fault><faultcode>soap:Client</faultcode><faultstring>${escaped(message)}</faultstring></soap:Fault>`,
    ),
    status,
  );

const tooLarge = (): Response => fault(413, "The call is too large.");

function serving(config: DesktopConfig, mailbox: Mailbox): Hono {
  const { url } = config;
  const path = new URL(url).pathname;
  return new Hono()
    .get("*", ({ req, text }) =>
      req.path === path && new URL(req.url).search.toLowerCase() === "?wsdl"
        ? xml(wsdl(url))
        : text("fuelbridge serves the QuickBooks Web Connector here.\n"),
    )
    .post(path, bodyLimit({ maxSize: BODY_MAX, onError: tooLarge }), async ({ req }) => {
      const decoder = decoderOf(req.header("content-type"));
      if (decoder === null) return fault(415, "The call's encoding is not known: send UTF-8.");
      const { operation, given } = callIn(decoder.decode(await req.arrayBuffer()));
      const row: OperationRow = operations[operation];
      return xml(envelopeOf(operation, await row.run({ config, mailbox }, ...given)));
    })
    .notFound(() => fault(404, "There is no such service."))
    .onError((error) =>
      fault(
        500,
        error instanceof XmlFault
          ? `The call cannot be read: ${error.message}.`
          : "fuelbridge cannot serve the call now.",
      ),
    );
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

/** Of this program, at every site. */
const OWNER = "{3f0b2d8e-5c1a-4c8a-9a61-7f0f1f6f2a11}";

/** The `.qwc` file that an administrator opens in the Web Connector: who calls which address. It has no password. */
export const qwcOf = ({
  url,
  user,
  company,
  fileId,
}: DesktopConfig): string => `<?xml version="1.0"?>
<QBWCXML>
  <AppName>${escaped(`fuelbridge - ${company}`)}</AppName>
  <AppID></AppID>
  <AppURL>${escaped(url)}</AppURL>
  <AppDescription>Keeps QuickBooks and the fuel-logistics platform in step</AppDescription>
  <AppSupport>${escaped(new URL("/support", url).href)}</AppSupport>
  <UserName>${escaped(user)}</UserName>
  <OwnerID>${OWNER}</OwnerID>
  <FileID>{${fileId}}</FileID>
  <QBType>QBFS</QBType>
  <Style>Document</Style>
  <Scheduler><RunEveryNMinutes>10</RunEveryNMinutes></Scheduler>
  <IsReadOnly>false</IsReadOnly>
</QBWCXML>
`;
