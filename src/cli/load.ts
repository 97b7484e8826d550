/** What commands load only when they need it: `sandbox` and `check` start without the engine. */

export const load = {
  compose: () => import("../app/compose.ts"),
  sandbox: () => import("../sandbox/server.ts"),
  plan: () => import("./budget-plan.ts"),
  dryRun: () => import("../app/dry-run.ts"),
  demo: () => import("../demo/demo.ts"),
};
