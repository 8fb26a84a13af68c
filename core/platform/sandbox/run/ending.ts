import type { SandboxOutcome } from '../job.ts';
import type { GuestProgress } from '../protocol.ts';

type Failure = Extract<SandboxOutcome, { status: 'failed' }>;

export type SandboxEnding =
  | { status: 'succeeded'; progress?: GuestProgress; result?: string }
  | { status: 'interrupted'; message: string }
  | Pick<Failure, 'status' | 'reason' | 'message' | 'killed' | 'retryAfterMs' | 'stack'>;

/** @param killed true if the isolate or process died because of the run, which is a violation */
export function failed(reason: Failure['reason'], message: string, killed: boolean): SandboxEnding {
  return { status: 'failed', reason, message, killed };
}
