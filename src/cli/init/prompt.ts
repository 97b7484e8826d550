/** Questions on a terminal: an answer that cannot be is said so and asked for again; a secret is not shown. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type Answers, type Field, fieldsFor } from "./fields.ts";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks for what `given` lacks, in the order of the fields. @returns null when the person ended it (Ctrl-C, Ctrl-D)
 */
export async function askFor(given: Answers, terminal: Terminal): Promise<Answers | null> {
  let hidden = false;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (!hidden) terminal.output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: terminal.input, output, terminal: true });
  const ended = new AbortController();
  for (const event of ["SIGINT", "close"] as const) lines.once(event, () => ended.abort());
  const ask = async (field: Field): Promise<string> => {
    const usual = field.usual === undefined ? "" : ` [${field.usual}]`;
    // The question itself is shown; what is typed after it may not be.
    const answer = lines.question(`${field.question}${usual}: `, { signal: ended.signal });
    hidden = field.secret === true;
    try {
      return (await answer).trim() || (field.usual ?? "");
    } finally {
      if (hidden) terminal.output.write("\n");
      hidden = false;
    }
  };
  const answers: Answers = { ...given };
  terminal.output.write(
    "Enter takes what stands in brackets. Nothing is written before the last answer.\n\n",
  );
  try {
    // Which fields count depends on the connector that is answered on the way.
    for (;;) {
      const next = fieldsFor(answers).find(({ name }) => answers[name] === undefined);
      if (next === undefined) return answers;
      const answer = await ask(next);
      const fault = next.fault(answer);
      if (fault === null) answers[next.name] = answer;
      else terminal.output.write(`  ${fault}.\n`);
    }
  } catch (error) {
    if (ended.signal.aborted) return null;
    throw error;
  } finally {
    lines.close();
  }
}
