/** The settings of one installation. Descriptions are what editors show and what error messages offer. */
import { z } from "zod";
import { ignorable } from "../ledger/compare.ts";
import { duration, faultOfAddress } from "../core/settings.ts";
import { usualBudget } from "../core/budget.ts";
import { holdingKinds } from "../core/holdings.ts";
import { type Connector, type Mapping, WAIT_MS } from "../core/contract.ts";
import { faultOfDay, faultOfTimeZone } from "../core/time.ts";
import { LATE_MS } from "../core/watermark.ts";
import { alerts } from "./alerts.ts";
import { cron, flowSchema } from "./flows.ts";
import { type JsonSchema, toJsonSchema, withReferences } from "./json-schema.ts";
import { queueSchema } from "./queue.ts";
import { orNull, secret } from "./secret.ts";
import { webSchema } from "./web.ts";

const DAY_MS = 86_400_000;

/** Names enter the store and file names; they are checked where the configuration is read. */
export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const named = <Value extends z.ZodType>(what: string, value: Value) =>
  z.record(z.string(), value).meta({
    description: `${what} by name: lower-case letters, digits and hyphens.`,
    propertyNames: { pattern: NAME.source },
  });

const percent = (what: string) => z.int().min(0).max(45).describe(`${what}: percent, 0 to 45.`);

const budget = z.strictObject({
  perMonth: z
    .int()
    .min(1)
    .max(100_000_000)
    .default(usualBudget.perMonth)
    .describe(
      "How many requests the platform allows this key in a calendar month (UTC): a number.",
    ),
  perMinute: z
    .int()
    .min(1)
    .max(100_000)
    .default(usualBudget.perMinute)
    .describe("How many requests the platform allows this key in a minute: a number."),
  reserve: z
    .strictObject({
      writes: percent("What of the month is kept for writes").default(usualBudget.reserve.writes),
      readBacks: percent("What of the month is kept for looking for uncertain writes").default(
        usualBudget.reserve.readBacks,
      ),
    })
    .prefault({})
    .describe("What polling may not use of the month: writes and readBacks, in percent."),
  share: z
    .strictObject({
      audit: percent("What reconciliation may use of the month at most").default(
        usualBudget.share.audit,
      ),
    })
    .prefault({})
    .describe("What a purpose may use of the month at most: audit, in percent."),
});

const address = z
  .string()
  .superRefine(complainBy(faultOfAddress))
  .transform((text) => text.replace(/\/+$/, ""));

const platform = z.strictObject({
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
  apiKey: secret("The API key: ${file:PATH} of a file with mode 0600, or ${VARIABLE}."),
  auth: z
    .enum(["bearer", "x-api-key"])
    .default("bearer")
    .describe("bearer (Authorization) or x-api-key: the header that carries the key."),
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
});

const reconcile = z.strictObject({
  cron: cron
    .default("20 4 * * *")
    .describe('When, in timeZone: five fields, by default "20 4 * * *" for 4:20 every night.'),
  days: z
    .int()
    .min(1)
    .max(366)
    .default(35)
    .describe("How many days a nightly run looks back, 1 to 366: a number."),
  wait: duration(
    "How long a comparison waits for books that call us (QuickBooks Desktop) before it goes on without them",
  )
    .refine((ms) => ms <= DAY_MS, "is longer than a day")
    .default(WAIT_MS),
  paused: z
    .boolean()
    .default(false)
    .describe("true: the daemon does not reconcile by itself; the command still does."),
});

const admin = z
  .strictObject({
    port: z
      .int()
      .min(0)
      .max(65_535)
      .default(0)
      .describe("A port of this machine's loopback address, 0 for any free one."),
    web: webSchema.optional(),
  })
  .describe("The local admin interface, and under web the console for people with a browser.");

const monitoring = z
  .strictObject({
    port: orNull(
      z
        .int()
        .min(1)
        .max(65_535)
        .describe(
          "A port of this machine's loopback address that answers /healthz, /readyz and /metrics without a token.",
        ),
    ),
  })
  .describe("What a monitor on this machine may ask, for example Prometheus.");

const retention = z
  .strictObject({
    replaced: duration(
      "How long the bytes of a request are kept after a newer version of every document in it was delivered",
    ).default(730 * DAY_MS),
    differences: duration(
      "How long both values of a difference are kept after both sides agreed again",
    ).default(730 * DAY_MS),
    paused: z.boolean().default(false).describe("true: everything is kept for ever."),
  })
  .describe(
    "How long what nothing rests on any more is kept. Links, keys, hashes, the audit, and what each document was last " +
      "delivered by are always kept.",
  )
  .transform(({ replaced, differences, paused }) => ({
    replacedMs: paused ? null : replaced,
    differencesMs: paused ? null : differences,
  }));

