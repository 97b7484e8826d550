/** Web Connectors that are not ours call our service by a WSDL that is not ours: what `quickbooks-js` of npm ships. */
import { promisify } from "node:util";
import { createClientAsync } from "soap";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { never } from "../../test/support/connector.ts";
import { quickbooksJs, type WebConnectorClient } from "../../test/support/quickbooks-js.ts";
import { listens, opened, openSite, PASSWORD, USER } from "./desktop.fixture.ts";

type Said = Readonly<Record<string, unknown>>;

/** A daemon, and a client for it from the WSDL of quickbooks-js. */
async function daemon() {
  const { port, file } = await openSite({ calls: false });
  const endpoint = opened(port, { lingerMs: 0, holdMs: 100 }, { arrived: () => {} });
  await listens(port);
  const url = `http://127.0.0.1:${port}/qbwc`;
  return { file, endpoint, client: await createClientAsync(quickbooksJs.wsdl, {}, url) };
}

describe.skipIf(!quickbooksJs.isThere())("by the WSDL of quickbooks-js", () => {
  test("its own Web Connector reaches all operations; without a ticket it gets no work and ends no session", async () => {
    const { endpoint, client } = await daemon();
    vi.stubEnv("QB_USERNAME", USER);
    vi.stubEnv("QB_PASSWORD", PASSWORD);
    onTestFinished(() => void vi.unstubAllEnvs());
    const connector = quickbooksJs.connectorOver(client);
    const call = async (name: Exclude<keyof WebConnectorClient, "client">): Promise<unknown> => {
      const result = await promisify(connector[name].bind(connector))();
      return Object.values(result ?? {})[0];
    };
    expect(await call("serverVersion")).toBe("fuelbridge");
    expect(await call("clientVersion")).toBeFalsy();
    expect(await call("authenticateWithIncorrectUsernameAndPassword")).toMatchObject({
      string: [expect.anything(), "nvu"],
    });
    expect(endpoint.presence?.().isHere).toBe(false);
    expect(await call("authenticateWithCorrectUsernameAndPassword")).toMatchObject({
      string: [expect.stringMatching(/^[0-9a-f-]{36}$/), expect.not.stringMatching("nvu")],
    });
    expect(await call("sendXMLRequest")).toBeFalsy();
    expect(await call("receiveResponseXML")).toBe(-1);
    expect(await call("receiveResponseXMLWithError")).toBe(-1);
    expect(await call("getLastError")).toContain("over");
    expect(await call("connectionError")).toBe("done");
    expect(await call("closeConnection")).toBe("OK");
    expect(endpoint.presence?.().isHere).toBe(true);
  });

  test("the npm package soap holds a whole session", async () => {
    const { file, endpoint, client } = await daemon();
    const call = async (name: string, given: object): Promise<unknown> => {
      const method = client[`${name}Async`] as (given: object) => Promise<Said[]>;
      const [answer] = await method(given);
      return answer?.[`${name}Result`];
    };
    const login = { strUserName: USER, strPassword: PASSWORD };
    const { string } = (await call("authenticate", login)) as { readonly string: unknown[] };
    const [ticket] = string;
    const xml = await call("sendRequestXML", { ticket, qbXMLMajorVers: 16, qbXMLMinorVers: 0 });
    expect(xml).toContain("<CompanyQueryRq");
    const response = file.answer(String(xml));
    const answer = { ticket, response, hresult: "", message: "" };
    expect(await call("receiveResponseXML", answer)).toBe(100);
    await endpoint.check(never);
    expect(await call("sendRequestXML", { ticket: "another" })).toBeFalsy();
    expect(await call("receiveResponseXML", { ticket: "another", response: "" })).toBe(-1);
    expect(await call("closeConnection", { ticket })).toBe("OK");
  });
});
