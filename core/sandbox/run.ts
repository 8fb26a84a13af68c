// One run as the core sees it: answers the guest's calls, keeps every limit again that the sidecar was told, and
// collects what the run used. Everything that arrives is a string from an untrusted process.
import { plainText } from '../lib/printable.ts';
import type { SidecarProcess } from './fleet/process.ts';
import { ProtocolBreach } from './frames.ts';
import { callsPerFrameMax, messageMax, textMaxOf } from './protocol.ts';
import type { FromSidecar, LogLevel, Progress, RunNonce, ToSidecar } from './protocol.ts';
import type { RunUsage, SandboxJob, SandboxOutcome } from './job.ts';

type Failure = Extract<SandboxOutcome, { status: 'failed' }>;
export type Ending =
  | { status: 'succeeded'; progress?: Progress }
  | { status: 'interrupted'; message: string }
  | Pick<Failure, 'status' | 'reason' | 'message' | 'killed' | 'retryAfterMs'>;

const operationPattern = /^[a-z]{1,20}\.[a-zA-Z]{1,30}$/;
const timersMax = 5000;
const sleepMsMax = 120_000;

export class ActiveRun {
  readonly nonce: RunNonce;
  readonly job: SandboxJob;
  readonly lane: string;
  readonly sidecar: SidecarProcess;
  readonly startedAt = performance.now();
  readonly rssAtStartBytes: number;
  cpuMs = 0;
  memoryBytes = 0;
  /** Set when the core has asked the sidecar to end the run, and why. */
  stopping: Ending | undefined;
  #settle: (outcome: SandboxOutcome) => void;
  #queueMs: number;
  #clock: () => number;
  #clockAtStart: number;
  #elapsedMs = 0;
  /** Until the last change of what it waits for. */
  #waitedMs = 0;
  #waitsForItself = false;
  #lookedAt = performance.now();
  #sent = 1;
  #acked = 0;
  #calls = 0;
  /** Calls, timers and log lines that arrived, whether they were heeded or not. */
  #made = 0;
  #lines = 0;
  #ended = false;
  #openCalls = new Set<Promise<void>>();
  #timers = new Set<Timer>();
  #timersMade = 0;
  #logs: RunUsage['logs'] = [];
  #logBytes = 0;
  #logsCut = false;
  #over = false;

  constructor(given: {
    nonce: RunNonce;
    job: SandboxJob;
    lane: string;
    sidecar: SidecarProcess;
    queueMs: number;
    clock: () => number;
    settle(outcome: SandboxOutcome): void;
  }) {
    this.nonce = given.nonce;
    this.job = given.job;
    this.lane = given.lane;
    this.sidecar = given.sidecar;
    this.rssAtStartBytes = given.sidecar.rssSeenBytes;
    this.#queueMs = given.queueMs;
    this.#clock = given.clock;
    this.#clockAtStart = given.clock();
    this.#settle = given.settle;
    this.after(given.job.limits.wallMs, () => this.#checkWall());
  }

  /** The wall's limit is for what the run itself waits: not for the processor, nor for our answers. Those have a far wider bound. */
  #checkWall(): void {
    const { wallMs } = this.job.limits;
    const leftMs = wallMs - this.#ownWaitMs();
    if (leftMs <= 0)
      return this.stop({
        status: 'failed',
        reason: 'wall',
        message: `The run waited for itself longer than ${wallMs} ms.`,
        killed: true,
      });
    if (performance.now() - this.startedAt > wallMs * wallBoundTimes)
      return this.stop({
        status: 'interrupted',
        message: 'The machine was too busy for this run.',
      });
    this.after(Math.max(leftMs, wallLookMsMin), () => this.#checkWall());
  }

  #ownWaitMs(): number {
    const now = performance.now();
    if (this.#waitsForItself) this.#waitedMs += now - this.#lookedAt;
    this.#lookedAt = now;
    this.#waitsForItself = !this.active && this.#openCalls.size === 0;
    return this.#waitedMs;
  }

  /** Guest code may be running now: the sidecar has not yet accounted for all it was sent. */
  get active(): boolean {
    return this.#sent > this.#acked;
  }

  /** @throws ProtocolBreach */
  drained({ acked, logs, calls }: Extract<FromSidecar, { t: 'drained' }>): void {
    const empty = calls.length === 0 && logs.length === 0;
    this.#made += calls.length;
    this.#lines += logs.length;
    // Frames are paid for: with what the core has sent, or from the run's own budgets.
    if (
      this.#ended ||
      acked > this.#sent ||
      acked < this.#acked + (empty ? 1 : 0) ||
      this.#made > this.job.limits.calls + timersMax + callsPerFrameMax ||
      this.#lines > this.job.limits.logLines
    )
      throw new ProtocolBreach('A run said more than it may.');
    this.#acked = acked;
    for (const [level, text] of logs) this.#log(level, text);
    for (const [call, op, args] of calls) this.#call(call, op, args);
    this.#ownWaitMs();
  }

  #call(call: number, op: string, args: string): void {
    if (this.#over || this.stopping) return;
    if (op === 'sleep') return this.#sleep(call, args);
    const { calls, concurrentCalls } = this.job.limits;
    if (++this.#calls > calls) {
      const message = `More than ${calls} host calls in one run.`;
      return this.stop({ status: 'failed', reason: 'call_budget', message, killed: false });
    }
    if (this.#openCalls.size >= concurrentCalls) {
      return this.stop({
        status: 'failed',
        reason: 'protocol',
        message: 'More host calls at once than allowed.',
        killed: true,
      });
    }
    if (!operationPattern.test(op) || args.length > textMaxOf(op))
      return this.#refuse(
        call,
        'invalid_input',
        `${op.slice(0, 60)} is no call, or its arguments are too large.`,
      );
    const answering = this.#answer(call, op, args);
    this.#openCalls.add(answering);
    void answering.finally(() => this.#openCalls.delete(answering));
  }

  async #answer(call: number, op: string, args: string): Promise<void> {
    const units = args.length + textMaxOf(op);
    const turn = this.sidecar.room.enter(this.job, units);
    if (turn) await turn;
    try {
      if (this.#over) return;
      const answer = await this.job.call(op, args);
      this.#elapsedMs = Math.max(this.#elapsedMs, this.#clock() - this.#clockAtStart);
      if (!answer.ok) this.#refuse(call, answer.error.code, answer.error.message.slice(0, messageMax));
      else if (answer.value.length > textMaxOf(op))
        this.#refuse(
          call,
          'too_large',
          `The answer of ${op} is larger than ${textMaxOf(op)} characters; ask for fewer fields or a smaller page.`,
        );
      else
        this.#send({ t: 'answer', run: this.nonce, call, elapsedMs: this.#elapsedMs, value: answer.value });
    } catch {
      // What went wrong inside the host is none of the guest's business.
      this.#refuse(call, 'internal_error', 'The host call failed.');
    } finally {
      this.sidecar.room.leave(units);
    }
  }

