// `tatami plugin action PLUGIN NAME`: calls an action and waits for how it ends.
import { parseJsonText } from '../../../../platform/lib/json/json-fault.ts';
import { CommandError, exitCodes, printResult, say } from '../../lib/output.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { saying } from '../author/known.ts';
import { runLines, untilEnded, type Run } from './run.ts';

export interface ActionOptions extends RemoteOptions {
  readonly target?: string;
  /** JSON of an object. */
  readonly input?: string;
}

export async function callAction(plugin: string, action: string, options: ActionOptions): Promise<void> {
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(plugin)}/actions/${encodeURIComponent(action)}`;
  const body = {
    ...(options.target === undefined ? {} : { target: options.target }),
    ...(options.input === undefined ? {} : { input: inputOf(options.input) }),
  };
  const asked = await saying(call, { plugin }, call<Answered>('POST', path, body));
  const look = (): Promise<Answered> => call<Answered>('GET', `${path}/runs/${asked.id}`);
  const run = await untilEnded(asked, look, ({ status }) => status === 'succeeded' || status === 'dead');
  printResult(run, options, (shown) =>
    [runLines(shown), ...(shown.result === null ? [] : [JSON.stringify(shown.result, null, 2)])].join('\n'),
  );
  if (run.status !== 'succeeded') {
    say('The action failed and is not retried automatically. Correct the cause, then call the action again.');
    process.exitCode = exitCodes.failed;
  }
}

type Answered = Run & { readonly result: unknown };

function inputOf(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    throw new CommandError(
      `--input is not JSON: ${(error as Error).message}. Pass an object, such as --input '{"dryRun": true}'.`,
      exitCodes.usage,
    );
  }
}
