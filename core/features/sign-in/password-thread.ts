// Entry point of the thread that hashes and compares passwords. It has a low priority, because each password
// takes some 40 ms of CPU time, and requests that are answered meanwhile would wait for a core.
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

/** Parameters of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, parallelism 1. */
const terms = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/** Hashes the password, or compares it with a hash. */
export interface PasswordTask {
  readonly id: number;
  readonly password: string;
  readonly hash: string | null;
}

/** `hash` in PHC format, or the result of a comparison. */
export type PasswordResult =
  { readonly id: number; readonly hash: string } | { readonly id: number; readonly isRight: boolean };

function resultOf({ id, password, hash }: PasswordTask): PasswordResult {
  if (hash === null) return { id, hash: Bun.password.hashSync(password, terms) };
  return { id, isRight: Bun.password.verifySync(password, hash) };
}

if (parentPort) {
  const loop = parentPort;
  // On Linux, 0 is the calling thread and not its process.
  setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  loop.on('message', (task: PasswordTask) => loop.postMessage(resultOf(task)));
}
