import { type SandboxOptions, startSandbox } from "./server.ts";

/**
 * `fuelbridge sandbox`: one line of JSON on standard output when requests are accepted, and nothing else there. It
 * resolves after a signal, once the requests in flight are finished; a second signal ends the process at once.
 */
export async function runSandbox(options: SandboxOptions): Promise<void> {
  const { baseUrl, controlUrl, close } = await startSandbox(options);
  const stop = firstSignal();
  process.stdout.write(`${JSON.stringify({ event: "ready", baseUrl, controlUrl })}\n`);
  process.stderr.write(`sandbox: listening on ${new URL(baseUrl).origin}\n`);
  const name = await stop;
  process.stderr.write(`sandbox: ${name}, closing\n`);
  await close();
}

/** Listens once: with the listeners gone, the next signal does what signals do. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const signals = ["SIGTERM", "SIGINT"] as const;
    const heard = (name: NodeJS.Signals) => {
      for (const signal of signals) process.off(signal, heard);
      resolve(name);
    };
    for (const signal of signals) process.on(signal, heard);
  });
}
