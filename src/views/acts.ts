/** What people do about flows and stops, and what they are told then: the commands and the console's forms are made of it. */
import type { Person } from "../office/asked.ts";
import type { Office } from "../office/questions.ts";
import { counted } from "./table.ts";

export interface Act {
  /** The command with its arguments, of which the console's form has the first in its address. */
  readonly usage: string;
  readonly about: string;
  /** Of the console's form, where operators alone send it. */
  readonly path: string;
  /** What the reason says. `optional`: on the command line it may be left out. */
  readonly reason: { readonly says: string; readonly optional?: true };
  readonly work: (
    office: Office,
    named: readonly [name: string, what: string],
    person: Person,
  ) => Promise<{ readonly data: unknown; readonly told: string }>;
}

export const acts = {
  now: {
    usage: "now <flow>",
    about: "have the running daemon look at a flow at once; all for every flow",
    path: "/flows/:flow/now",
    reason: { says: "why; it is kept", optional: true },
    work: async (office, [flow], person) => {
      const data = await office.runNow(flow, person);
      return { data, told: `Looking now: ${data.flows.join(", ")}.` };
    },
  },
  release: {
    usage: "release <stop>",
    about: "clear a stop whose cause is gone (status shows stops)",
    path: "/stops/:stop/release",
    reason: { says: "why; it is kept", optional: true },
    work: async (office, [stop], { by, note }) => {
      const data = await office.release(stop, by, note);
      return { data, told: `Released: ${data.released}. Work goes on.` };
    },
  },
  pause: {
    usage: "pause <flow>",
    about: "have a flow read and send nothing until it is resumed",
    path: "/flows/:flow/pause",
    reason: { says: "why; it is kept in the audit" },
    work: async (office, [name], person) => {
      const data = await office.pause(name, person);
      const told = `${data.flow} is paused: it reads and sends nothing until somebody lets it go on.`;
      return { data, told };
    },
  },
  resume: {
    usage: "resume <flow>",
    about: "let a paused flow go on",
    path: "/flows/:flow/resume",
    reason: { says: "why; it is kept in the audit" },
    work: async (office, [name], person) => {
      const data = await office.goOn(name, person);
      return { data, told: `${data.flow} goes on.` };
    },
  },
  accept: {
    usage: "accept <flow> [number]",
    about: "say that a held list is right, or that what differs in one number may stay so",
    path: "/flows/:flow/accept",
    reason: { says: "how that is known; it is kept in the audit" },
    work: async (office, [name, number], person) => {
      const data = await office.accept(name, number, person);
      if (number !== "")
        return {
          data,
          told: `${number} of ${data.flow} may stay as it is; it is told again when its values change.`,
        };
      const what =
        data.told === null
          ? "it is taken at the next look"
          : `${counted(data.told, "document")} that it lacks: fuelbridge quarantine list`;
      return { data, told: `The list of ${data.flow} is accepted; ${what}.` };
    },
  },
  settle: {
    usage: "settle <flow> <file>",
    about: "say that a file which was refused, or cut short, is seen to",
    path: "/flows/:flow/settle",
    reason: { says: "what was done about it; it is kept in the audit" },
    work: async (office, [name, what], person) => {
      const data = await office.settleUnread(name, what, person);
      return { data, told: `${data.what} of ${data.flow} is settled.` };
    },
  },
} as const satisfies Readonly<Record<string, Act>>;
