/** What is said once of a company, in the configuration's `currency` and `timeZone`, and handed to every connector. */
import { z } from "zod";
import { faultOfTimeZone } from "./time-zone.ts";

export type CompanySetting = "currency" | "timeZone";

/**
 * The same setting of a connector, as configurations were written before: taken where it says what the company's says
 * (`fuelbridge check` compares the two), and used for nothing.
 */
export const repeated = (setting: CompanySetting) =>
  z
    .string()
    .superRefine((text, context) => {
      const message = FAULTS[setting](text);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .optional()
    .meta({
      company: setting,
      deprecated: true,
      description: `Leave it out: the ${WORDS[setting]} of the whole configuration counts.`,
    });

const WORDS = { currency: "currency", timeZone: "time zone" } as const;
const FAULTS: Readonly<Record<CompanySetting, (text: string) => string | null>> = {
  currency: (text) => (/^[A-Z]{3}$/.test(text) ? null : "is not an ISO 4217 code"),
  timeZone: faultOfTimeZone,
};
