// How a run can end, as the core decides it.
import type { SandboxOutcome } from '../job.ts';
import type { Progress } from '../protocol.ts';

type Failure = Extract<SandboxOutcome, { status: 'failed' }>;

export type Ending =
  | { status: 'succeeded'; progress?: Progress; result?: string }
  | { status: 'interrupted'; message: string }
  | Pick<Failure, 'status' | 'reason' | 'message' | 'killed' | 'retryAfterMs' | 'stack'>;

/** @param killed the isolate or process died of it, a strike */
export function failed(reason: Failure['reason'], message: string, killed: boolean): Ending {
  return { status: 'failed', reason, message, killed };
}
