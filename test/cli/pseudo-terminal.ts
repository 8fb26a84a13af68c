// Runs a program in a pseudo-terminal, as people do.
import { collect } from './tatami.ts';

/**
 * @param env the whole environment
 * @param cwd folder in which the program starts
 */
export function runInTerminal(command: readonly string[], env: Record<string, string>, cwd: string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const child = Bun.spawn([...command], {
    env,
    cwd,
    terminal: { cols: 200, rows: 60, data: (_, bytes) => void writer.write(new Uint8Array(bytes)) },
  });
  const screen = collect(readable);
  void child.exited.then(() => writer.close());
  return {
    child,
    /** Returns everything that was shown so far, with a space for each escape sequence, because some move the cursor. */
    shown: () => plain(screen.text()),
    until: (holds: (shown: string) => boolean) => screen.until((text) => holds(plain(text))),
    type: (keys: string): void => void child.terminal!.write(keys),
  };
}

const plain = (text: string): string => text.replaceAll(escapeSequence, ' ').replaceAll('\r', '');

const escapeSequence = /\u001b(\[[0-9;?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[=>()][0-9A-B]?)/g;
