/** Alerts on change of state, over a real store, to a real web server and a real mail server. */
import { createHmac } from "node:crypto";
import { expect, test, vi } from "vitest";
import { STATUS, STOP } from "../views/status.fixture.ts";
import { statusText } from "../views/status.ts";
import type { FlowStatus, QuarantineGroup, Status } from "../office/answers.ts";
import { openStore } from "../store/store.ts";
import { testClock } from "../../test/support/clock.ts";
import { configuredSite } from "../../test/support/configured.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { commandHere } from "../../test/support/here.ts";
import { mailReceiver, webReceiver } from "../../test/support/receivers.ts";
import {
  lookAndSend,
  type AlertMessage,
  type Channel,
  channelsOf,
  conditionsOf,
  quietHours,
} from "./alerts.ts";

const MINUTE = 60_000;
const [FLOW] = STATUS.flows as [FlowStatus];
const [GROUP] = STATUS.quarantine as [QuarantineGroup];
const WELL: Status = {
  ...STATUS,
  flows: [{ ...FLOW, quarantined: 0, unread: [] }],
  quarantine: [],
  outOfStep: [],
  stops: [],
  requests: { ...STATUS.requests, forecast: { ...STATUS.requests.forecast, runsOut: null } },
  reconciliation: {
    ...STATUS.reconciliation,
    differences: { confirmed: 0, seen: 0, clears: 0, accepted: 0, first: [] },
  },
};
const STOPPED: Status = {
  ...WELL,
  stops: [STOP],
};
const INBOX: Status = { ...WELL, quarantine: [GROUP] };

/** A site whose status is what the test says; `life` opens its store anew, as a restart does. */
function site(options: { quiet?: { from: number; to: number }; channels?: Channel[] } = {}) {
  const folder = tempFolder();
  const clock = testClock();
  const sent: AlertMessage[] = [];
  const keeping: Channel = { name: "webhook", send: async (message) => void sent.push(message) };
  const isQuiet = quietHours(options.quiet ?? null, "America/Chicago");
  const life = async (...looks: readonly [status: Status, afterMs: number][]): Promise<void> => {
    const store = openStore(folder);
    for (const [status, afterMs] of looks) {
      clock.advance(afterMs);
      await lookAndSend({
        store,
        clock,
        company: "bluebonnet",
        channels: options.channels ?? [keeping],
        conditions: async () =>
          conditionsOf(status, { unreachableMs: 30 * MINUTE }, clock.now().wallMs),
        collectMs: 2 * MINUTE,
        isQuiet,
        note: () => {},
      });
    }
    store.close();
  };
  return { life, sent, clock };
}

const titles = (rows: AlertMessage["began"]): string[] => rows.map(({ title }) => title);

test("changes are collected into one message, told once across restarts, and so is their end", async () => {
  const { life, sent } = site();
  await life([WELL, 0], [INBOX, MINUTE], [{ ...STOPPED, quarantine: [GROUP] }, MINUTE]);
  expect(sent).toEqual([]);
  await life([{ ...STOPPED, quarantine: [GROUP] }, MINUTE]);
  expect(sent).toHaveLength(1);
  expect(titles(sent[0]?.began ?? [])).toEqual([
    "orders: 1 document needs a person",
    "Stopped: credentials, platform",
  ]);
  // Each of these is a restart; the count grows meanwhile.
  await life([{ ...STOPPED, quarantine: [{ ...GROUP, count: 9 }] }, 60 * MINUTE]);
  await life([{ ...STOPPED, quarantine: [GROUP] }, 24 * 60 * MINUTE]);
  expect(sent).toHaveLength(1);
  await life([INBOX, MINUTE], [INBOX, 3 * MINUTE]);
  expect(sent[1]).toMatchObject({
    status: "trouble",
    over: [{ title: "Stopped: credentials, platform" }],
  });
  expect(titles(sent[1]?.standing ?? [])).toEqual(["orders: 1 document needs a person"]);
  await life([WELL, MINUTE]);
  await life([WELL, 3 * MINUTE], [WELL, 60 * MINUTE]);
  expect(sent).toHaveLength(3);
  expect(sent[2]).toMatchObject({ status: "ok", subject: "fuelbridge bluebonnet: in step again" });
});

