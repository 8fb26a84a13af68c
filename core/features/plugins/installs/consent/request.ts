// Formats the requested permissions of a plugin version for a terminal, the same way before installation and while consent is pending.
import { everything, type Consent } from './consent.ts';

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
