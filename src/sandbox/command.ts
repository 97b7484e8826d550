import { type SandboxOptions, startSandbox } from "./server.ts";

/**
 * `fuelbridge sandbox`: one line of JSON on standard output when requests are accepted, and nothing else there. It
 * resolves after a signal, once the requests in flight are finished; a second signal ends the process at once.
 */
export async function runSandbox(options: SandboxOptions): Promise<void> {
  const sandbox = await startSandbox(options);
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, resolve);
  });
  const { baseUrl, controlUrl } = sandbox;
  process.stdout.write(`${JSON.stringify({ event: "ready", baseUrl, controlUrl })}\n`);
  process.stderr.write(`sandbox: ${baseUrl} and ${controlUrl}\n`);
  const name = await signal;
  process.stderr.write(`sandbox: ${name}, closing\n`);
  // `once` is spent for this signal; the other one must not be swallowed either.
  for (const other of ["SIGTERM", "SIGINT"] as const) process.removeAllListeners(other);
  await sandbox.close();
  process.exitCode = 0;
}
