/**
 * The settings of one installation: what each may be, what it becomes, and its description, which editors show and error
 * messages offer. What comes out has durations in milliseconds, and the usual value of what is left out.
 */
import { validate as isCron } from "node-cron";
import { z } from "zod";
import { usualBudget } from "../core/budget.ts";
import { type Connector, type Mapping, WAIT_MS } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { holdingKinds } from "../core/holdings.ts";
import { type Kind, kinds } from "../core/kinds.ts";
import { choice, duration, faultOfAddress, ruled } from "../core/settings.ts";
import { DAY_MS, faultOfDay, faultOfTimeZone } from "../core/time.ts";
import { LATE_MS } from "../core/watermark.ts";
import { usualLimits } from "../engine/engine.ts";
import { ignorable } from "../ledger/compare.ts";
import { SECRET_LENGTH_MIN } from "./scrub.ts";

/** Names enter the store and file names; they are checked where the configuration is read. */
export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HOST = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+)$/;
const END = /^([a-z0-9][a-z0-9-]*)\.([A-Za-z][A-Za-z0-9-]*)$/;

/** A setting that must not be readable by others. A connector may write `.meta({ secret: true })` itself. */
export const secret = (description: string): z.ZodString =>
  z.string().min(SECRET_LENGTH_MIN).meta({ secret: true, description });

/** One that people put elsewhere. */
const kept = (what: string): z.ZodString =>
  secret(`${what}: \${file:PATH} of a file with mode 0600, or \${VARIABLE}.`);

/** A setting that may be left out: then it is null. */
const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value ?? null);

const group = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.strictObject(shape).describe(description);
/** A group that may be left out: each of its settings has a usual value. */
const usualGroup = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(description);
const text = (description: string) => z.string().min(1).describe(description);
const flag = (description: string) => z.boolean().default(false).describe(description);
const whole = (least: number, most: number, description: string) =>
  z.int().min(least).max(most).describe(description);
const percent = (what: string) => whole(0, 45, `${what}: percent, 0 to 45.`);
const port = (least: 0 | 1, description: string) => whole(least, 65_535, description);

const address = ruled(faultOfAddress).transform((text) => text.replace(/\/+$/, ""));

const cron = z
  .string()
  .refine(
    (text) => /^\S+( \S+){4}$/.test(text) && isCron(text),
    "is not a cron expression, or one of a day that never comes",
  );

const budget = z.strictObject({
  perMonth: whole(
    1,
    100_000_000,
    "How many requests the platform allows this key in a calendar month (UTC): a number.",
  ).default(usualBudget.perMonth),
  perMinute: whole(
    1,
    100_000,
    "How many requests the platform allows this key in a minute: a number.",
  ).default(usualBudget.perMinute),
  reserve: usualGroup("What polling may not use of the month: writes and readBacks, in percent.", {
    writes: percent("What of the month is kept for writes").default(usualBudget.reserve.writes),
    readBacks: percent("What of the month is kept for looking for uncertain writes").default(
      usualBudget.reserve.readBacks,
    ),
  }),
  share: usualGroup(
    "What may be used of the month at most: audit, and hour (by all but writes, before looks are slowed), in percent.",
    {
      audit: percent("What reconciliation may use of the month at most").default(
        usualBudget.share.audit,
      ),
      hour: percent("What all but writes may use of the month within an hour").default(
        usualBudget.share.hour,
      ),
    },
  ),
});

