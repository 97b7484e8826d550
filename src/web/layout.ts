/** The frame of every page. */
import type { Blocks, Html } from "../views/blocks.ts";
import { asHtml, inPage, href, hrefTo, html, verbatim } from "../views/html.ts";
import { token } from "./parts.ts";
import type { Asked, Site } from "./route.ts";

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ["/", "Today"],
  ["/needs-you", "Needs you"],
  ["/documents", "Documents"],
  ["/reconciliation", "Reconciliation"],
  ["/match", "Match"],
  ["/budget", "Budget"],
  ["/flows", "Flows"],
  ["/cross-references", "Cross-references"],
  ["/audit", "Audit"],
];

export function framed(asked: Asked, title: string, body: Blocks): string {
  const { site, session, role, path } = asked;
  const told = session.told;
  session.told = null;
  const isHere = (page: string): boolean => (page === "/" ? path === "/" : path.startsWith(page));
  return document(
    site,
    title,
    html`<header class="container">
        <a class="skip" href="#main">To the content</a>
        <p class="who">
          <strong>fuelbridge</strong> ${site.company}${site.environment === "test" ? " (test)" : ""}
          ${
            // Each console knows who may log in there.
            (site.beside ?? []).map(({ name, url }) => html`<a href="${hrefTo(url)}">${name}</a> `)
          }
        </p>
        <form method="post" action="/logout" class="out">
          ${token(session)}
          <span>${session.user}, ${role}</span>
          <button type="submit" class="secondary outline">Log out</button>
        </form>
        <nav aria-label="Pages of the console">
          <ul>
            ${PAGES.map(
              ([page, name]) =>
                html`<li>
                  <a href="${href(page)}" ${isHere(page) ? html`aria-current="page"` : ""}
                    >${name}</a
                  >
                </li>`,
            )}
          </ul>
        </nav>
      </header>
      <main id="main" class="container" tabindex="-1">
        ${told === null ? "" : html`<p role="status" class="told">${inPage(told, asked)}</p>`}
        <p id="stale" role="alert" class="banner bad" hidden>
          This page could not bring itself up to date: what stands below is older. It asks again by
          itself. If this line stays, load the page again; if nothing comes then, look whether the
          daemon runs.
        </p>
        ${asHtml(body, asked)}
      </main>
      <footer class="container">Times of day: ${site.timeZone}.</footer>`,
  );
}

/** Without anybody logged in. */
export const bare = (site: Site, title: string, body: Html): string =>
  document(site, title, html`<main id="main" class="container narrow">${body}</main>`);

/** An answer that is an error takes the place of nothing: the page says that it is older (script.ts). */
const HTMX = verbatim(
  JSON.stringify({
    history: false,
    includeIndicatorCSS: false,
    noSwap: [204, 304, "4xx", "5xx"],
  }),
);

const document = ({ company }: Site, title: string, body: Html): string =>
  `<!doctype html>${html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="htmx-config" content="${HTMX}" />
      <title>${title} · ${company} · fuelbridge</title>
      <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/assets/pico.css" />
      <link rel="stylesheet" href="/assets/console.css" />
      <script src="/assets/htmx.js" defer></script>
      <script src="/assets/console.js" defer></script>
    </head>
    <body>
      ${body}
    </body>
  </html>`}`;
