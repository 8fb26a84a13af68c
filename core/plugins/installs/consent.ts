// What a version of a plugin asks for, as data: every right in a sentence, and which of them the version before did not ask for.
import { Type, type Static } from 'typebox';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { Closed, nullable } from '../../lib/schema.ts';
import { readScopeOf } from '../../rights/rights.ts';
import { publisher, scheduleFields } from './contract.ts';
import { sentenceOf, type Narrowed } from '../../rights/words.ts';

const added = Type.Boolean({ description: 'Whether the version before did not ask for it, or for less.' });
const sha256 = Type.String({ description: 'The SHA-256 of its code, in hex.' });

export const Consent = Closed({
  version: Type.String({ description: 'The version of the package.' }),
  sha256,
  publisher,
  scopes: Type.Array(
    Closed({
      scope: Type.String({ description: 'Such as `issues:write`.' }),
      sentence: Type.String({ description: 'What it lets the plugin do.' }),
      why: Type.String({ description: 'What it needs it for, as its author says.' }),
      rows: nullable(
        Type.Record(Type.String(), Type.Array(Type.String()), {
          description: 'The only objects that it reads and writes; null for all.',
        }),
      ),
      fields: nullable(Type.Array(Type.String(), { description: 'The only fields; null for all.' })),
      added,
    }),
    { description: 'The rights that it asks for.' },
  ),
  hosts: Type.Array(
    Closed({
      origin: Type.String({ description: 'An address that it may send to.' }),
      why: Type.String({ description: 'What for, as its author says.' }),
      added,
    }),
    { description: 'Where it may send.' },
  ),
  schedules: Type.Array(Closed({ ...scheduleFields, added }), { description: 'When it runs by itself.' }),
  events: Type.Array(Type.String(), { description: 'The types of events that it is sent.' }),
});
export type Consent = Static<typeof Consent>;

/** @param before what it asked for until now; null where it is new, and everything is asked for the first time */
export function consentOf(
  { manifest, ...of }: Pick<Consent, 'sha256' | 'publisher'> & { readonly manifest: PluginManifest },
  before: PluginManifest | null,
): Consent {
  const asked = before?.scopes ?? {};
  const [hosts, schedules] = [new Set(hostsOf(before ?? {}).map(textOf)), scheduleTexts(before ?? {})];
  return {
    version: manifest.version,
    sha256: of.sha256,
    publisher: of.publisher,
    scopes: Object.entries(manifest.scopes ?? {}).map(([scope, request]) => ({
      scope,
      sentence: sentenceOf(scope, request),
      why: request.why,
      rows: request.where ?? null,
      fields: request.fields ?? null,
      added: !isAsked(scope, request, asked),
    })),
    hosts: hostsOf(manifest).map((host) => ({
      origin: host.origin,
      why: host.why ?? '',
      added: !hosts.has(textOf(host)),
    })),
    schedules: Object.entries(manifest.schedules ?? {}).map(([name, { cron, tz = 'UTC' }]) => ({
      ...{ name, cron: cron ?? null, tz },
      added: !schedules.has(`${name} ${cron} ${tz}`),
    })),
    events: Object.keys(manifest.on ?? {}),
  };
}

/** Sentences of what it asks beyond the version before; empty where that is nothing. */
export function additions({ scopes, hosts, schedules }: Consent): string[] {
  return [
    ...scopes.filter(isAdded).map(({ sentence }) => sentence),
    ...hosts.filter(isAdded).map(({ origin }) => `Send to ${origin}.`),
    ...schedules
      .filter(isAdded)
      .map(({ name, cron, tz }) =>
        cron === null ? `Run ${name} when it asks for it.` : `Run ${name} on its own at ${cron} (${tz}).`,
      ),
  ];
}

const isAdded = (one: { readonly added: boolean }): boolean => one.added;

type Requests = NonNullable<PluginManifest['scopes']>;

/** Whether as much was asked for before; reading, by a scope to write as well. */
function isAsked(scope: string, request: Narrowed, before: Requests): boolean {
  const [own, implying] = [before[scope], before[scope.replace(/:read$/, ':write')]];
  if (own && isWithin(own.fields, request.fields) && isWithinRows(own.where, request.where)) return true;
  return (
    scope === readScopeOf(scope) && implying !== undefined && isWithinRows(implying.where, request.where)
  );
}

/** Without a list everything is meant. */
function isWithin(wide: readonly string[] | null | undefined, narrow: readonly string[] | null | undefined) {
  return !wide || (narrow?.every((one) => wide.includes(one)) ?? false);
}

function isWithinRows(wide: Narrowed['where'], narrow: Narrowed['where']): boolean {
  return Object.entries(wide ?? {}).every(([word, values]) => isWithin(values, narrow?.[word]));
}

/** What a manifest says of the addresses that it sends to. */
interface Host {
  readonly origin: string;
  readonly why?: string;
  readonly methods?: readonly string[];
  readonly path?: string;
}

function hostsOf(manifest: Partial<PluginManifest> & { readonly net?: readonly Host[] }): readonly Host[] {
  return manifest.net ?? [];
}

function textOf({ origin, methods = [], path = '/' }: Host): string {
  return `${origin} ${[...methods].sort().join()} ${path}`;
}

function scheduleTexts({ schedules = {} }: Pick<PluginManifest, 'schedules'>): ReadonlySet<string> {
  return new Set(Object.entries(schedules).map(([name, { cron, tz = 'UTC' }]) => `${name} ${cron} ${tz}`));
}