const platform = group("The fuel-logistics platform.", {
  url: address.describe("The address of the API, for example https://api.example.com/v1/public."),
  formerUrls: z
    .array(address)
    .default([])
    .describe(
      "Addresses at which the same platform was before. The store belongs to one platform, and another address is " +
        "refused unless the one before stands here.",
    ),
  environment: z
    .enum(["live", "test"])
    .describe("live or test: which kind of key it is (svc_live_ or svc_test_)."),
  apiKey: kept("The API key"),
  auth: choice(
    ["bearer", "x-api-key"],
    "bearer (Authorization) or x-api-key: the header that carries the key.",
  ),
  overlap: duration("How far each walk reaches back before the last one").default(300_000),
  late: duration(
    "How late a record may be committed with an older time and still be found: each night every feed is read anew from " +
      "the last night that succeeded, and so long before it",
  ).default(LATE_MS),
  settle: orNull(
    duration(
      "Instead of the built-in times: how long an uncertain request rests before it is looked for (test systems only)",
    ),
  ),
  budget: budget
    .prefault({})
    .describe("The requests that the platform allows, and who may use them."),
  hub: orNull(
    group(
      "The hub that reads the platform's feeds for all sites with this API key: url and token.",
      {
        url: address.describe("The address of the hub, for example http://127.0.0.1:8791."),
        token: kept("This site's token at the hub"),
      },
    ),
  ),
}).transform(({ overlap, late, settle, ...rest }) => ({
  ...rest,
  /** The address that the store is bound to: `url`, unless only this process has the platform elsewhere. */
  knownAs: rest.url,
  overlapMs: overlap,
  /** How late a record may be committed and still be found by a nightly run. */
  lateMs: late,
  /** Null: the built-in settling times. */
  settleMs: settle,
}));

/** `platform.orders`: a source or sink of an endpoint. */
export interface End {
  readonly endpoint: string;
  readonly name: string;
}

/** Null when it is not `ENDPOINT.NAME`. */
export function endOf(text: unknown): End | null {
  const [, endpoint, name] = (typeof text === "string" ? END.exec(text) : null) ?? [];
  return endpoint === undefined || name === undefined ? null : { endpoint, name };
}

const end = z
  .string()
  .regex(END)
  .transform((text) => endOf(text) as End);

/** How close and how far apart looks are with `every: auto`, unless the flow says so. */
const AUTO_LEAST_MS = 15_000;
const AUTO_MOST_MS = 3_600_000;

/** A flow: a mapping put to work. What the parts cannot say alone is checked by flows.ts. */
const flowSchema = (mappings: readonly string[]) =>
  z
    .strictObject({
      mapping: (mappings.length > 0 ? z.enum(mappings) : z.string()).describe(
        "A mapping: what is read, and what it becomes.",
      ),
      from: end.describe("What is read: ENDPOINT.SOURCE, for example platform.orders."),
      to: end.describe("What is written: ENDPOINT.SINK, for example erp.orders."),
      every: z
        .union([z.literal("auto"), duration("How often, at least 10s")])
        .describe(
          "How often, at least 10s; auto: as often as the month's requests allow, when it is worth most (of what is read from the platform).",
        )
        .optional(),
      atLeast: duration("With every: auto, two looks are no closer than this").optional(),
      atMost: duration("With every: auto, two looks are no further apart than this").optional(),
      cron: cron
        .optional()
        .describe(
          'When, in timeZone: five fields, for example "0 6 * * 1-5" for 6:00 on weekdays.',
        ),
      options: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("What the mapping lets a site set: a group of settings."),
      paused: flag("true: reads and writes nothing until it is false."),
      duplicates: choice(
        ["wait", "deliver"],
        "An invoice, bill, payment, order or ticket that looks like another one of its source (the same party, and the same " +
          "number, or the same amount, day and reference, under another id), or like one that the other side has: wait holds " +
          "it for a person before anything is sent, deliver sends it like all others.",
      ),
      silence: z
        .union([z.literal("off"), duration("When a flow that brings nothing is told")])
        .optional()
        .describe(
          "A person is told when the flow brings nothing new for so long: 4h, 2d. Left out: for longer than it usually does at " +
            "this hour of the week. off: never.",
        ),
      list: z
        .strictObject({
          lostPercent: whole(
            0,
            100,
            "A list that lacks more than this share of what it had is taken for torn: nothing is concluded from what it lacks. 100: never.",
          ).default(usualLimits.lostPercent),
          growthTimes: whole(
            2,
            1_000_000,
            "A list of more than so many times what it had, and of 1,000 new records or more, waits for a person.",
          ).default(usualLimits.growthTimes),
        })
        .optional()
        .describe("When a whole list that the flow reads is not believed."),
      attach: z
        .enum(["pdf"])
        .optional()
        .describe(
          "pdf: the platform's PDF is attached to each document that this flow books, one request each.",
        ),
      attachSince: z.iso
        .date()
        .optional()
        .describe(
          "With attach: documents that were last delivered on this day (YYYY-MM-DD, UTC) or later get their PDF, too; left " +
            "out: only those that are delivered from now on.",
        ),
    })
    .transform(({ every = 0, atLeast, atMost, cron, silence, list, ...rest }) => {
      const { options: _, ...flow } = rest;
      const mostMs = atMost ?? AUTO_MOST_MS;
      const auto = { leastMs: atLeast ?? Math.min(AUTO_LEAST_MS, mostMs) };
      return {
        ...flow,
        schedule:
          cron !== undefined
            ? { cron }
            : every === "auto"
              ? { everyMs: mostMs, auto }
              : { everyMs: every },
        /** ms; infinite: `off`. Left out: as its source says, else it is learned. */
        ...defined({ silenceMs: silence === "off" ? Infinity : silence, limits: list }),
      };
    });

