// What stands for a secret in a plugin's hands, and where it turns into the secret: in the declared header of a request to a declared
// host, and nowhere else.
import type { PluginManifest, SecretRequest } from '../../../sdk/plugin/manifest.ts';
import type { Sealing } from '../../lib/sealing.ts';
import type { Scope } from '../../store/store.ts';
import { CallError } from '../door-call.ts';
import type { Install } from '../installs/schema.ts';

/** Nobody who merely writes issues can guess one, and so have a plugin's request refused. The same in every run of an install. */
function placeholderOf(sealing: Sealing, scope: Scope, installId: string, name: string): string {
  const tag = sealing.sign(`${scope.workspaceId}/${installId}/${name}`, 'plugin-secret-placeholder');
  return `tatami-secret-${name}-${tag}`;
}

/** Placeholders by name, of all secrets that a manifest declares. */
export type Placeholders = Readonly<Record<string, string>>;

export function placeholdersOf(
  sealing: Sealing,
  scope: Scope,
  { id, manifest }: Pick<Install, 'id' | 'manifest'>,
): Placeholders {
  return Object.fromEntries(
    Object.keys(manifest.secrets ?? {}).map((name) => [name, placeholderOf(sealing, scope, id, name)]),
  );
}

export interface SecretsForGuest {
  readonly refs: Placeholders;
  readonly set: readonly string[];
}

/** What a run is told of its secrets; undefined where the plugin has none. */
export function secretsForGuest(
  sealing: Sealing,
  scope: Scope,
  install: Pick<Install, 'id' | 'manifest' | 'secretsSet'>,
): SecretsForGuest | undefined {
  if (!install.manifest.secrets) return undefined;
  const refs = placeholdersOf(sealing, scope, install);
  return { refs, set: Object.keys(install.secretsSet).filter((name) => Object.hasOwn(refs, name)) };
}

export interface OutgoingText {
  readonly origin: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface HeaderSecret {
  readonly name: string;
  readonly request: SecretRequest;
}

/**
 * Which of the headers hold a secret, by the header's name as it was given.
 * @throws CallError egress_denied where a placeholder stands anywhere else
 */
export function findSecrets(
  { secrets = {} }: Pick<PluginManifest, 'secrets'>,
  placeholders: Placeholders,
  { origin, url, headers, body }: OutgoingText,
): ReadonlyMap<string, HeaderSecret> {
  const found = new Map<string, HeaderSecret>();
  for (const [name, placeholder] of Object.entries(placeholders)) {
    const request = secrets[name]!;
    const elsewhere = [url, body ?? '', ...Object.keys(headers)].some((text) => holds(text, placeholder));
    if (elsewhere)
      throw misplaced(name, request, 'It stands in the address, in the body or in the name of a header');
    for (const [header, value] of Object.entries(headers)) {
      if (!holds(value, placeholder)) continue;
      if (header.toLowerCase() !== request.header.toLowerCase())
        throw misplaced(name, request, `It stands in the header ${header}`);
      if (!request.hosts.includes(origin)) throw misplaced(name, request, `It was to be sent to ${origin}`);
      if (value !== placeholder && value !== formatted(request, placeholder))
        throw misplaced(name, request, 'Other text stands beside it');
      found.set(header, { name, request });
    }
  }
  return found;
}

const holds = (text: string, placeholder: string): boolean =>
  text.toLowerCase().includes(placeholder.toLowerCase());

export function formatted({ format = '{}' }: SecretRequest, secret: string): string {
  // A function: `$&` in a secret is no pattern.
  return format.replace('{}', () => secret);
}

function misplaced(name: string, { header, hosts }: SecretRequest, why: string): CallError {
  return new CallError(
    'egress_denied',
    `The secret ${name} is sent only as the header ${header} to ${hosts.join(', ')}. ${why}.`,
  );
}
