/**
 * What `fuelbridge status`, `budget status`, `trace` and `quarantine` would tell, asked here by the same code: the program takes half a
 * second of computing for each start. That the program tells the same is what src/cli/cli.test.ts and test/story.test.ts
 * prove.
 */
import { askOf } from "../../src/app/ask.ts";
import { loadConfiguration } from "../../src/app/configuration.ts";
import type { Office } from "../../src/office/questions.ts";

type Question = (office: Office, given: string) => Promise<unknown>;

const QUESTIONS: Readonly<Record<string, Question>> = {
  status: (office) => office.status(),
  "budget status": (office) => office.budget(),
  trace: (office, number) => office.trace(number),
  "quarantine list": async (office) => ({ groups: await office.quarantine() }),
  "quarantine show": (office, group) => office.quarantineShow(group),
};

/**
 * As JSON would bring it. Null for a command that only the program answers.
 * @param env what the configuration finds in the environment
 */
export async function askHere(
  file: string,
  env: NodeJS.ProcessEnv,
  words: readonly string[],
): Promise<{ data: unknown } | null> {
  const [first = "", second = "", third = ""] = words;
  const [question, given] =
    first in QUESTIONS ? [QUESTIONS[first], second] : [QUESTIONS[`${first} ${second}`], third];
  if (question === undefined) return null;
  const config = await loadConfiguration(file, undefined, { ...process.env, ...env });
  const data = await askOf(config, (office) => question(office, given));
  return { data: JSON.parse(JSON.stringify(data)) as unknown };
}
