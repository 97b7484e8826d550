/**
 * The log: one JSON object a line, or readable lines on a terminal. Lines leave synchronously, so the last words of a
 * process that dies are not lost; and every line passes the scrubber as its last stage, after all else has been added
 * to it. What must be kept is in the store, not here.
 */
import { createRequire } from "node:module";
import { destination as openDescriptor, type Level, type Logger, pino } from "pino";
import type * as Pretty from "pino-pretty";
import { scrubber, scrubValue } from "./config/scrub.ts";

export type { Logger } from "pino";

interface LogOptions {
  readonly level: Level;
  /** Values that no line may show. */
  readonly secrets: readonly string[];
  /** Standard error when standard output is for an answer. */
  readonly to?: "stdout" | "stderr";
  /** For tests: takes whole lines. */
  readonly write?: (line: string) => void;
  readonly pretty?: boolean;
  /** Called before every line: takes away what else stands on the terminal's last line. */
  readonly aside?: () => void;
}

/** What a request or record carries. Customers' data is in them: at debug they are logged, above they are left out. */
const PAYLOADS = new Set(["payload", "body", "document", "text"]);
const DEBUG = 20;

export function openLog(options: LogOptions): Logger {
  const stream = options.to === "stderr" ? process.stderr : process.stdout;
  const pretty = options.pretty ?? stream.isTTY;
  const write = options.write ?? descriptorWriter(stream.fd);
  const scrub = scrubber(options.secrets);
  const format = pretty ? readable(stream.isTTY && !process.env["NO_COLOR"]) : JSON.stringify;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors by either name that people give them; the rest is plain JSON.
      serializers: {
        err: pino.stdSerializers.errWithCause,
        error: pino.stdSerializers.errWithCause,
      },
    },
    {
      write(line: string) {
        const record = JSON.parse(line) as { level: number };
        options.aside?.();
        const kept = record.level > DEBUG ? withoutPayloads(record) : record;
        write(`${format(scrubValue(kept, scrub)).trimEnd()}\n`);
      },
    },
  );
}

/** Of one of several companies: each line has its name. */
export const logOf = (log: Logger, { name }: { readonly name: string | null }): Logger =>
  name === null ? log : log.child({ company: name });

function withoutPayloads(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPayloads);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !PAYLOADS.has(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutPayloads(item)]));
}

const require = createRequire(import.meta.url);

/** Synchronous, and in this thread: a worker's lines are lost when the process dies. Loaded for a terminal only. */
function readable(colorize: boolean): (record: unknown) => string {
  const { prettyFactory } = require("pino-pretty") as typeof Pretty;
  const format = prettyFactory({
    colorize,
    singleLine: true,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
  });
  return (record) => format(record);
}

function descriptorWriter(fd: number): (line: string) => void {
  const descriptor = openDescriptor({ fd, sync: true });
  return (line) => void descriptor.write(line);
}
