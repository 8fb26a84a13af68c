// Lists the permissions that a plugin version requests, each with a sentence and its difference from the
// previous version.
import type { NetRequest, PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { listed } from '../../../../platform/lib/text/words.ts';
import { zoneOf } from '../manifest.ts';
import { expandScopes, sentenceOf, type Narrowed } from '../../../../kernel/rights/table.ts';
import { readScopeOf } from '../../../../kernel/rights/rights.ts';
import type { Consent } from '../schema.ts';
import { digestOf } from './signature.ts';

interface RequestingVersion {
  readonly manifest: PluginManifest;
  readonly sha256: string;
  readonly publisher: string | null;
  /** Key id of an untrusted signature; null if the package is unsigned, absent if unknown. */
  readonly unknownKey?: string | null;
}

/** The previous version and its grant. */
interface Before {
  readonly manifest: PluginManifest;
  readonly grant: readonly string[];
}

/**
 * @param before the installed version; null for a new plugin, whose requests are all new
 * @param unhandled result of `unhandledOneTimeJobs`, if the consent is shown to a person
 */
export function consentOf(
  version: RequestingVersion,
  before: Before | null,
  unhandled: readonly string[] = [],
): Consent {
  const { manifest } = version;
  const was: Partial<PluginManifest> = before?.manifest ?? {};
  return {
    version: manifest.version,
    sha256: version.sha256,
    digest: digestOf(version),
    publisher: version.publisher,
    signature: signatureSentence(version.publisher, version.unknownKey),
    scopes: scopesOf(manifest, before),
    hosts: (manifest.net ?? []).map((host) => ({
      origin: host.origin,
      methods: host.methods ?? null,
      path: host.path ?? null,
      why: host.why,
      ...describeHost(host, was.net ?? []),
    })),
    ...handledBy(manifest, was),
    removed: goneOf(manifest, was),
    unhandled: [...unhandled],
  };
}

/**
 * Returns the requests that the manifest keys by name or type: secrets, events, schedules, actions and
 * routes.
 */
function handledBy(manifest: PluginManifest, was: Partial<PluginManifest>) {
  const { secrets = {}, on = {}, schedules = {}, actions = {}, routes = {} } = manifest;
  return {
    secrets: Object.entries(secrets).map(([name, { hosts, header }]) => ({
      name,
      hosts: [...hosts],
      header,
      ...describeRequest(name, secrets, was.secrets, secretSentence),
    })),
    events: Object.keys(on).map((type) => ({ type, ...describeRequest(type, on, was.on, eventSentence) })),
    schedules: Object.entries(schedules).map(([name, schedule]) => ({
      ...toScheduleResponse(name, schedule),
      ...describeRequest(name, schedules, was.schedules, scheduleSentence),
    })),
    actions: Object.entries(actions).map(([name, { target }]) => ({
      name,
      target,
      ...describeRequest(name, actions, was.actions, actionSentence),
    })),
    routes: Object.entries(routes).map(([name, { method, auth, why = '' }]) => ({
      name,
      method,
      auth,
      why,
      ...describeRequest(name, routes, was.routes, routeSentence),
    })),
  };
}

/** Returns the sentences of the requests beyond the previous version. */
export function additions(consent: Consent): string[] {
  return everything(consent)
    .filter(({ added }) => added)
    .map(({ sentence }) => sentence);
}

/**
 * True if the version could act beyond what was approved without further action by an administrator. Secrets
 * and signed routes do not count, because an administrator sets or opens each of them.
 */
export function asksMorePower({ scopes, hosts, schedules, routes }: Consent): boolean {
  const open = routes.filter(({ auth }) => auth === 'public');
  return [...scopes, ...hosts, ...schedules, ...open].some(({ added }) => added);
}

/** Returns all requests in display order. */
function everything({ scopes, hosts, secrets, events, schedules, actions, routes }: Consent) {
  return [...scopes, ...hosts, ...secrets, ...events, ...schedules, ...actions, ...routes];
}

type Sentence<T> = (name: string, one: T) => string;
type Members<T> = Readonly<Record<string, T>>;

function describeRequest<T>(
  name: string,
  now: Members<T>,
  was: Members<T> | undefined,
  sentenceFor: Sentence<T>,
) {
  const sentence = sentenceFor(name, now[name]!);
  const before = was && Object.hasOwn(was, name) ? sentenceFor(name, was[name]!) : null;
  return { sentence, added: before !== sentence, before: before === sentence ? null : before };
}

type Requests = NonNullable<PluginManifest['scopes']>;

function scopesOf({ scopes = {} }: PluginManifest, before: Before | null): Consent['scopes'] {
  const previousScopes = before?.manifest.scopes ?? {};
  const granted = expandScopes(before?.grant ?? []);
  return Object.entries(scopes).map(([scope, request]) => {
    const { sentence, before: shorter } = describeRequest(scope, scopes, previousScopes, sentenceOf);
    return {
      scope,
      why: request.why,
      rows: request.where ?? null,
      fields: request.fields ?? null,
      granted: granted.has(scope),
      sentence,
      before: shorter,
      added: !isRequested(scope, request, previousScopes),
    };
  });
}

/** True if the previous version already requested this access; a write scope covers its read scope. */
function isRequested(scope: string, request: Narrowed, before: Requests): boolean {
  const [own, implying] = [before[scope], before[scope.replace(/:read$/, ':write')]];
  if (own && isWithin(own.fields, request.fields) && isWithinRows(own.where, request.where)) return true;
  return (
    scope === readScopeOf(scope) && implying !== undefined && isWithinRows(implying.where, request.where)
  );
}

/** A missing list means no restriction. */
function isWithin(wide: readonly string[] | null | undefined, narrow: readonly string[] | null | undefined) {
  return !wide || (narrow?.every((one) => wide.includes(one)) ?? false);
}

function isWithinRows(wide: Narrowed['where'], narrow: Narrowed['where']): boolean {
  return Object.entries(wide ?? {}).every(([word, values]) => isWithin(values, narrow?.[word]));
}

/**
 * A request is not new if an earlier one covers it. `before` describes all earlier requests for the origin,
 * unless one of them is the same.
 */
function describeHost(now: NetRequest, was: readonly NetRequest[]) {
  const sentence = hostSentence(now);
  const ofOrigin = was.filter(({ origin }) => origin === now.origin);
  const before = ofOrigin.map(hostSentence);
  return {
    sentence,
    added: !ofOrigin.some((one) => isWithin(one.methods, now.methods) && isBelow(one.path, now.path)),
    before: before.length === 0 || before.includes(sentence) ? null : before.join(' '),
  };
}

/** A path that ends with `/` covers all paths below it. */
function isBelow(wide = '/', narrow = '/'): boolean {
  return wide === narrow || (wide.endsWith('/') && narrow.startsWith(wide));
}

function goneOf(manifest: PluginManifest, was: Partial<PluginManifest>): string[] {
  const gone = <T>(now: Members<T> | undefined, then: Members<T> = {}, sentenceFor: Sentence<T>): string[] =>
    Object.entries(then).flatMap(([name, one]) =>
      now && Object.hasOwn(now, name) ? [] : [sentenceFor(name, one)],
    );
  const origins = new Set(manifest.net?.map(({ origin }) => origin));
  const reads = expandScopes(Object.keys(manifest.scopes ?? {}));
  const scopes = Object.fromEntries(Object.entries(was.scopes ?? {}).filter(([scope]) => !reads.has(scope)));
  return [
    ...gone(manifest.scopes, scopes, sentenceOf),
    ...(was.net ?? []).filter(({ origin }) => !origins.has(origin)).map(hostSentence),
    ...gone(manifest.secrets, was.secrets, secretSentence),
    ...gone(manifest.on, was.on, eventSentence),
    ...gone(manifest.schedules, was.schedules, scheduleSentence),
    ...gone(manifest.actions, was.actions, actionSentence),
    ...gone(manifest.routes, was.routes, routeSentence),
  ];
}

/** Installed version that the new one replaces. */
export interface Replaced {
  readonly id: string;
  readonly version: string;
  readonly sha256: string;
}

/**
 * The lines need no escaping, because `parsePackage` refuses control characters in a manifest.
 * @param replaced null if the plugin is not installed
 */
export function consentLines(pluginId: string, consent: Consent, replaced: Replaced | null): string[] {
  const entries = everything(consent);
  const isSame = entries.every((one) => signOf(one) === ' ') && consent.removed.length === 0;
  return [
    headline(pluginId, consent, replaced),
    ...entries.flatMap((one) => entryLines(one, replaced !== null)),
    ...consent.removed.map((sentence) => `  - ${sentence}`),
    ...consent.unhandled.map((sentence) => `  ! ${sentence}`),
    ...(entries.length === 0 ? ['  nothing'] : []),
    ...(replaced && isSame ? ['  the same as before'] : []),
    `  ${consent.signature}`,
    `  sha256 ${consent.sha256}`,
  ];
}

type ConsentEntry = ReturnType<typeof everything>[number];

function entryLines(one: ConsentEntry, isUpgrade: boolean): string[] {
  const why = 'why' in one && one.why !== '' ? one.why : null;
  const more = [...('scope' in one ? [one.scope] : []), ...(why === null ? [] : [why])].join(': ');
  return [
    `  ${isUpgrade ? `${signOf(one)} ` : ''}${one.sentence}${more === '' ? '' : ` (${more})`}`,
    ...(one.before === null ? [] : [`      before: ${one.before}`]),
  ];
}

/** A permission that was requested but never granted counts as new. */
function signOf(one: ConsentEntry): '+' | '~' | ' ' {
  if (one.added || ('granted' in one && !one.granted)) return '+';
  return one.before === null ? ' ' : '~';
}

function headline(pluginId: string, { version, sha256 }: Consent, replaced: Replaced | null): string {
  if (!replaced) return `${pluginId} ${version} requests:`;
  if (version !== replaced.version)
    return `${pluginId} ${version} replaces ${replaced.version} (installed as ${replaced.id}) and requests (+ is new):`;
  if (sha256 === replaced.sha256)
    return `${pluginId} ${version} is already installed as ${replaced.id} and requests:`;
  const [now, before] = [sha256, replaced.sha256].map((hash) => hash.slice(0, 12));
  return `${pluginId} ${version} is already installed as ${replaced.id} with different code (sha256 ${now}…, before ${before}…) and requests (+ is new):`;
}

type Section<Name extends keyof PluginManifest> = NonNullable<PluginManifest[Name]>;

/** Returns a sentence such as `Send POST requests to https://api.acme.dev/v1/ and all paths below it.` */
function hostSentence({ origin, methods, path = '/' }: NetRequest): string {
  const what = methods ? `${listed(methods, 'and')} requests` : 'requests of any method';
  if (path === '/') return `Send ${what} to any path of ${origin}.`;
  return `Send ${what} to ${origin}${path}${path.endsWith('/') ? ' and all paths below it' : ''}.`;
}

function secretSentence(name: string, { hosts, header }: Section<'secrets'>[string]): string {
  return `Use the secret ${name}, sent in the header ${header} to ${listed(hosts, 'and')}.`;
}

export function toScheduleResponse(name: string, schedule: Section<'schedules'>[string]) {
  const zone = zoneOf(schedule);
  return { name, cron: schedule.cron ?? null, timeZone: zone, tz: zone };
}

function scheduleSentence(name: string, schedule: Section<'schedules'>[string]): string {
  const { cron } = schedule;
  return cron === undefined
    ? `Run ${name} at times that the plugin schedules.`
    : `Run ${name} on the schedule ${cron} (${zoneOf(schedule)}).`;
}

function eventSentence(type: string, { filter }: Section<'on'>[string]): string {
  return `Receive ${type} events${filter ? ` where ${JSON.stringify(filter)}` : ''}.`;
}

function actionSentence(name: string, { target }: Section<'actions'>[string]): string {
  return `Offer the action ${name}${target === 'none' ? '' : ` on an ${target}`.replace('an project', 'a project')}.`;
}

function routeSentence(name: string, { method, auth }: Section<'routes'>[string]): string {
  const sent = auth === 'public' ? `${method} requests from anyone` : `signed ${method} requests`;
  return `Accept ${sent} at the ${auth === 'public' ? 'public ' : ''}route ${name}, once opened.`;
}

/** @param unknownKey key id of an untrusted signature; null if the package is unsigned, absent if unknown */
function signatureSentence(publisher: string | null, unknownKey?: string | null): string {
  if (publisher !== null) return `Signed by ${publisher}, which this server trusts.`;
  if (unknownKey === null) return 'Not signed.';
  const key = unknownKey === undefined ? '' : `: the key ${unknownKey} is unknown`;
  return `Not signed by a trusted publisher${key}.`;
}
