/** Login and logout. Nobody has a password that was not given to them. */
import type { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Html } from "../views/blocks.ts";
import { href, html, verbatim } from "../views/html.ts";
import { address } from "../views/blocks.ts";
import { bare } from "./layout.ts";
import type { Call, Env, Shared } from "./route.ts";
import { secretText } from "./sessions.ts";
import { isName } from "./users.ts";
import { isSameSecret } from "../core/keys.ts";

/** Passwords that are looked at one after the other: each takes 19 MiB and some ten milliseconds. */
const WAITING_MAX = 10;

export function login(app: Hono<Env>, shared: Shared): void {
  let queue: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /** One at a time. */
  async function verified(name: string, password: string) {
    waiting++;
    const result = queue.then(() => shared.users.verify(name, password));
    queue = result.catch(() => null);
    try {
      return await result;
    } finally {
      waiting--;
    }
  }

  app.get("/login", (call) => {
    const ended = ENDED[call.req.query("ended") ?? ""];
    return shown(call, shared, 200, ended ?? null);
  });

  app.post("/login", async (call) => {
    const form = new URLSearchParams(await call.req.text());
    const name = (form.get("name") ?? "").trim().slice(0, 64);
    const { remote } = call.env;
    const mine = getCookie(call, `${shared.cookie}-login`);
    if (
      mine === undefined ||
      !isSameSecret(form.get("csrf") ?? "", shared.sessions.loginToken(mine))
    )
      return shown(call, shared, 403, "This form was too old. Try again.");
    const waitMs = shared.attempts.waitMs(name, remote);
    if (waitMs > 0 || waiting >= WAITING_MAX)
      return shown(call, shared, 429, `Too many attempts. Try again in ${inWords(waitMs)}.`);
    // Counted before it is known: attempts at the same time are attempts as well.
    shared.attempts.failed(name, remote);
    const user = await verified(name, (form.get("password") ?? "").slice(0, 1_000));
    const note = `console, from ${remote}`;
    if (user === null) {
      // What cannot be a name is not kept: people type their password there by mistake.
      const by = isName(name) ? name : "(no name)";
      await shared.office.wasDone("log-in failed", { by, note });
      return shown(call, shared, 401, "The name or the password is wrong.");
    }
    shared.attempts.succeeded(name, remote);
    await shared.office.wasDone("logged in", { by: user.name, note });
    shared.sessions.end(getCookie(call, shared.cookie));
    setCookie(call, shared.cookie, shared.sessions.open(user.name), options(shared));
    deleteCookie(call, `${shared.cookie}-login`, options(shared));
    return call.redirect(ownPath(form.get("to")), 303);
  });

  app.post("/logout", async (call) => {
    const id = getCookie(call, shared.cookie);
    const session = shared.sessions.find(id, true);
    const form = new URLSearchParams(await call.req.text());
    if (session !== null && isSameSecret(form.get("csrf") ?? "", session.csrf)) {
      shared.sessions.end(id);
      deleteCookie(call, shared.cookie, options(shared));
    }
    return call.redirect("/login", 303);
  });
}

/** Why somebody who was logged in is here. */
const ENDED: Readonly<Record<string, string>> = {
  session: "Your session has ended. Log in to go on.",
  form: "Your session had ended, and nothing was done. Log in, and do it again.",
};

const options = ({ isSecure }: Shared) =>
  ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure }) as const;

/** Only a page of ours. */
const ownPath = (to: string | null): string =>
  to !== null && /^\/(?![/\\])[\w\-./]*$/.test(to) ? to : "/";

const inWords = (ms: number): string =>
  ms > 90_000
    ? `${Math.ceil(ms / 60_000)} minutes`
    : `${Math.max(Math.ceil(ms / 1_000), 1)} seconds`;

function shown(
  call: Call,
  shared: Shared,
  status: 200 | 401 | 403 | 429,
  wrong: string | null,
): Response {
  const cookie = getCookie(call, `${shared.cookie}-login`) ?? secretText();
  setCookie(call, `${shared.cookie}-login`, cookie, options(shared));
  const token = shared.sessions.loginToken(cookie);
  const to = call.req.query("to") ?? "";
  const isNew = shared.users.list().length === 0;
  const body = isNew ? first : form(token, to, wrong);
  return call.html(bare(shared.site, "Log in", head(shared, body)), status);
}

const head = ({ site }: Shared, body: Html): Html => html`
  <h1>fuelbridge <small>${site.company}${site.environment === "test" ? " (test)" : ""}</small></h1>
  ${body}
`;

const form = (token: string, to: string, wrong: string | null): Html => html`
  ${wrong === null ? "" : html`<p role="alert" class="banner bad">${wrong}</p>`}
  <form method="post" action="${href(address("/login", {}))}">
    <input type="hidden" name="csrf" value="${verbatim(token)}" />
    <input type="hidden" name="to" value="${verbatim(ownPath(to))}" />
    <label for="name">Name</label>
    <input
      id="name"
      name="name"
      required
      autocomplete="username"
      autocapitalize="none"
      maxlength="64"
    />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      required
      autocomplete="current-password"
      maxlength="200"
    />
    <button type="submit">Log in</button>
  </form>
`;

const first: Html = html`
  <p>Nobody can log in yet. On the machine that runs fuelbridge, give somebody a password:</p>
  <p><code>fuelbridge user add NAME --role operator</code></p>
  <p>Then load this page again.</p>
`;
