// Child processes controlled over IPC: servers and the load generator. A child exits with its parent.
import { fileURLToPath } from 'node:url';

interface IpcRequest {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}
interface IpcResponse {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export interface Child {
  readonly pid: number;
  /** @throws Error with the message of the error in the child */
  ask<T>(name: string, input?: unknown): Promise<T>;
  /** Sends SIGKILL; resolves once the process has exited. */
  kill(): Promise<void>;
}

const children = new Set<Bun.Subprocess>();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/**
 * @param file path relative to this file
 * @param env added to the environment of this process
 */
export function startChild(file: string, env: Readonly<Record<string, string>> = {}): Child {
  const pending = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let next = 1;
  const child = Bun.spawn([process.execPath, fileURLToPath(new URL(file, import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
    ipc(message: IpcResponse) {
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.value as never);
      else waiting?.reject(new Error(message.error));
    },
    onExit(_, code) {
      children.delete(child);
      for (const { reject } of pending.values()) reject(new Error(`${file} ended with ${code}.`));
    },
  });
  children.add(child);
  return {
    pid: child.pid,
    ask<T>(name: string, input: unknown = null) {
      return new Promise<T>((resolve, reject) => {
        pending.set(next, { resolve, reject });
        child.send({ id: next++, name, input } satisfies IpcRequest);
      });
    },
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** Answers requests in the child by name, and exits with the parent. */
export function answerParent(answers: Readonly<Record<string, (input: never) => unknown>>): void {
  process.on('message', async (message: IpcRequest) => {
    const { id } = message;
    try {
      const answer = answers[message.name];
      if (!answer) throw new Error(`No handler for ${message.name}.`);
      process.send?.({ id, value: await answer(message.input as never) } satisfies IpcResponse);
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.send?.({ id, error: text } satisfies IpcResponse);
    }
  });
  process.on('disconnect', () => process.exit(0));
}
