// `tatami plugin secrets list PLUGIN`.
import { printResult } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { secretLine, secretsPath, type Secret } from './secret.ts';

export async function list(plugin: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const { data } = await saying(call, { plugin }, call<{ data: Secret[] }>('GET', secretsPath(plugin)));
  printResult(data, options, (shown) =>
    shown.length === 0 ? `${plugin} needs no secrets.` : shown.map(secretLine).join('\n'),
  );
}
