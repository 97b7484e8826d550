import { z } from "zod";

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time as people write it (`10m`), in milliseconds once parsed. */
export const duration = (what: string) =>
  z
    .string()
    .regex(/^\d{1,6}[smhd]$/, "is not a duration such as 10m or 26h")
    .transform((text) => Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS])
    .describe(`${what}: a duration such as 30s, 10m, 2h or 1d.`);