const reconcile = z
  .strictObject({
    cron: cron
      .default("20 4 * * *")
      .describe('When, in timeZone: five fields, by default "20 4 * * *" for 4:20 every night.'),
    days: whole(1, 366, "How many days a nightly run looks back, 1 to 366: a number.").default(35),
    wait: duration(
      "How long a comparison waits for books that call us (QuickBooks Desktop) before it goes on without them",
    )
      .refine((ms) => ms <= DAY_MS, "is longer than a day")
      .default(WAIT_MS),
    paused: flag("true: the daemon does not reconcile by itself; the command still does."),
  })
  .transform(({ wait, ...rest }) => ({ ...rest, waitMs: wait }));

const basis = z.enum(["net", "gross"]);

/** How orders, tickets, invoices and prices are compared with each other. */
const match = z
  .strictObject({
    days: whole(
      1,
      366,
      "How many days back invoices and deliveries are compared each night, 1 to 366: a number.",
    ).default(62),
    tolerancePercent: z
      .number()
      .min(0)
      .max(10)
      .default(0.5)
      .describe("Billed and delivered gallons may differ by so many percent, 0 to 10: a number."),
    toleranceGallons: z
      .number()
      .min(0)
      .max(1_000)
      .default(25)
      .describe("Or by so many gallons, whichever is more: a number."),
    basis: choice(
      ["usual", "net", "gross"],
      "On which gallons is billed: net, gross, or usual (what a party's invoices usually say).",
    ),
    parties: z
      .record(z.string(), basis)
      .default({})
      .describe("Another basis by party: the id that the platform has for it, and net or gross."),
    patience: duration("How long a ticket may come later than its invoice").default(2 * DAY_MS),
    unbilledDays: whole(
      0,
      60,
      "After how many working days a signed delivery should be billed: a number.",
    ).default(3),
    pricesBefore: flag(
      "true: fuel is loaded the evening before, so the price list before the one in force at delivery counts as well.",
    ),
    alertAbove: orNull(
      z
        .number()
        .min(0)
        .describe(
          "A finding of more than this amount is told as an alert: a number. Left out: none.",
        ),
    ),
  })
  .transform(({ patience, ...rest }) => ({ ...rest, patienceMs: patience }));

/** What a site is called that does not say so: it has its API key for itself. */
export const MAIN_SITE = "main";

const TYPE = "embedded (this process) or bullmq (workers, over Redis).";

