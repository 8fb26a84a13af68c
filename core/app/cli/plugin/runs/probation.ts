// `tatami plugin probation PLUGIN [--end|--begin]`: how far a plugin is trusted to write by itself.
import { CommandError, exitCodes, printResult } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { probationLines, type PluginStatus } from '../plugin-status.ts';

export interface ProbationOptions extends RemoteOptions {
  end?: boolean;
  begin?: boolean;
}

interface Install extends PluginStatus {
  readonly pluginId: string;
}

export async function probation(name: string, options: ProbationOptions): Promise<void> {
  if (options.end === true && options.begin === true)
    throw new CommandError('Use --end or --begin, not both.', exitCodes.usage);
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(name)}`;
  const asked =
    options.end === true || options.begin === true
      ? call<Install>('PATCH', path, { probation: options.begin === true })
      : call<Install>('GET', path);
  printResult(await saying(call, { plugin: name }, asked), options, (install) => {
    const [words = `not on probation: mode ${install.mode}`] = probationLines(install);
    return `${install.pluginId}  ${words}`;
  });
}
