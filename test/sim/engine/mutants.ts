/**
 * Old faults, put back into the product's own source as it is loaded: a simulation that does not find them proves nothing.
 * A mutant whose place is no longer there is an error: it moves with the code that it breaks.
 */
import { registerHooks } from "node:module";

interface Mutant {
  /** The file below the project, the text that stands there once, and what stands there instead. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const mutants: Readonly<Record<string, Mutant>> = {
  "a position moves before its records are stored": {
    file: "src/engine/pull.ts",
    from: "const at = clock.now().wallMs;\n      const taken = store.transaction(",
    to: `store.transaction(() => void store.intake.page(flow.flow, { changes: [], position: page.position }, clock.now().wallMs));
      await clock.pause(120_000);
      const at = clock.now().wallMs;
      const taken = store.transaction(`,
  },
  "a send that was under way counts as not begun after a restart": {
    file: "src/core/request.ts",
    from: '        ...request,\n        state: "unknown",\n        negativeReads: leftMs',
    to: '        ...request,\n        state: "ready", unresolved: null,\n        negativeReads: leftMs',
  },
  "a request that a person has blocks its lane": {
    file: "src/store/requests.ts",
    from: "(state <> 'manual' or operation = ? and sent_ms is not null)",
    to: "(state <> 'manual' or coalesce(?, 1) is not null)",
  },
  "a party is found by its code alone": {
    file: "src/platform/sinks/parties.ts",
    from: 'return isSameFirm(party, other) ? "ours" : { because',
    to: 'return isMarked ? "ours" : { because',
  },
  "a failure counts as nothing done": {
    file: "src/platform/answers.ts",
    from: 'failed: { outcome: "unknown", holdMs: MINUTE }',
    to: 'failed: { outcome: "nothing" }',
  },
  "nothing settles before it is read": {
    file: "src/platform/sinks/write.ts",
    from: "settleMs: 15 * MINUTE",
    to: "settleMs: 0",
  },
  "our own documents are taken for others'": {
    file: "src/engine/lifecycle.ts",
    from: "link === null || link.born === flow.side",
    to: "link === null || link.born !== null",
  },
  "a delivery ticket that was corrected is made anew": {
    file: "src/platform/sinks/sinks.ts",
    from: "const document = { ticketId: item?.counterpart, ",
    to: "const document = { ticketId: null, ",
  },
  "a change after delivery is nothing new": {
    file: "src/engine/lifecycle.ts",
    from: "const isSame = link.content === made.content;",
    to: "const isSame = link.content !== null;",
  },
};

/** Puts it back. Call it before the product is loaded. @throws Error when its place is not there, or there twice */
export function putBack(name: string): void {
  const mutant = mutants[name];
  if (mutant === undefined)
    throw new Error(`there is no mutant "${name}": ${Object.keys(mutants).join("; ")}`);
  const url = new URL(`../../../${mutant.file}`, import.meta.url).href;
  registerHooks({
    load(asked, context, next) {
      const loaded = next(asked, context);
      if (asked !== url) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      if (source.split(mutant.from).length !== 2)
        throw new Error(`the place of the mutant "${name}" is not in ${mutant.file} exactly once`);
      return { ...loaded, source: source.replace(mutant.from, () => mutant.to) };
    },
  });
}