const weight = whole(
  1,
  1_000,
  "How much of the minute and the month it has beside the other sites, by their weights: a number. Left out: 1, and of a hub as much as the sites that it reads for.",
).optional();

/** Who carries requests to the platform: this process, or workers that share its API key over Redis. */
const queue = z.union([
  z.strictObject({ type: z.literal("embedded").describe(TYPE), weight }),
  z.strictObject({
    type: z.literal("bullmq").describe(TYPE),
    url: ruled(faultOfRedis).describe(
      "The address of Redis: redis://HOST:6379, or rediss://HOST:6379 over TLS.",
    ),
    username: orNull(text("The user at Redis, where it has users.")),
    password: orNull(kept("The password at Redis")),
    site: z
      .string()
      .regex(NAME)
      .max(40)
      .default(MAIN_SITE)
      .describe(
        "Which of the daemons with this API key it is: up to 40 lower-case letters, digits and hyphens, different for each.",
      ),
    weight,
  }),
]);

const values = z.array(z.string().min(1)).min(1);
const siteRule = z
  .strictObject({
    kind: z
      .array(z.enum(Object.keys(kinds) as Kind[]))
      .min(1)
      .optional()
      .describe(
        "Kinds of records that it is about, for example [customer, supplier]. Left out: all.",
      ),
    number: values.optional().describe('Numbers of invoices and tickets, for example ["N-*"].'),
    party: values
      .optional()
      .describe("Customers, payers, suppliers: ids of the platform and codes of the books."),
    terminal: values
      .optional()
      .describe("Where it is loaded: id, code or name; of prices the list."),
    location: values.optional().describe("Where it is delivered: id or name."),
    product: values.optional().describe("Products, as the side that tells the record names them."),
    reference: values
      .optional()
      .describe("The other side's number: purchase order, contract, bill of lading."),
  })
  .refine((rule) => Object.keys(rule).length > 0, "names no field");

/** Nothing secret in an address, and none that is not one of Redis. */
function faultOfRedis(text: string): string | null {
  if (!URL.canParse(text)) return "is not an address";
  const { protocol, hostname, username, password, pathname } = new URL(text);
  if (username !== "" || password !== "") return "carries a user name or password";
  if (protocol !== "redis:" && protocol !== "rediss:") return "is no address of Redis";
  if (hostname === "") return "names no host";
  return /^(\/\d*)?$/.test(pathname) ? null : "ends in something that is no number of a database";
}

/** Where people with a browser find the console. */
const web = group("The console for people with a browser. Left out: there is none.", {
  port: port(0, "The console's port, 0 for any free one."),
  host: text(
    "The address of this machine that it listens on, by default 127.0.0.1: only this machine. Any other needs certificate, key, names and a user.",
  ).default("127.0.0.1"),
  names: z
    .array(z.string().regex(HOST))
    .default([])
    .describe("What browsers call this machine: lower-case host names, without a port."),
  certificate: text("The file of the TLS certificate with its chain, PEM.").optional(),
  key: text("The file of the certificate's key, PEM.").optional(),
  url: z
    .string()
    .regex(/^https:\/\/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/)
    .optional()
    .describe(
      "Where browsers find it behind a proxy of your own: https://NAME or https://NAME:PORT. Links in messages begin so.",
    ),
  proxies: z
    .array(z.union([z.ipv4(), z.ipv6()]))
    .default([])
    .describe(
      "The addresses of proxies of your own. Of what comes from them, X-Forwarded-For says who asked; from others it counts for nothing.",
    ),
}).transform(listening);

