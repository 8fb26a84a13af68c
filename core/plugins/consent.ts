// What a version of a plugin asks for, on a terminal: the same lines before it is installed and while it waits for consent.
import { everything, type Consent } from './installs/consent.ts';

/** What the version takes the place of, as far as a headline tells it. */
export interface Replaced {
  readonly id: string;
  readonly version: string;
  readonly sha256: string;
}

/** @param replaced null where the plugin is not installed. A manifest holds no control characters (`parsePackage`) */
export function consentLines(pluginId: string, consent: Consent, replaced: Replaced | null): string[] {
  const asked = everything(consent);
  const isSame = asked.every((one) => signOf(one) === ' ') && consent.removed.length === 0;
  return [
    headline(pluginId, consent, replaced),
    ...asked.flatMap((one) => askedLines(one, replaced !== null)),
    ...consent.removed.map((sentence) => `  - ${sentence}`),
    ...consent.unhandled.map((sentence) => `  ! ${sentence}`),
    ...(asked.length === 0 ? ['  nothing'] : []),
    ...(replaced && isSame ? ['  the same as before'] : []),
    `  ${consent.signature}`,
    `  sha256 ${consent.sha256}`,
  ];
}

type Asked = ReturnType<typeof everything>[number];

function askedLines(one: Asked, isUpgrade: boolean): string[] {
  const why = 'why' in one && one.why !== '' ? one.why : null;
  // Grants name scopes.
  const more = [...('scope' in one ? [one.scope] : []), ...(why === null ? [] : [why])].join(': ');
  return [
    `  ${isUpgrade ? `${signOf(one)} ` : ''}${one.sentence}${more === '' ? '' : ` (${more})`}`,
    ...(one.before === null ? [] : [`      before: ${one.before}`]),
  ];
}

/** What was not granted until now is as new as what was not asked for. */
function signOf(one: Asked): '+' | '~' | ' ' {
  if (one.added || ('granted' in one && !one.granted)) return '+';
  return one.before === null ? ' ' : '~';
}

function headline(pluginId: string, { version, sha256 }: Consent, replaced: Replaced | null): string {
  if (!replaced) return `${pluginId} ${version} asks for:`;
  if (version !== replaced.version)
    return `${pluginId} ${version} replaces ${replaced.version}, installed as ${replaced.id}, and asks for, with + before what is new:`;
  if (sha256 === replaced.sha256)
    return `${pluginId} ${version} is installed already, as ${replaced.id}, and asks for:`;
  const [now, before] = [sha256, replaced.sha256].map((hash) => hash.slice(0, 12));
  return `${pluginId} ${version} is installed already, as ${replaced.id}; this is other code (sha256 ${now}…, before ${before}…), and asks for, with + before what is new:`;
}
