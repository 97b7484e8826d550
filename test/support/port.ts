/** For fixtures of connectors, which know nothing of commands. */
export { freePort } from "../../src/cli/demo/port.ts";