interface Listening {
  readonly host: string;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

function listening<Written extends Listening>({ host, certificate, key, ...rest }: Written) {
  return {
    ...rest,
    host: host === "localhost" ? "127.0.0.1" : host,
    /** The files of a certificate with its chain, and of its key; null: HTTP, on the loopback address alone. */
    tls: certificate === undefined || key === undefined ? null : { certificate, key },
  };
}

export type WebConfig = Readonly<z.output<typeof web>>;

export type HubConfig = NonNullable<Settings["hub"]>;

/** Where people find the console that listens on `port`: an origin, without a slash at its end. */
export function consoleOrigin({ url, names, host, tls }: WebConfig, port: number): string {
  const name = names[0] ?? (host === "::1" ? "[::1]" : host);
  return url ?? `${tls === null ? "http" : "https"}://${name}:${port}`;
}

const named = <Value extends z.ZodType>(what: string, value: Value) =>
  z.record(z.string(), value).meta({
    description: `${what} by name: lower-case letters, digits and hyphens.`,
    propertyNames: { pattern: NAME.source },
  });

/** Where sites ask a daemon that reads the platform's feeds for all of them. */
const hub = group(
  "This daemon is a hub: it reads the platform's feeds for all sites with its API key, and each site asks it for its own.",
  {
    port: port(1, "The port on which sites ask it: a number."),
    host: text(
      "The address of this machine that it listens on, by default 127.0.0.1: only this machine. Any other needs certificate and key.",
    ).default("127.0.0.1"),
    certificate: text("The file of the TLS certificate with its chain, PEM.").optional(),
    key: text("The file of the certificate's key, PEM.").optional(),
    tokens: named("The token of each site", kept("The site's token")),
  },
).transform(listening);

const admin = group(
  "The local admin interface, and under web the console for people with a browser.",
  {
    port: port(0, "A port of this machine's loopback address, 0 for any free one.").default(0),
    web: orNull(web),
  },
);

const monitoring = group("What a monitor on this machine may ask, for example Prometheus.", {
  port: orNull(
    port(
      1,
      "A port of this machine's loopback address that answers /healthz, /readyz and /metrics without a token.",
    ),
  ),
});

const retention = group(
  "How long what nothing rests on any more is kept. Links, keys, hashes, the audit, and what each document was last " +
    "delivered by are always kept.",
  {
    replaced: duration(
      "How long the bytes of a request are kept after a newer version of every document in it was delivered",
    ).default(730 * DAY_MS),
    differences: duration(
      "How long both values of a difference are kept after both sides agreed again",
    ).default(730 * DAY_MS),
    paused: flag("true: everything is kept for ever."),
  },
).transform(({ replaced, differences, paused }) => ({
  /** Null: for ever. */
  replacedMs: paused ? null : replaced,
  differencesMs: paused ? null : differences,
}));

const mailbox = z
  .string()
  .regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/)
  .meta({ description: "An e-mail address, for example office@example.com." });

/** In minutes of the day. */
const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .meta({ description: "A time of the day in timeZone, for example 19:00." })
  .transform((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));

/** Whom to tell of what is wrong, and when. */
const alerts = group(
  "Whom to tell when something goes wrong, or is well again: webhook and email.",
  {
    webhook: orNull(
      group("Messages as JSON over HTTPS: url and key.", {
        url: secret(
          "Where messages are posted as JSON: ${file:PATH} or ${VARIABLE}, since such addresses are secrets. https only.",
        ).refine(isWebhook, "is no https address"),
        key: orNull(
          secret(
            "Signs each message (HMAC-SHA-256, header X-Fuelbridge-Signature): ${file:PATH} or ${VARIABLE}.",
          ),
        ),
      }),
    ),
    email: orNull(
      group("Messages by e-mail: host, port, tls, user, password, from and to.", {
        host: text("The mail server, for example smtp.example.com."),
        port: port(1, "Its port: a number.").default(587),
        tls: choice(
          ["starttls", "implicit", "none"],
          "starttls (port 587), implicit (port 465) or none (this machine's own server).",
        ),
        user: orNull(text("The user at the mail server.")),
        password: orNull(kept("Its password")),
        from: mailbox,
        to: z.array(mailbox).min(1).describe("Who gets the messages: a list of e-mail addresses."),
      }),
    ),
    collect: duration("How long changes are collected before they are told in one message").default(
      120_000,
    ),
    unreachable: duration("How long a side cannot be reached before that is told").default(
      1_800_000,
    ),
    quietHours: orNull(
      group("When only what is urgent is told: from and to, in timeZone.", {
        from: timeOfDay,
        to: timeOfDay,
      }),
    ),
  },
).transform(({ collect, unreachable, quietHours, ...channels }) => ({
  ...channels,
  collectMs: collect,
  unreachableMs: unreachable,
  /** Minutes of the day in the site's time zone; what is not urgent waits for `to`. Null: none. */
  quiet: quietHours,
}));

