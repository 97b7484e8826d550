/** The console as one function from a request to a page: who asks, what they may, and every refusal in words. */
import { type Context, Hono } from "hono";
import { getCookie } from "hono/cookie";
import { scrubber } from "../config/scrub.ts";
import { assets } from "./assets.ts";
import { Attempts, type Session, Sessions } from "./sessions.ts";
import type { Html } from "../views/blocks.ts";
import { html } from "../views/html.ts";
import { address } from "../views/blocks.ts";
import {
  type Answer,
  type AppParts,
  type Asked,
  type Call,
  type Env,
  Jobs,
  type Route,
  type Shared,
  type Told,
  toldOf,
} from "./route.ts";
import { bare, framed } from "./layout.ts";
import { login } from "./login.ts";
import { routes } from "./routes.ts";
import { atLeast, type User } from "./users.ts";
import { isSameSecret } from "../core/keys.ts";

/** Of every answer. Nothing inline runs, and nothing is taken from elsewhere. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With "no-referrer" browsers send "Origin: null" with our own forms.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};

export function consoleApp(parts: AppParts): Hono<Env> {
  const monoMs = (): number => parts.clock.now().monoMs;
  const shared: Shared = {
    ...parts,
    sessions: new Sessions(monoMs),
    attempts: new Attempts(monoMs),
    jobs: new Jobs(),
    scrub: scrubber(parts.secrets),
    // Browsers give a cookie to every port of a name: several consoles of a machine have one each.
    cookie: `${parts.isSecure ? "__Host-fuelbridge" : "fuelbridge"}-${parts.port}`,
  };
  const app = new Hono<Env>();
  app.use(async (call, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders)) call.res.headers.set(name, value);
    if (!call.req.path.startsWith("/assets/")) call.res.headers.set("cache-control", "no-store");
  });
  assets(app);
  login(app, shared);
  for (const route of routes)
    app.on(route.method, route.path, (call) => answered(call, shared, route));
  app.notFound((call) =>
    said(call, shared, 404, "There is no such page", "Go to Today: it links to all."),
  );
  app.onError((error, call) => failed(call, shared, error));
  return app;
}

async function answered(call: Call, shared: Shared, route: Route): Promise<Response> {
  const id = getCookie(call, shared.cookie);
  const isPart = call.req.header("hx-request") !== undefined;
  const session = shared.sessions.find(id, !isPart);
  const user = session === null ? undefined : userOf(shared, session);
  if (session === null || user === undefined) return toLogin(call, id, isPart);
  const asked = await askedOf(call, shared, route, { session, user });
  const refused = refuse(asked, route);
  if (refused !== null) return inFrame(call, shared, asked, refused);
  try {
    return respond(call, shared, asked, await route.answer(asked));
  } catch (error) {
    const told = toldOf(error);
    if (told.isOurs) noted(call, shared, error);
    return inFrame(call, shared, asked, told);
  }
}

/** Removed users are out at once. */
const userOf = ({ users }: Shared, session: Session): User | undefined =>
  users.list().find(({ name }) => name === session.user);

/** The login says that a session ended, and that a form that came with it did nothing. */
function toLogin(call: Call, id: string | undefined, isPart: boolean): Response {
  const { path, method } = call.req;
  const isForm = method !== "GET";
  const ended = id === undefined ? null : isForm ? "form" : "session";
  const from = isForm || isPart ? pageOf(call) : path;
  const login = address("/login", { to: from === "/" ? null : from, ended });
  if (!isPart) return call.redirect(login, 303);
  // The login would be put into the page: htmx is told to go there instead.
  call.header("hx-redirect", login);
  return call.body(null, 401);
}

/** The page that a request was made on; a browser tells it to its own site only. */
function pageOf(call: Call): string {
  const from = URL.parse(call.req.header("referer") ?? "");
  return from?.host === call.req.header("host") ? (from?.pathname ?? "/") : "/";
}

async function askedOf(
  call: Call,
  { office, site, jobs, pack, clock }: Shared,
  { method }: Route,
  { session, user }: { readonly session: Session; readonly user: User },
): Promise<Asked> {
  const { search } = new URL(call.req.url);
  return {
    office,
    site,
    jobs,
    pack,
    session,
    role: user.role,
    path: call.req.path,
    query: new URLSearchParams(search),
    form: new URLSearchParams(method === "POST" ? await call.req.text() : ""),
    params: call.req.param(),
    nowMs: clock.now().wallMs,
  };
}

/** Every changing form has the session's token and a reason, and comes from who may send it. */
function refuse({ role, session, form }: Asked, route: Route): Told | null {
  if (route.method === "POST" && !isSameSecret(form.get("csrf") ?? "", session.csrf))
    return {
      status: 403,
      message: "This form is of another session.",
      next: "Go back, load the page again, and send it once more.",
    };
  if (!atLeast(role, route.role))
    return {
      status: 403,
      message: `This is for ${route.role}s; you are logged in as ${role}.`,
      next: "Ask somebody who may: `fuelbridge user list` shows the roles.",
    };
  if (route.method === "POST" && (form.get("note") ?? "").trim() === "")
    return {
      status: 422,
      message: "The reason is missing.",
      next: "Go back and say why: it is kept.",
    };
  return null;
}

function respond(call: Call, shared: Shared, asked: Asked, answer: Answer): Response {
  if ("to" in answer) {
    asked.session.told = answer.told;
    return call.redirect(answer.to, 303);
  }
  if ("file" in answer) {
    const isText = "text" in answer;
    return call.body(isText ? shared.scrub(answer.text) : answer.bytes, 200, {
      "content-type": isText ? `${answer.type}; charset=utf-8` : answer.type,
      "content-disposition": `attachment; filename="${answer.file.replace(/[^\w.-]/g, "_")}"`,
    });
  }
  return call.html(shared.scrub(framed(asked, answer.title, answer.body)));
}

const inFrame = (call: Call, shared: Shared, asked: Asked, told: Told): Response =>
  call.html(shared.scrub(framed(asked, told.message, inWords(told))), told.status);

const inWords = ({ message, next }: Pick<Told, "message" | "next">): Html => html`
  <h1>Not done</h1>
  <div class="banner bad" role="alert">
    <p><strong>${message}</strong></p>
    <p>${next}</p>
  </div>
`;

/** For who is not logged in, or not asked. */
const said = (
  call: Context,
  { site, scrub }: Shared,
  status: 404 | 500,
  message: string,
  next: string,
): Response =>
  call.html(
    scrub(
      bare(
        site,
        message,
        html`<h1>${message}</h1>
          <p>${next}</p>
          <p><a href="/">Today</a></p>`,
      ),
    ),
    status,
  );

/** No stack and no value: nobody has shown who they are. */
function failed(call: Context, shared: Shared, error: Error): Response {
  noted(call, shared, error);
  return said(call, shared, 500, "This did not work", "The daemon's log says more.");
}

const noted = (call: Context, { note }: Shared, error: unknown): void =>
  note("the console failed", { path: call.req.path, error });