const siteMappings = z
  .string()
  .min(1)
  .describe(
    "The folder of this site's own mappings (TypeScript or JavaScript): docs/site-mappings.md.",
  );

const CONNECTOR = "Which connector speaks to it; the other settings are that connector's.";

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

function schemaOf(names: readonly string[], mappings: readonly string[]) {
  return z.strictObject({
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
    timeZone: z
      .string()
      .superRefine(complainBy(faultOfTimeZone))
      .describe("An IANA time zone, for example America/Chicago."),
    state: z
      .string()
      .min(1)
      .describe(
        "The folder of the store, on a local disk. Relative paths start at this file's folder.",
      ),
    firstStart: z
      .string()
      .superRefine(complainBy((text) => (text === "" ? null : faultOfDay(text))))
      .default("")
      .describe(
        "The day on which fuelbridge works for this company for the first time, for example 2026-11-22. Needed when " +
          "the platform already has its connections or invoices; it counts within a day of that.",
      )
      .transform((day) => (day === "" ? null : day)),
    log: z
      .strictObject({
        level: z
          .enum(["debug", "info", "warn", "error"])
          .default("info")
          .describe("debug, info, warn or error. Payloads are logged at debug only."),
      })
      .prefault({})
      .describe("What is logged."),
    platform: platform.describe("The fuel-logistics platform."),
    endpoints: named(
      "The company's own systems",
      z.looseObject({
        connector: (names.length > 0 ? z.enum(names) : z.string()).describe(CONNECTOR),
      }),
    ),
    mappings: siteMappings.optional(),
    crossReferences: z
      .string()
      .min(1)
      .optional()
      .describe("The folder of the cross-reference tables (CSV), by default crossref."),
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
    queue: queueSchema(NAME)
      .prefault({ type: "embedded" })
      .describe("Who carries requests to the platform: type embedded or bullmq."),
    console: admin.prefault({}),
    monitoring: monitoring.prefault({}),
    alerts: alerts.prefault({}),
    retention: retention.prefault({}),
  });
}

export type Settings = z.output<ReturnType<typeof settingsSchema>>;

/** All settings, those of the connectors included. */
export function fullSchema(
  connectors: readonly Connector[],
  mappings: readonly WithOptions[],
): JsonSchema {
  const names = mappings.map(({ name }) => name);
  const { $schema, ...settings } = toJsonSchema(settingsSchema(connectors, names));
  const endpoints = settings.properties?.["endpoints"];
  const flows = settings.properties?.["flows"];
  const flow = flows?.additionalProperties as JsonSchema | undefined;
  const anyOf = connectors.map(({ name, config }) => {
    const { $schema: _, properties, required, ...rest } = toJsonSchema(config);
    return {
      ...rest,
      properties: { connector: { const: name, description: CONNECTOR }, ...properties },
      required: ["connector", ...((required as string[] | undefined) ?? [])],
    };
  });
  return {
    $schema,
    title: "fuelbridge",
    ...settings,
    properties: {
      ...settings.properties,
      endpoints: { ...endpoints, additionalProperties: { anyOf } },
      flows: {
        ...flows,
        additionalProperties: {
          ...flow,
          properties: {
            ...flow?.properties,
            mapping: orOfSite(flow?.properties?.["mapping"], names),
          },
          anyOf: optionsOf(mappings),
        },
      },
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

type WithOptions = Pick<Mapping, "name" | "options">;

/** What `options` may say, by the mapping of the flow. */
function optionsOf(mappings: readonly WithOptions[]): JsonSchema[] {
  const declaring = mappings.filter(({ options }) => options !== undefined);
  const each = declaring.map(({ name, options }) => {
    const { $schema: _, ...schema } = toJsonSchema(options as z.ZodType);
    return { properties: { mapping: { const: name }, options: schema } };
  });
  return [
    ...each,
    { properties: { mapping: { not: { enum: declaring.map(({ name }) => name) } } } },
  ];
}

/** For editors, through the modeline at the top of a configuration. */
export const jsonSchema = (
  connectors: readonly Connector[],
  mappings: readonly WithOptions[],
): JsonSchema => withReferences(fullSchema(connectors, mappings));

/** For what a schema cannot say: `fault` is the end of a sentence that begins with the text; null: it is right. */
function complainBy(fault: (text: string) => string | null) {
  return (text: string, context: z.RefinementCtx): void => {
    const message = fault(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  };
}