export type AlertsConfig = z.output<typeof alerts>;

function isWebhook(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
}

const CONNECTOR = "Which connector speaks to it; the other settings are that connector's.";

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** When people wait for documents: what `every: auto` looks for most. */
const officeHours = group("When people work, in timeZone: days, from, to and holidays.", {
  days: z
    .array(z.enum(WEEKDAYS))
    .min(1)
    .default(["mon", "tue", "wed", "thu", "fri"])
    .describe("The days of the week: mon, tue, wed, thu, fri, sat, sun."),
  from: timeOfDay,
  to: timeOfDay,
  holidays: z
    .array(z.iso.date())
    .default([])
    .describe("Days (YYYY-MM-DD) on which nobody works: they count as Sundays."),
}).transform(({ days, ...rest }) => ({ ...rest, days: days.map((day) => WEEKDAYS.indexOf(day)) }));

const schemaOf = (names: readonly string[], mappings: readonly string[]) =>
  z.strictObject({
    version: z.literal(1).describe("1: the version of this file's form."),
    company: z
      .string()
      .regex(NAME)
      .max(40)
      .describe(
        "A label for the company: up to 40 lower-case letters, digits and hyphens. It is part of every idempotency " +
          "key: never change it.",
      ),
    currency: z
      .string()
      .refine((text) => Intl.supportedValuesOf("currency").includes(text), "is not a currency")
      .describe("The currency of the books: its ISO 4217 code, for example USD."),
    timeZone: ruled(faultOfTimeZone).describe("An IANA time zone, for example America/Chicago."),
    officeHours: orNull(officeHours),
    state: text(
      "The folder of the store, on a local disk. Relative paths start at this file's folder.",
    ),
    firstStart: ruled((text) => (text === "" ? null : faultOfDay(text)))
      .default("")
      .describe(
        "The day on which fuelbridge works for this company for the first time, for example 2026-11-22. Needed when " +
          "the platform already has its connections or invoices; it counts within a day of that.",
      )
      .transform((day) => (day === "" ? null : day)),
    log: usualGroup("What is logged.", {
      level: z
        .enum(["debug", "info", "warn", "error"])
        .default("info")
        .describe("debug, info, warn or error. Payloads are logged at debug only."),
    }),
    platform,
    endpoints: named(
      "The company's own systems",
      z.looseObject({
        connector: (names.length > 0 ? z.enum(names) : z.string()).describe(CONNECTOR),
      }),
    ),
    mappings: text(
      "The folder of this site's own mappings (TypeScript or JavaScript): docs/site-mappings.md.",
    ).optional(),
    crossReferences: text(
      "The folder of the cross-reference tables (CSV), by default crossref.",
    ).optional(),
    flows: named("What is kept in step", flowSchema(mappings)),
    ignore: z
      .partialRecord(
        z.enum(holdingKinds),
        z
          .array(z.enum(ignorable))
          .describe(
            `Fields that may differ: ${ignorable.join(", ")}. Nothing else can be ignored.`,
          ),
      )
      .default({})
      .describe("Fields that no comparison of both sides looks at, by kind of document."),
    reconcile: reconcile
      .prefault({})
      .describe("When the daemon compares both sides by itself, and how far back."),
    match: match
      .prefault({})
      .describe(
        "How orders, delivery tickets, invoices and prices are compared: tolerances, basis, patience, alerts.",
      ),
    queue: queue
      .prefault({ type: "embedded" })
      .describe("Who carries requests to the platform: type embedded or bullmq."),
    sites: orNull(
      named(
        "Whose records are whose, where several sites share the API key: the rules of each site",
        z.array(siteRule).min(1),
      ),
    ),
    hub: orNull(hub),
    console: admin.prefault({}),
    monitoring: monitoring.prefault({}),
    alerts: alerts.prefault({}),
    retention: retention.prefault({}),
  });

