// `tatami plugin secrets delete PLUGIN NAME`.
import { printResult } from '../../output.ts';
import { connect, type RemoteOptions } from '../../remote.ts';
import { saying } from '../known.ts';
import { secretsPath } from './secret.ts';

export async function deleteSecret(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  await saying(call, { plugin }, call('DELETE', secretsPath(plugin, name)));
  printResult({ plugin, name, setAt: null }, options, (shown) => `${shown.name} is no longer set.`);
}
