/**
 * A Web Connector and a QuickBooks that are not ours hold whole sessions with our service.
 *
 * @module-tag numbers
 */
import { expect, onTestFinished, test } from "vitest";
import { read } from "../../test/support/connector.ts";
import { freePort } from "../../test/support/port.ts";
import { holdSession, qbwcKit } from "../../test/support/qbwc-kit.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { DesktopConfig } from "./config.ts";
import { listens, PASSWORD, settings, USER } from "./desktop.fixture.ts";
import { quickbooksDesktop } from "./index.ts";

const CUSTOMERS = 620;

test.skipIf(!qbwcKit.isThere())(
  "qbwc-kit's Web Connector is refused with a wrong password, and reads all parties page by page in one session",
  async () => {
    const port = await freePort();
    const config = DesktopConfig.parse(settings(port, { lingerMs: 0, holdMs: 5_000 }));
    const endpoint = quickbooksDesktop.open(config, surroundingsIn(".", { arrived: () => {} }));
    onTestFinished(() => endpoint.close());
    await listens(port);
    const row = (id: string, Name: string) => ({
      ListID: id,
      TimeModified: "2026-11-21T12:00:00-06:00",
      EditSequence: "1",
      Name,
    });
    const Customer = Array.from({ length: CUSTOMERS }, (_, at) =>
      row(`C${at}-1`, `Customer ${at}`),
    );
    const session = {
      url: config.url,
      user: USER,
      password: PASSWORD,
      records: {
        Company: [{ CompanyName: config.company }],
        Customer,
        Vendor: [row("A-1", "Sabine")],
      },
    };
    expect(await holdSession({ ...session, password: "wrong" })).toMatchObject({
      authenticated: false,
      last_error: "nvu",
    });
    const [held, pages] = await Promise.all([
      holdSession(session),
      expect
        .poll(() => endpoint.presence?.().isHere)
        .toBe(true)
        .then(() => read(endpoint, "parties", [])),
    ]);
    expect(held).toMatchObject({ authenticated: true, close_message: "OK" });
    expect(held.progress.at(-1)).toBe(100);
    const ids = pages.flatMap(({ changes }) => changes.map(({ id }) => id));
    expect(ids).toHaveLength(CUSTOMERS + 1);
    expect(new Set(ids).size).toBe(CUSTOMERS + 1);
    const position = pages.at(-1)?.position as Record<string, { since: string }>;
    expect(position["customer"]?.since).toBe("2026-11-21T12:00:00");
  },
);
