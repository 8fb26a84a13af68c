// `tatami plugin versions` and `tatami plugin rollback`: what was installed before, and the way back to it.
import { printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { saying } from './author/known.ts';
import { missingSecrets, type WithSecrets } from './secrets/missing.ts';

interface Version {
  version: string;
  sha256: string;
  publisher: string | null;
  installedAt: string;
  replacedAt: string | null;
}

export async function versions(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/versions`;
  const { data } = await saying(call, { plugin }, call<{ data: Version[] }>('GET', path));
  printResult(data, options, (shown) => shown.map(line).join('\n'));
}

function line({ version, sha256, publisher, installedAt, replacedAt }: Version): string {
  const until = replacedAt === null ? 'installed' : `until ${replacedAt}`;
  return `${version.padEnd(12)} sha256:${sha256.slice(0, 12)}…  ${installedAt}  ${until}${publisher === null ? '' : `  ${publisher}`}`;
}

export async function rollback(
  plugin: string,
  version: string | undefined,
  options: RemoteOptions,
): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/rollback`;
  const wanted = version === undefined ? {} : { version };
  const made = await saying(
    call,
    { plugin },
    call<WithSecrets & { pluginVersion: string }>('POST', path, wanted),
  );
  printResult(
    made,
    options,
    (shown) => `${shown.pluginId} is back at ${shown.pluginVersion}${missingSecrets(shown)}`,
  );
}
