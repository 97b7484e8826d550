import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { rewording } from "./test/support/rewording.ts";

/** `npm test` runs each promise once; `npm run test:long` (`--mode long`) what needs numbers (test/support/runs.ts), what takes Tryton minutes, and the newest Tryton. */
export default defineConfig(({ mode }) => {
  // Programs that tests start, and the workers, compile each file once; copies of the checkout find what it compiled.
  process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/fuelbridge");
  process.env["NODE_COMPILE_CACHE_PORTABLE"] ??= "1";
  for (const { file, text } of SUITES.filter((suite) => !isOrdinary(suite)))
    if (!text.includes("@module-tag numbers"))
      throw new Error(`${file} has no "@module-tag numbers": npm run test:long would leave it out`);
  const suites = mode === "long" ? SUITES.filter(isLong) : SUITES.filter(isOrdinary);
  const include = suites.map(({ file }) => file);
  const again = SUITES.filter(isTold).map(({ file }) => file);
  const tags = mode === "long" ? { tagsFilter: ["numbers"] } : {};
  const alone = suites.filter(replacesModules).map(({ file }) => file);
  return {
    test: {
      env: { FUELBRIDGE_TESTS: mode },
      tags: [{ name: "numbers", description: "what needs numbers: test/support/runs.ts" }],
      globalSetup: ["test/support/machine.ts"],
      // By a factor above what they take: the machine may be busy.
      testTimeout: mode === "long" ? 1_200_000 : 300_000,
      hookTimeout: mode === "long" ? 1_200_000 : 600_000,
      // More than half of them wait at any time, for a server or for real time: of four, the others left a fifth of two cores idle.
      maxWorkers: 5,
      // A worker holds many small things for a short time: with more room for them it computes a tenth less. The long run
      // measures memory, as it is in production.
      execArgv: mode === "long" ? [] : ["--min-semi-space-size=32", "--max-semi-space-size=64"],
      sequence: { shuffle: { files: false, tests: true }, sequencer: LengthyFirst },
      // Vitest begins with the project whose name is first by the alphabet: `shared` ends the run, whose last suites are
      // short, and no long suite runs alone at the end.
      projects: [
        // Suites share what they import, and a worker its Tryton: a second of computing less for each suite.
        {
          extends: true,
          test: { name: "shared", include, exclude: alone, isolate: false, ...NATIVE, ...tags },
        },
        {
          extends: true,
          test: { name: "alone", include: alone, exclude: [], isolate: true, ...tags },
        },
        {
          extends: true,
          plugins: [rewording()],
          test: {
            name: "reworded",
            include: suites.filter(isRewording).map(({ file }) => file),
            isolate: true,
            ...tags,
            env: { FUELBRIDGE_REWORDED: "yes" },
          },
        },
        // Tryton's newest long-term release: the kit and the story. FUELBRIDGE_TRYTON_RELEASE=8.0 in the environment of
        // the run itself takes that release for all suites.
        ...(mode === "long" ? [newest(again)] : []),
      ],
    },
  };
});

/**
 * Node itself loads the modules, as in production, and keeps what it compiled for all workers and runs. Only what replaces
 * or rewords modules is loaded by Vite.
 */
const NATIVE = { experimental: { viteModuleRunner: false, nodeLoader: false } };

const newest = (include: string[]) => ({
  extends: true as const,
  test: {
    name: "newest-tryton",
    include,
    isolate: false,
    ...NATIVE,
    // What the ordinary run asks, no more.
    env: { FUELBRIDGE_TRYTON_RELEASE: "8.0", FUELBRIDGE_TESTS: "ordinary" },
  },
});

interface Suite {
  readonly file: string;
  readonly text: string;
}

const SUITES: readonly Suite[] = globSync("{src,connectors,mappings,test}/**/*.test.ts", {
  cwd: import.meta.dirname,
}).map((file) => ({ file, text: readFileSync(join(import.meta.dirname, file), "utf8") }));

const isOrdinary = ({ file }: Suite): boolean => !file.endsWith(".long.test.ts");
const isLong = (suite: Suite): boolean =>
  !isOrdinary(suite) || /support\/runs\.ts|\/connector\.suite\.ts/.test(suite.text);
/** It runs once more, with every message of the product reworded. */
const isRewording = ({ file }: Suite): boolean => file === "test/rewording.test.ts";
const isTold = ({ file }: Suite): boolean =>
  ["connectors/tryton/kit.test.ts", "test/tryton/story.long.test.ts"].includes(file);
/** Small files that take long. */
const LENGTHY = [
  "connectors/sql-staging/kit.test.ts",
  "src/formats/idoc/round-trip.test.ts",
  "src/formats/idoc/rules.long.test.ts",
  "src/formats/table/round-trip.test.ts",
  "src/formats/x12/grammar.long.test.ts",
  "src/formats/x12/round-trip.test.ts",
  "src/queue/bullmq.test.ts",
  "src/queue/redis-paused.long.test.ts",
  "test/business-central/kills.long.test.ts",
  "test/companies.long.test.ts",
  "test/console.long.test.ts",
  "test/crash.test.ts",
  "test/fairness.long.test.ts",
  "test/fates/business-central.long.test.ts",
  "test/fates/files.long.test.ts",
  "test/fates/quickbooks-desktop.long.test.ts",
  "test/fates/quickbooks-online.long.test.ts",
  "test/fates/sql-staging.long.test.ts",
  "test/fates/tryton.long.test.ts",
  "test/golden.test.ts",
  "test/hub.long.test.ts",
  "test/killed-flow.long.test.ts",
  "test/match-proof.long.test.ts",
  "test/new-connector.long.test.ts",
  "test/own-user.test.ts",
  "test/sim/engine.long.test.ts",
  "test/sim/engine.test.ts",
  "test/sim/pace.test.ts",
  "test/sim/sim.test.ts",
  "test/sql-staging/kills.long.test.ts",
  "test/sql-staging/reconcile.long.test.ts",
  "test/tryton/kills.long.test.ts",
  "test/tryton/recipe.long.test.ts",
  "test/tryton/story.long.test.ts",
];

/** Vitest begins with the largest file of a project, or with the longest suite of its last run; here with these. */
class LengthyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()].flatMap((its) => [
      ...its.filter(({ moduleId }) => isLengthy(moduleId)),
      ...its.filter(({ moduleId }) => !isLengthy(moduleId)),
    ]);
  }
}
const isLengthy = (path: string): boolean => LENGTHY.some((file) => path.endsWith(`/${file}`));
const replacesModules = ({ text }: Suite): boolean => text.includes("vi.mock(");
