// What a run may say to the core: every frame is paid for, with what the core has sent or from the run's own budgets.
import { ProtocolBreach, type Drained } from '../frames.ts';
import { callsPerFrameMax } from '../protocol.ts';
import type { RunLimits } from '../protocol.ts';
import { timersMax } from './calls.ts';

export interface Speech {
  /** How many of the core's messages the run has consumed. */
  readonly acked: number;
  /** @param sent messages of the core. @throws ProtocolBreach */
  hear(frame: Drained, sent: number): void;
}

export function createSpeech(limits: RunLimits): Speech {
  let acked = 0;
  /** What arrived, whether it was heeded or not; calls include timers. */
  let calls = 0;
  let lines = 0;
  return {
    get acked() {
      return acked;
    },
    hear(frame, sent) {
      const isEmpty = frame.calls.length === 0 && frame.logs.length === 0;
      calls += frame.calls.length;
      lines += frame.logs.length;
      const ackedMin = acked + (isEmpty ? 1 : 0);
      const tooMuch = calls > limits.calls + timersMax + callsPerFrameMax || lines > limits.logLines;
      if (frame.acked > sent || frame.acked < ackedMin || tooMuch)
        throw new ProtocolBreach('A run said more than it may.');
      acked = frame.acked;
    },
  };
}
