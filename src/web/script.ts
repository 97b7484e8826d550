/**
 * The console's own script, beside htmx: a page that asks for itself again, and gets no answer or an error, says so.
 * Without it a page would show for ever what was true once.
 */
export const script = `
const tell = (isStale) => {
  const stale = document.getElementById("stale");
  if (stale) stale.hidden = !isStale;
};
document.addEventListener("htmx:error", () => tell(true));
document.addEventListener("htmx:after:request", ({ detail }) => tell(detail.ctx.response.status >= 400));
`;
