import type { SandboxOutcome } from '../job.ts';
import type { Progress } from '../protocol.ts';

type Failure = Extract<SandboxOutcome, { status: 'failed' }>;

export type Ending =
  | { status: 'succeeded'; progress?: Progress; result?: string }
  | { status: 'interrupted'; message: string }
  | Pick<Failure, 'status' | 'reason' | 'message' | 'killed' | 'retryAfterMs' | 'stack'>;

/** @param killed true if the isolate or process died because of the run, which is a violation */
export function failed(reason: Failure['reason'], message: string, killed: boolean): Ending {
  return { status: 'failed', reason, message, killed };
}
