// `tatami plugin consent PLUGIN`: what the version that waits asks for, and the answer to it.
import type { Consent } from '../../plugins/installs/consent.ts';
import { printableCopy } from '../../lib/printable.ts';
import { CommandError, exitCodes, printResult, say } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { saying } from './known.ts';
import { confirm } from './install.ts';

export interface ConsentOptions extends RemoteOptions {
  yes?: boolean;
  refuse?: boolean;
}

interface Shown {
  pluginId: string;
  pluginVersion: string;
}

export async function consent(plugin: string, options: ConsentOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/consent`;
  if (options.refuse === true) {
    const kept = await saying(call, { plugin }, call<Shown>('DELETE', path));
    printResult(kept, options, (shown) => `${shown.pluginId} stays at ${shown.pluginVersion}`);
    return;
  }
  const { pending } = await saying(call, { plugin }, call<{ pending: Consent | null }>('GET', path));
  if (!pending) throw new CommandError(`No version of ${plugin} waits for consent.`, exitCodes.failed);
  for (const line of pendingLines(printableCopy(pending))) say(line);
  if (options.yes !== true) await confirm('Nothing was changed.');
  const grant = pending.scopes.map(({ scope }) => scope);
  const made = await call<Shown>('POST', path, { grant, sha256: pending.sha256 });
  printResult(made, options, (shown) => `${shown.pluginId} ${shown.pluginVersion} is installed`);
}

function pendingLines({ version, sha256, publisher, scopes, hosts, schedules }: Consent): string[] {
  const sign = (added: boolean): string => (added ? '+' : ' ');
  return [
    `Version ${version} (sha256 ${sha256}${publisher === null ? '' : `, signed by ${publisher}`}) asks for, with + before what is new:`,
    ...scopes.map(({ added, sentence, why }) => `  ${sign(added)} ${sentence} (${why})`),
    ...hosts.map(({ added, origin, why }) => `  ${sign(added)} Send to ${origin}. (${why})`),
    ...schedules.map(
      ({ added, name, cron, tz }) =>
        `  ${sign(added)} Run ${name} ${cron === null ? 'when it asks for it' : `on its own at ${cron} (${tz})`}.`,
    ),
  ];
}
