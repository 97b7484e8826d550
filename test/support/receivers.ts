/** Receivers of alerts: a web server and a mail server that keep what they are given. */
import { type AddressInfo, createServer, type Server } from "node:net";
import { onTestFinished } from "vitest";
import { serving } from "./http.ts";

export interface Posted {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** `answers`: what to answer next; 200 once they are used up. It ends with the test. */
export async function webReceiver(answers: number[] = []) {
  const posts: Posted[] = [];
  const { url, close } = await serving(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const status = answers.shift() ?? 200;
    if (status < 300) posts.push({ headers: request.headers, body });
    response.writeHead(status).end("ok");
  });
  onTestFinished(close);
  return { url: `${url}/hook?sig=1`, posts };
}

/** Speaks as much SMTP (RFC 5321) as a client without TLS needs; it asks for a password. It ends with the test. */
export async function mailReceiver() {
  const mails: { to: string[]; text: string }[] = [];
  const logins: string[] = [];
  const server = createServer((socket) => {
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    let to: string[] = [];
    let text: string | null = null;
    let rest = "";
    const hear = (line: string): void => {
      if (text !== null) {
        if (line !== ".") text += `${line.replace(/^\./, "")}\n`;
        else {
          mails.push({ to, text });
          [to, text] = [[], null];
          say("250 taken");
        }
      } else if (/^EHLO/i.test(line)) socket.write("250-test\r\n250 AUTH PLAIN\r\n");
      else if (/^AUTH PLAIN/i.test(line)) {
        logins.push(Buffer.from(line.slice(11), "base64").toString("utf8").split("\0").join(" "));
        say("235 welcome");
      } else if (/^RCPT TO:/i.test(line)) {
        to.push(line.slice(8));
        say("250 ok");
      } else if (/^DATA/i.test(line)) {
        text = "";
        say("354 go on");
      } else if (/^QUIT/i.test(line)) {
        say("221 bye");
        socket.end();
      } else say("250 ok");
    };
    socket.on("error", () => {});
    socket.setEncoding("utf8").on("data", (piece: string) => {
      const lines = (rest + piece).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) hear(line);
    });
    say("220 test");
  });
  return { port: await listening(server), mails, logins };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
