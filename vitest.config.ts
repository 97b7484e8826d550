import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{src,connectors,mappings,test}/**/*.test.ts"],
    globalSetup: ["test/support/machine.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    sequence: { shuffle: { files: false, tests: true } },
  },
});
