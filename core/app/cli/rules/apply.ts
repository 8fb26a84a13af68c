// `tatami rules apply DIR`: makes the automations of the server those of a folder.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { printable } from '../../../platform/lib/text/printable.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { CommandError, printResult, say } from '../lib/output.ts';
import { confirm } from '../lib/question.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { readFilled, type Automation } from './files.ts';
import { planLines, renameText, summaryOf, type Summary } from './lines.ts';
import { planOf, writeOf, type Plan, type Step } from './steps.ts';

export interface ApplyOptions extends RemoteOptions {
  /** Deletes the automations that no file describes. */
  delete?: boolean;
  yes?: boolean;
  /** False to let new and changed rules write without approved runs. */
  probation?: boolean;
}

interface Applied extends Summary {
  readonly id: string;
  readonly state: string;
  /** Number of runs that only propose their changes; null without probation. */
  readonly runsLeft: number | null;
}

/** @param folder where relative paths begin */
export async function apply(dir: string, options: ApplyOptions, folder: string): Promise<void> {
  const call = connect(options);
  const planned = await planOf(call, readFilled(dir, folder), {
    deletes: options.delete === true,
    endsProbation: options.probation === false,
  });
  if (planned.steps.length > 0 && options.yes !== true) await confirmPlan(planned, options.probation);
  else for (const rename of planned.renames) say(printable(renameText(rename)));
  const applied: Applied[] = [];
  for (const step of planned.steps)
    try {
      applied.push(await performed(call, step, options.probation));
    } catch (error) {
      throw named(error, step, applied);
    }
  const others = planned.others.map(({ id, name }) => ({ id, name }));
  printResult({ steps: applied, others }, options, (shown) =>
    (shown.steps.length === 0
      ? planLines({ ...shown, onProbation: [], renames: [] })
      : shown.steps.map(lineOf)
    ).join('\n'),
  );
}

async function confirmPlan({ steps, ...rest }: Plan, probation?: boolean): Promise<void> {
  const shown = steps.map((step) => ({
    ...summaryOf(step),
    ...(probation === false ? { startsProbation: false } : {}),
  }));
  for (const line of planLines({ steps: shown, ...rest })) say(line);
  await confirm(`Apply ${counted(steps.length, 'change')}?`);
}

async function performed(call: Call, step: Step, probation?: boolean): Promise<Applied> {
  if (step.does === 'delete') {
    const { id, version } = step.automation;
    await call('DELETE', `/automations/${id}`, undefined, { ifVersion: version });
    return { ...summaryOf(step), id, state: 'deleted', runsLeft: null };
  }
  const [method, path, body] = writeOf(step);
  const writes = step.does === 'create' || Object.keys(body).length > 0;
  const sent = probation === false ? { ...body, probation } : body;
  const ifVersion = step.does === 'change' ? step.automation.version : undefined;
  const written = writes ? await call<Automation>(method, path, sent, { ifVersion }) : null;
  const before = written ?? (step as Extract<Step, { does: 'change' }>).automation;
  const after = await inState(call, before, step.rule.enabled);
  const runsLeft = after.mode === 'apply' ? (after.probation?.runsLeft ?? null) : null;
  return { ...summaryOf(step), id: after.id, state: after.state, runsLeft };
}

/** Enables or pauses an automation. */
async function inState(
  call: Call,
  automation: Automation,
  enabled: boolean | undefined,
): Promise<Automation> {
  const { id, state } = automation;
  if (enabled === undefined || enabled === (state === 'active')) return automation;
  const path = `/automations/${id}/${enabled ? 'enable' : 'disable'}`;
  return call<Automation>('POST', path, enabled ? { force: true } : {});
}

function named(error: unknown, step: Step, applied: readonly Applied[]): unknown {
  if (!(error instanceof ApiCallError)) return error;
  const place = step.does === 'delete' ? step.automation.name : step.file;
  return new CommandError(`${place}: ${error.message}`, 1, {
    lines: applied.map((one) => `Applied before: ${lineOf(one)}`),
    code: error.code,
    cause: error,
  });
}

const past = { create: 'created', change: 'changed', delete: 'deleted' } as const;

const lineOf = ({ does, file, id, name, ...after }: Applied): string =>
  [past[does], file ?? name, id, ...(does === 'delete' ? [] : [stateText(after)])].join('  ');

/** Returns `active, proposes its next 20 runs` for a rule on probation. */
const stateText = ({ state, runsLeft }: Pick<Applied, 'state' | 'runsLeft'>): string =>
  state !== 'active' || runsLeft === null
    ? state
    : `${state}, proposes its next ${runsLeft === 1 ? 'run' : `${runsLeft} runs`}`;
