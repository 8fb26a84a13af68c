// `tatami plugin consent PLUGIN`: what the version that waits asks for, and the answer to it.
import { consentLines, type Consent } from '../../../features/plugins/offline.ts';
import { printableCopy } from '../../../platform/lib/text/printable.ts';
import { CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { saying } from './author/known.ts';
import { confirm } from './install.ts';
import { missingSecrets, type WithSecrets } from './secrets/missing.ts';

export interface ConsentCommandOptions extends RemoteOptions {
  yes?: boolean;
  refuse?: boolean;
}

interface ConsentResponse extends WithSecrets {
  pluginVersion: string;
}

export async function consent(plugin: string, options: ConsentCommandOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/consent`;
  if (options.refuse === true) {
    const kept = await saying(call, { plugin }, call<ConsentResponse>('DELETE', path));
    printResult(kept, options, (shown) => `${shown.pluginId} stays at ${shown.pluginVersion}`);
    return;
  }
  const [{ installed, pending }, { id, pluginId }] = await saying(
    call,
    { plugin },
    Promise.all([
      call<{ installed: Consent; pending: Consent | null }>('GET', path),
      call<{ id: string; pluginId: string }>('GET', `/plugins/${encodeURIComponent(plugin)}`),
    ]),
  );
  if (!pending)
    throw new CommandError(
      `No version of ${plugin} needs consent. List the versions with \`tatami plugin versions ${plugin}\`.`,
      exitCodes.failed,
    );
  for (const line of consentLines(pluginId, printableCopy(pending), { ...installed, id })) say(line);
  if (options.yes !== true) await confirm('Nothing was changed.');
  const grant = pending.scopes.map(({ scope }) => scope);
  const made = await call<ConsentResponse>('POST', path, {
    grant,
    sha256: pending.sha256,
    digest: pending.digest,
  });
  printResult(
    made,
    options,
    (shown) => `${shown.pluginId} ${shown.pluginVersion} is installed${missingSecrets(shown)}`,
  );
}
