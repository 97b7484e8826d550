/** For fixtures of connectors, which know nothing of commands. */
export { freePort } from "../../src/demo/sshd.ts";
