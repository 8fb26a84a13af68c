// What a manifest asks for beside scopes, in sentences, as a person is asked for consent.
import type { NetRequest, PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { listed } from '../../lib/listed.ts';
import { zoneOf } from './schedule-zone.ts';

type Members<Name extends keyof PluginManifest> = NonNullable<PluginManifest[Name]>;

/** `Send POST requests to https://api.acme.dev/v1/ and all below it.` */
export function hostSentence({ origin, methods, path = '/' }: NetRequest): string {
  const what = methods ? `${listed(methods, 'and')} requests` : 'requests of any method';
  if (path === '/') return `Send ${what} to any path of ${origin}.`;
  return `Send ${what} to ${origin}${path}${path.endsWith('/') ? ' and all below it' : ''}.`;
}

export function secretSentence(name: string, { hosts, header }: Members<'secrets'>[string]): string {
  return `Use the secret ${name}, sent in the header ${header} to ${listed(hosts, 'and')}.`;
}

/** As installs and consents show it. */
export function shownSchedule(name: string, schedule: Members<'schedules'>[string]) {
  const zone = zoneOf(schedule);
  return { name, cron: schedule.cron ?? null, timeZone: zone, tz: zone };
}

export function scheduleSentence(name: string, schedule: Members<'schedules'>[string]): string {
  const { cron } = schedule;
  return cron === undefined
    ? `Run ${name} when it asks for it.`
    : `Run ${name} on its own at ${cron} (${zoneOf(schedule)}).`;
}

export function eventSentence(type: string, { filter }: Members<'on'>[string]): string {
  return `Hear of ${type}${filter ? ` where ${JSON.stringify(filter)}` : ''}.`;
}

export function actionSentence(name: string, { target }: Members<'actions'>[string]): string {
  return `Let people call ${name}${target === 'none' ? '' : ` on an ${target}`.replace('an project', 'a project')}.`;
}

export function routeSentence(name: string, { method, auth }: Members<'routes'>[string]): string {
  const sent = auth === 'public' ? `${method} requests of anybody` : `signed ${method} requests`;
  return `Answer ${sent} at its ${auth === 'public' ? 'public ' : ''}route ${name}, once it is opened.`;
}

/** @param unknownKey of a signature that nobody whom the operator trusts made; null where there is none, absent where that is not known */
export function signatureSentence(publisher: string | null, unknownKey?: string | null): string {
  if (publisher !== null) return `Signed by ${publisher}, whom this server trusts.`;
  if (unknownKey === null) return 'Nobody signed this.';
  const key = unknownKey === undefined ? '' : `: it does not know the key ${unknownKey}`;
  return `Nobody whom this server trusts signed this${key}.`;
}
