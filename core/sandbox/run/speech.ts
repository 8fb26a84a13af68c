// Bounds the frames that a run may send: each must acknowledge a message of the core or count against the limits of the run.
import { ProtocolBreach, type Drained } from '../frames.ts';
import { callsPerFrameMax } from '../protocol.ts';
import type { RunLimits } from '../protocol.ts';
import { timersMax } from './calls.ts';

export interface Speech {
  /** Number of the core's messages that the run has consumed. */
  readonly acked: number;
  /** @param sent number of messages sent by the core @throws ProtocolBreach */
  hear(frame: Drained, sent: number): void;
}

export function createSpeech(limits: RunLimits): Speech {
  let acked = 0;
  /** Received calls, ignored ones and timers included. */
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
        throw new ProtocolBreach('A run sent more than its limits allow.');
      acked = frame.acked;
    },
  };
}
