// Searches all server files for secrets, in every possible encoding.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Shorter values occur by chance in large files. */
const shortest = 8;

/** Encodings of a secret: as text, encoded, and decoded from base64. */
function formsOf(secret: string): Buffer[] {
  const text = Buffer.from(secret);
  const inner = secret.slice(secret.lastIndexOf('_') + 1);
  return [
    text,
    Buffer.from(inner),
    Buffer.from(text.toString('base64').replace(/=+$/, '')),
    Buffer.from(text.toString('hex')),
    Buffer.from(Buffer.from(inner).toString('hex')),
    Buffer.from(encodeURIComponent(secret)),
    Buffer.from(JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')),
    ...(secret.startsWith('whsec_') ? [Buffer.from(inner, 'base64')] : []),
  ].filter(({ length }) => length >= shortest);
}

export function filesUnder(dir: string): string[] {
  return readdirSync(dir, { recursive: true })
    .map((name) => join(dir, String(name)))
    .filter((path) => statSync(path).isFile());
}

/** @returns descriptions of the secrets found and their locations; empty if none */
export function findSecrets(
  files: ReadonlyMap<string, Buffer>,
  secrets: ReadonlyMap<string, string>,
): readonly string[] {
  const matches: string[] = [];
  for (const [path, bytes] of files)
    for (const [name, secret] of secrets)
      for (const [form, needle] of formsOf(secret).entries())
        if (bytes.includes(needle)) matches.push(`${name}, form ${form}, in ${path}`);
  return matches;
}