/**
 * Endpoints are only sorted by connector here; {@link Connector.config} parses the rest. The same object for the same
 * names: to build one, and what zod compiles of it, takes longer than to read a configuration.
 */
export function settingsSchema(connectors: readonly Connector[], mappings: readonly string[]) {
  const names = connectors.map(({ name }) => name);
  const key = JSON.stringify([names, mappings]);
  const made = schemas.get(key) ?? schemaOf(names, mappings);
  schemas.set(key, made);
  return made;
}

const schemas = new Map<string, ReturnType<typeof schemaOf>>();

export type Settings = z.output<ReturnType<typeof schemaOf>>;

/** The settings as JSON Schema: editors complete and explain from it, and our own messages take their words from it. */
export interface JsonSchema {
  readonly description?: string;
  readonly secret?: boolean;
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** Of one schema the same object each time: nobody changes it. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const made =
    converted.get(schema) ??
    (z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);
  converted.set(schema, made);
  return made;
}

const converted = new WeakMap<z.ZodType, JsonSchema>();

export type WithOptions = Pick<Mapping, "name" | "options">;

/** All settings, those of the connectors included. */
export function fullSchema(
  connectors: readonly Connector[],
  mappings: readonly WithOptions[],
): JsonSchema {
  const names = mappings.map(({ name }) => name);
  const { $schema, ...settings } = toJsonSchema(settingsSchema(connectors, names));
  const { endpoints, flows } = settings.properties ?? {};
  const flow = flows?.additionalProperties as JsonSchema | undefined;
  const anyOf = connectors.map(({ name, config }) => {
    const { $schema: _, properties, required, ...rest } = toJsonSchema(config);
    return {
      ...rest,
      properties: { connector: { const: name, description: CONNECTOR }, ...properties },
      required: ["connector", ...((required as string[] | undefined) ?? [])],
    };
  });
  const mapping = orOfSite(flow?.properties?.["mapping"], names);
  const ofFlow = { ...flow, properties: { ...flow?.properties, mapping } };
  return {
    $schema,
    title: "fuelbridge",
    ...settings,
    properties: {
      ...settings.properties,
      endpoints: { ...endpoints, additionalProperties: { anyOf } },
      flows: { ...flows, additionalProperties: { ...ofFlow, anyOf: optionsOf(mappings) } },
    },
  };
}

/** Editors do not know the mappings of a site: any name does that is in no folder of the shipped ones. */
function orOfSite(mapping: JsonSchema = {}, names: readonly string[]): JsonSchema {
  const { description = "", ...shipped } = mapping;
  const folders = [...new Set(names.map((name) => name.split("/", 1)[0]))].join("|");
  const own = { type: "string", pattern: `^(?!(?:${folders})/)[a-z0-9-]+/[a-z0-9-]+$` };
  return { description, anyOf: [shipped, own] };
}

/** What `options` may say, by the mapping of the flow. */
function optionsOf(mappings: readonly WithOptions[]): JsonSchema[] {
  const declaring = mappings.filter(({ options }) => options !== undefined);
  const each = declaring.map(({ name, options }) => {
    const { $schema: _, ...schema } = toJsonSchema(options as z.ZodType);
    return { properties: { mapping: { const: name }, options: schema } };
  });
  const others = { not: { enum: declaring.map(({ name }) => name) } };
  return [...each, { properties: { mapping: others } }];
}