test("what comes and goes within the collecting time is told to nobody", async () => {
  const { life, sent } = site();
  await life([STOPPED, 0], [WELL, MINUTE], [WELL, 10 * MINUTE]);
  await life(
    [STOPPED, 0],
    [STOPPED, 3 * MINUTE],
    [WELL, MINUTE],
    [STOPPED, MINUTE],
    [STOPPED, 9 * MINUTE],
  );
  expect(sent).toHaveLength(1);
});

test("in quiet hours only what is urgent is told; the rest waits for their end", async () => {
  // The clock starts at 6:00 in Chicago.
  const { life, sent } = site({ quiet: { from: 19 * 60, to: 7 * 60 } });
  await life([INBOX, 0], [INBOX, 10 * MINUTE]);
  expect(sent).toEqual([]);
  await life(
    [{ ...STOPPED, quarantine: [GROUP] }, 0],
    [{ ...STOPPED, quarantine: [GROUP] }, 3 * MINUTE],
  );
  expect(sent.map(({ began }) => titles(began))).toEqual([["Stopped: credentials, platform"]]);
  await life([{ ...STOPPED, quarantine: [GROUP] }, 50 * MINUTE]);
  expect(titles(sent[1]?.began ?? [])).toEqual(["orders: 1 document needs a person"]);
});

test("a side is told of when it was away for longer than the limit, the budget when it will not last", () => {
  const failing: FlowStatus = {
    ...FLOW,
    unread: [],
    failingSince: "2026-11-21T12:00:00.000Z",
    lastError: {
      code: "unavailable",
      message: "the platform answers 503",
      next: "It is asked again.",
    },
  };
  const status: Status = {
    ...WELL,
    flows: [failing, { ...failing, name: "tickets" }],
    requests: {
      ...WELL.requests,
      forecast: {
        ...WELL.requests.forecast,
        runsOut: { at: "2026-11-28T00:00:00.000Z", stops: "polls" },
      },
    },
  };
  const keysAt = (time: string): string[] =>
    conditionsOf(status, { unreachableMs: 30 * MINUTE }, Date.parse(`2026-11-21T${time}:00Z`)).map(
      ({ key }) => key,
    );
  expect(keysAt("12:29")).toEqual(["budget forecast 2026-11"]);
  expect(keysAt("12:30")).toEqual(["unreachable platform", "budget forecast 2026-11"]);
  const waits: Status = { ...WELL, quarantine: [{ ...GROUP, helps: ["wait", "resolve"] }] };
  expect(conditionsOf(waits, { unreachableMs: 0 }, 0)).toEqual([]);
});

test("a flow that brings nothing is one alert that is not urgent, until something comes", async () => {
  const silence = {
    since: "2026-11-19T12:00:00.000Z",
    longestMs: 3_600_000,
    limitMs: 7_200_000,
    message: "nothing came for 48 hours",
    next: "Look whether its export runs.",
  };
  const silent: Status = { ...WELL, flows: [{ ...FLOW, quarantined: 0, unread: [], silence }] };
  expect(conditionsOf(silent, { unreachableMs: 30 * MINUTE }, 0)).toEqual([
    {
      key: "silent flow orders",
      urgent: false,
      title: "Flow orders brings nothing",
      detail: silence.message,
      next: silence.next,
    },
  ]);
  const { life, sent } = site();
  await life([silent, 0], [silent, 3 * MINUTE], [silent, 24 * 60 * MINUTE]);
  expect(sent.map(({ began }) => titles(began))).toEqual([["Flow orders brings nothing"]]);
  await life([WELL, MINUTE], [WELL, 3 * MINUTE]);
  expect(sent[1]).toMatchObject({ status: "ok", over: [{ title: "Flow orders brings nothing" }] });
});

