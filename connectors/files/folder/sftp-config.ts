/** The `sftp` section of a `files` endpoint. */
import { z } from "zod";

/** As `ssh-keygen -lf` shows it. */
const Fingerprint = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, "is a fingerprint as ssh-keygen -lf shows it: SHA256:...");

const secret = (description: string): z.ZodString =>
  z.string().min(4).meta({ secret: true, description });

export const SftpConfig = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(22),
    user: z.string().min(1),
    password: secret("Of the user; or `key`.").optional(),
    key: secret("The user's private key, OpenSSH or PEM: ${file:secrets/sftp-key}.").optional(),
    passphrase: secret("Of the key, where it has one.").optional(),
    hostKey: z
      .union([Fingerprint, z.array(Fingerprint).min(1)])
      .optional()
      .describe(
        "The server's key; two while it is replaced. Without it, `fuelbridge doctor` says which one the server showed.",
      ),
    timeoutMs: z
      .int()
      .min(50)
      .max(600_000)
      .default(30_000)
      .describe("How long the server may take to connect, and for each single operation."),
  })
  .refine(({ key, password }) => (key === undefined) !== (password === undefined), {
    message: "needs either a key or a password",
    path: ["key"],
  });
export type SftpConfig = z.infer<typeof SftpConfig>;
