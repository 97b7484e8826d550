/** What commands load only when they need it: `sandbox` and `check` start without the engine. */
import type { SandboxOptions } from "./sandbox.ts";

const from = async <Module>(path: string): Promise<Module> => (await import(path)) as Module;

export const load = {
  sandbox: () =>
    from<{ runSandbox: (options: SandboxOptions) => Promise<void> }>("../sandbox/command.ts"),
  demo: () => from<{ runDemo: (options: { json: boolean }) => Promise<void> }>("./demo.ts"),
};