test("a webhook and a mail server get the same message once; what one refused goes there alone, later", async () => {
  const web = await webReceiver([503, 503]);
  const mail = await mailReceiver();
  const channels = channelsOf({
    webhook: { url: web.url, key: "signing-key" },
    email: {
      host: "127.0.0.1",
      port: mail.port,
      tls: "none",
      user: "alerts",
      password: "canary-password",
      from: "fuelbridge@example.com",
      to: ["ann@example.com", "bob@example.com"],
    },
    collectMs: 0,
    unreachableMs: 0,
    quiet: null,
  });
  const { life } = site({ channels });
  await life([STOPPED, 0], [STOPPED, 3 * MINUTE]);
  expect([web.posts.length, mail.mails.length]).toEqual([0, 1]);
  await life([STOPPED, 2 * MINUTE]);
  await life([STOPPED, 3 * MINUTE], [STOPPED, 60 * MINUTE]);
  expect([web.posts.length, mail.mails.length]).toEqual([1, 1]);
  const [post] = web.posts;
  const body = JSON.parse(post?.body ?? "") as AlertMessage & { text: string };
  expect(body).toMatchObject({
    status: "trouble",
    began: [{ next: "Check the key. It is tried again by itself at 2026-11-21T12:05:00.000Z." }],
  });
  expect(post?.headers["x-fuelbridge-signature"]).toBe(
    `sha256=${createHmac("sha256", "signing-key")
      .update(post?.body ?? "")
      .digest("hex")}`,
  );
  const [sent] = mail.mails;
  expect(sent?.to).toEqual(["<ann@example.com>", "<bob@example.com>"]);
  expect(sent?.text).toContain(`Message-ID: <${body.id}@example.com>`);
  expect(sent?.text).toContain("Next: Check the key.");
  expect(sent?.text).toContain("Subject: fuelbridge bluebonnet: Stopped: credentials, platform");
  expect(mail.logins).toEqual([" alerts canary-password"]);
});

test("fuelbridge alerts test sends to each channel of the configuration and names the one that fails", async () => {
  const web = await webReceiver();
  const mail = await mailReceiver();
  const { file } = configuredSite((text) =>
    text.concat(
      "\nalerts:\n  webhook: { url: '${ALERT_URL}' }\n  email:\n    host: 127.0.0.1\n",
      `    port: ${mail.port}\n    tls: none\n    user: alerts\n    password: '\${ALERT_PASSWORD}'\n`,
      "    from: fuelbridge@example.com\n    to: [ann@example.com]\n  quietHours: { from: '19:00', to: '07:00' }\n",
    ),
  );
  vi.stubEnv("ALERT_URL", web.url);
  vi.stubEnv("ALERT_PASSWORD", "canary-password");
  const tried = await commandHere("alerts", "test", "--config", file);
  expect(tried).toMatchObject({ code: 0, out: "webhook: sent\nemail: sent\n" });
  expect(JSON.parse(web.posts[0]?.body ?? "")).toMatchObject({ status: "test" });
  vi.stubEnv("ALERT_URL", "http://127.0.0.1:9/hook-canary");
  const failed = await commandHere("alerts", "test", "--config", file);
  expect(failed.code).toBe(1);
  expect(failed.out).toMatch(/^webhook: not sent: .*\nemail: sent\n$/);
  expect(failed.out).not.toContain("canary");
});

test("what will stop unless a person acts is said in status and is one alert, which the next day does not repeat", () => {
  const soon = (days: number) => ({
    ...WELL,
    warnings: [
      {
        endpoint: "books",
        code: "authorise-soon",
        message: `the authorisation ends in ${days} days`,
        next: "Run `fuelbridge quickbooks authorise`.",
      },
    ],
  });
  const conditions = (status: Status) => conditionsOf(status, { unreachableMs: MINUTE }, 0);
  expect(statusText(soon(7))).toContain(
    "books will stop unless a person acts: the authorisation ends in 7 days.\n  Run `fuel",
  );
  const [today, tomorrow] = [conditions(soon(7)), conditions(soon(6))];
  expect(today).toMatchObject([{ key: "warning books authorise-soon", urgent: false }]);
  expect(tomorrow.map(({ key }) => key)).toEqual(today.map(({ key }) => key));
});
