// `tatami plugin secrets delete PLUGIN NAME`.
import { printResult } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { secretsPath } from './secret.ts';

export async function deleteSecret(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  await saying(call, { plugin }, call('DELETE', secretsPath(plugin, name)));
  printResult({ plugin, name, setAt: null }, options, (shown) => `${shown.name} is no longer set.`);
}
