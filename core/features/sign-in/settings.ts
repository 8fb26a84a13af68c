// Setting of external OpenID providers: a file with a JSON list. Client secrets are in separate files or in
// the environment, so that the list can be stored with other configuration.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Type, type Static } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { Closed } from '../../platform/lib/schema.ts';
import { defineSetting } from '../../kernel/settings.ts';

/** External OpenID provider. */
export interface ProviderSettings {
  /** Name in URLs of this server: lower-case letters, digits and hyphens. */
  readonly key: string;
  /** Name shown to people. */
  readonly name: string;
  /** Issuer identifier. The endpoints are discovered from it (OpenID Connect Discovery 1.0). */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which relies on PKCE alone. */
  readonly clientSecret: string | null;
  /**
   * Domains in lower case; a person needs a verified e-mail address in one of them. An empty list allows any
   * address, or none.
   */
  readonly domains: readonly string[];
  /**
   * True to trust the addresses that the provider has verified: they count as verified, and accept
   * invitations.
   */
  readonly takesInvitations: boolean;
}

const Entry = Closed({
  key: Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' }),
  name: Type.String({ minLength: 1, maxLength: 60 }),
  issuer: Type.String({ pattern: '^https?://[^\\s?#]+$' }),
  clientId: Type.String({ minLength: 1, maxLength: 1_000 }),
  clientSecretFile: Type.Optional(Type.String({ minLength: 1 })),
  clientSecretEnv: Type.Optional(Type.String({ pattern: '^[A-Z_][A-Z0-9_]*$' })),
  domains: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9][a-z0-9.-]*\\.[a-z]{2,}$' }))),
  takesInvitations: Type.Optional(Type.Boolean()),
});
const List = Type.Array(Entry, { maxItems: 20 });

export const signInSettings = {
  identityProviders: defineSetting({
    env: 'TATAMI_IDENTITY_PROVIDERS',
    fallback: '',
    text: 'File with the external OpenID providers for sign-in, a JSON list; default: none.',
    read: ({ value, folder, env, fail }) => readIdentityProviders(value, folder, env, fail),
  }),
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param file empty if no providers are configured
 * @param fail gets a noun phrase that completes "must be …"
 */
function readIdentityProviders(
  file: string,
  folder: string,
  env: Environment,
  fail: (wanted: string) => never,
): readonly ProviderSettings[] {
  if (file === '') return [];
  const path = resolve(folder, file);
  const list = readJson(path, fail);
  if (!Check(List, list)) {
    const [first] = Errors(List, list);
    return fail(`a JSON list of providers (${first?.instancePath || 'the file'} ${first?.message})`);
  }
  const keys = list.map(({ key }) => key);
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined)
    return fail(`a list in which every provider has its own key (${twice} appears twice)`);
  return list.map((entry) => settingsOf(entry, dirname(path), env, fail));
}

function settingsOf(
  { clientSecretFile, clientSecretEnv, ...entry }: Static<typeof Entry>,
  folder: string,
  env: Environment,
  fail: (wanted: string) => never,
): ProviderSettings {
  const { domains = [], takesInvitations = false } = entry;
  const secret = (): string | null => {
    if (clientSecretFile !== undefined) return readText(resolve(folder, clientSecretFile), fail).trim();
    if (clientSecretEnv === undefined) return null;
    return env[clientSecretEnv] || fail(`a file whose client secrets exist (${clientSecretEnv} is not set)`);
  };
  return { ...entry, clientSecret: secret(), domains, takesInvitations };
}

function readJson(path: string, fail: (wanted: string) => never): unknown {
  const text = readText(path, fail);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote part of the file, which may contain a secret.
    return fail('a file with valid JSON');
  }
}

function readText(path: string, fail: (wanted: string) => never): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return fail(`a readable file (${path}: ${(error as NodeJS.ErrnoException).code})`);
  }
}