  #refuse(call: number, code: string, message: string): void {
    this.#send({ t: 'refuse', run: this.nonce, call, elapsedMs: this.#elapsedMs, code, message });
  }

  #sleep(call: number, args: string): void {
    if (++this.#timersMade > timersMax) {
      return this.stop({
        status: 'failed',
        reason: 'call_budget',
        message: `More than ${timersMax} timers in one run.`,
        killed: false,
      });
    }
    const ms = Math.min(Number(args.slice(1, -1)) || 0, sleepMsMax);
    const due = Math.max(this.#elapsedMs, this.#clock() - this.#clockAtStart) + ms;
    this.after(ms, () => {
      this.#elapsedMs = Math.max(this.#elapsedMs, due);
      this.#send({ t: 'answer', run: this.nonce, call, elapsedMs: this.#elapsedMs, value: '' });
    });
  }

  #send(message: ToSidecar): void {
    if (this.#over) return;
    this.#sent++;
    this.sidecar.send(message);
    this.#ownWaitMs();
  }

  #log(level: LogLevel, text: string): void {
    const { logLines, logBytes } = this.job.limits;
    if (this.#logs.length >= logLines || this.#logBytes >= logBytes) {
      this.#logsCut = true;
      return;
    }
    const message = plainText(text).slice(0, logBytes - this.#logBytes);
    this.#logBytes += message.length;
    this.#logs.push({ level, message, atMs: this.#clockAtStart + this.#elapsedMs });
  }

  /** A timer that dies with the run. */
  after(ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, ms);
    this.#timers.add(timer);
  }

  /** Asks the sidecar to throw the isolate away; the run ends as `ending` when it has. */
  stop(ending: Ending): void {
    if (this.#over || this.stopping) return;
    this.stopping = ending;
    this.sidecar.send({ t: 'stop', run: this.nonce });
    this.#killUnlessStopped(performance.now(), 1);
  }

  /** A sidecar that speaks and yet does not stop a run is none of ours; one that does not get to speak has the watch to fear. */
  #killUnlessStopped(askedAt: number, look: number): void {
    this.after(stopMs, () => {
      const spoke = this.sidecar.heardAt - askedAt > stopMs / 2;
      if (spoke || look === stopLooksMax) this.sidecar.kill('it did not stop a run');
      else this.#killUnlessStopped(askedAt, look + 1);
    });
  }

  /** The sidecar says that the run is over. Calls that the handler did not await are still waited for: they belong to the run. */
  async ended(message: Extract<FromSidecar, { t: 'end' }>): Promise<void> {
    if (this.#ended) return this.sidecar.kill('it broke the protocol: A run ended twice.');
    this.#ended = true;
    this.cpuMs = message.cpuMs;
    this.memoryBytes = message.memoryBytes;
    const { end } = message;
    if (end.status === 'succeeded' && end.progress && this.job.handler.kind !== 'schedule')
      return this.sidecar.kill('it broke the protocol: Only a schedule goes on.');
    if (this.stopping) return this.finish(this.stopping);
    if (end.status === 'stopped')
      return this.finish({ status: 'interrupted', message: 'The isolate was thrown away under the run.' });
    if (end.status === 'succeeded' && this.#openCalls.size > 0) await Promise.allSettled(this.#openCalls);
    this.finish(end);
  }

  finish(ending: Ending): void {
    if (this.#over) return;
    this.#over = true;
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#logsCut)
      this.#logs.push({
        level: 'warn',
        message: 'Further log lines were dropped: the run reached its limit.',
        atMs: this.#clockAtStart + this.#elapsedMs,
      });
    const usage: RunUsage = {
      cpuMs: this.cpuMs,
      memoryBytes: this.memoryBytes,
      wallMs: performance.now() - this.startedAt,
      queueMs: this.#queueMs,
      calls: this.#calls,
      logs: this.#logs,
    };
    this.#settle({ ...ending, ...usage });
  }
}

/** A stop is obeyed at once; this is for its way there and back. */
const stopMs = 1500;
const stopLooksMax = 10;
/** How often a run's wall limit may pass, waiting for the processor included. */
const wallBoundTimes = 10;
const wallLookMsMin = 50;
