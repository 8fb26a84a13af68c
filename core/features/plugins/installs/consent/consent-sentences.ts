// Describes the requests of a manifest other than scopes, one sentence each.
import type { NetRequest, PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { listed } from '../../../../platform/lib/text/words.ts';
import { zoneOf } from '../versions/schedule-zone.ts';

type Members<Name extends keyof PluginManifest> = NonNullable<PluginManifest[Name]>;

/** Returns a sentence such as `Send POST requests to https://api.acme.dev/v1/ and all paths below it.` */
export function hostSentence({ origin, methods, path = '/' }: NetRequest): string {
  const what = methods ? `${listed(methods, 'and')} requests` : 'requests of any method';
  if (path === '/') return `Send ${what} to any path of ${origin}.`;
  return `Send ${what} to ${origin}${path}${path.endsWith('/') ? ' and all paths below it' : ''}.`;
}

export function secretSentence(name: string, { hosts, header }: Members<'secrets'>[string]): string {
  return `Use the secret ${name}, sent in the header ${header} to ${listed(hosts, 'and')}.`;
}

export function toScheduleResponse(name: string, schedule: Members<'schedules'>[string]) {
  const zone = zoneOf(schedule);
  return { name, cron: schedule.cron ?? null, timeZone: zone, tz: zone };
}

export function scheduleSentence(name: string, schedule: Members<'schedules'>[string]): string {
  const { cron } = schedule;
  return cron === undefined
    ? `Run ${name} at times that the plugin schedules.`
    : `Run ${name} on the schedule ${cron} (${zoneOf(schedule)}).`;
}

export function eventSentence(type: string, { filter }: Members<'on'>[string]): string {
  return `Receive ${type} events${filter ? ` where ${JSON.stringify(filter)}` : ''}.`;
}

export function actionSentence(name: string, { target }: Members<'actions'>[string]): string {
  return `Offer the action ${name}${target === 'none' ? '' : ` on an ${target}`.replace('an project', 'a project')}.`;
}

export function routeSentence(name: string, { method, auth }: Members<'routes'>[string]): string {
  const sent = auth === 'public' ? `${method} requests from anyone` : `signed ${method} requests`;
  return `Accept ${sent} at the ${auth === 'public' ? 'public ' : ''}route ${name}, once opened.`;
}

/** @param unknownKey key id of an untrusted signature; null if the package is unsigned, absent if unknown */
export function signatureSentence(publisher: string | null, unknownKey?: string | null): string {
  if (publisher !== null) return `Signed by ${publisher}, which this server trusts.`;
  if (unknownKey === null) return 'Not signed.';
  const key = unknownKey === undefined ? '' : `: the key ${unknownKey} is unknown`;
  return `Not signed by a trusted publisher${key}.`;
}
