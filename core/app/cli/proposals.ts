// `tatami proposals approve PROPOSAL` and `tatami proposals approve --all`.
import { ApiCallError, type Call } from '../../../sdk/client/index.ts';
import { counted } from '../../platform/lib/text/words.ts';
import { printableCopy } from '../../platform/lib/text/printable.ts';
import { usage } from './lib/flags.ts';
import { exitCodes, printResult, say, type CommandError, type ExitCode } from './lib/output.ts';
import { readAll } from './lib/pages.ts';
import { confirm } from './lib/question.ts';
import { callOf, remoteOf, type Remote, type RemoteOptions } from './lib/remote.ts';
import { installIdOf } from './operations/installs.ts';
import { decisionLink, notDecided, perform } from './operations/perform.ts';
import { decisionPages } from './operations/table/shortcuts.ts';
import { operationOf } from './operations/table/table.ts';
import { proposalsView, type Proposal } from './operations/views/proposals.ts';

export interface ApproveOptions extends RemoteOptions {
  effects?: string;
  revision?: string;
  all?: boolean;
  install?: string;
  yes?: boolean;
}

/** @param folder in which relative paths begin */
export async function approve(
  id: string | undefined,
  options: ApproveOptions,
  folder: string,
): Promise<void> {
  const { all, effects, revision, install } = options;
  if (all !== true) {
    if (id === undefined) throw usage('Name a proposal, or approve all open ones with --all.');
    if (install !== undefined) throw usage('--install needs --all.');
    return perform({
      operation: operationOf('proposals.approve'),
      args: { id },
      options: { ...options },
      folder,
    });
  }
  if (id !== undefined || effects !== undefined || revision !== undefined)
    throw usage('--all approves every open proposal. Use it without a proposal, --effects and --revision.');
  return approveAll(options);
}

async function approveAll(options: ApproveOptions): Promise<void> {
  const remote = remoteOf(options);
  const call = callOf(remote);
  const of = options.install === undefined ? '' : `&install=${await installIdOf(call, options.install)}`;
  const open = (await readAll<Proposal>(call, `/proposals?status=open${of}`)).toReversed();
  if (remote.access !== null && open.length > 0) throw undecided(open, remote);
  if (options.yes !== true && open.length > 0) {
    say(proposalsView(printableCopy(open)));
    await confirm(`Approve ${counted(open.length, 'proposal')}?`);
  }
  const { outcomes, exitCode } = await approvedInTurn(call, open);
  printResult(outcomes, options, (shown) =>
    shown.length === 0 ? 'No proposals are open.' : shown.map(outcomeLine).join('\n'),
  );
  process.exitCode = exitCode;
}

function undecided(open: readonly Proposal[], remote: Remote): CommandError {
  const page = decisionPages['proposals.approve']!;
  return notDecided(
    'the pages below',
    open.map(({ id }) => `  ${decisionLink(page, { id }, remote)}`),
  );
}

interface Outcome {
  readonly id: string;
  readonly title: string;
  /** Status after the decision. */
  readonly status: string;
  /** Reason why the proposal was not approved; null if it was. */
  readonly error: string | null;
}

/** Ends early if no further request can succeed. @throws ApiCallError if the first one says so, because nothing is done then */
async function approvedInTurn(
  call: Call,
  open: readonly Proposal[],
): Promise<{ outcomes: Outcome[]; exitCode: ExitCode }> {
  const outcomes: Outcome[] = [];
  let exitCode: ExitCode = exitCodes.ok;
  for (const proposal of open) {
    try {
      outcomes.push(await approved(call, proposal));
    } catch (error) {
      if (!(error instanceof ApiCallError)) throw error;
      const { id, title, status } = proposal;
      const endCode = error.status === 401 ? exitCodes.loginNeeded : exitCodes.tryLater;
      const isEnd = [0, 401].includes(error.status);
      if (isEnd && outcomes.length === 0) throw error;
      outcomes.push({ id, title, status, error: error.message });
      if (isEnd) return { outcomes, exitCode: endCode };
      exitCode = exitCodes.failed;
    }
  }
  return { outcomes, exitCode };
}

/** Approves the revision that was listed, so that nobody approves effects that they did not see. */
async function approved(call: Call, { id, title, revision }: Proposal): Promise<Outcome> {
  const path = `/proposals/${encodeURIComponent(id)}/approve`;
  const { status } = await call<Proposal>('POST', path, { revision });
  return { id, title, status, error: null };
}

const outcomeLine = ({ id, title, status, error }: Outcome): string =>
  error === null ? `${id}  ${status}  ${title}` : `${id}  not approved: ${error}`;
