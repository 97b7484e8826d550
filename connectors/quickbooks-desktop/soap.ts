/**
 * SOAP 1.1 as the QuickBooks Web Connector speaks it: document/literal, one namespace, elements by their local names. The
 * `Style` of a .qwc file changes how it encodes a request (types as attributes, a prefix); the local names stay.
 */
import { below, child, type Element, elementIn, escaped, XmlFault } from "./xml.ts";

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

export interface SoapCall {
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
export function envelopeOf(operation: Operation, result: string | readonly string[]): string {
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

export const faultEnvelope = (message: string): string =>
  `${DECLARATION}<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>` +
  `<faultcode>soap:Client</faultcode><faultstring>${escaped(message)}</faultstring></soap:Fault></soap:Body></soap:Envelope>`;

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

/** What `?wsdl` answers: for people and tools; the Web Connector knows its operations by heart. */
export function wsdl(address: string): string {
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
