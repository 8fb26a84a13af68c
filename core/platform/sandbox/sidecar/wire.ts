// The sidecar's end of descriptor 3. Messages of one tick leave in one write; the process dies when the core closes the socket.
import net from 'node:net';
import { createFrameReader, encodeFrames, frameBytesMax, readOrder, type Frame } from '../framing.ts';
import type { FromSidecar, ToSidecar } from '../protocol.ts';

const readBytes = 64 * 1024;

export type Send = (message: FromSidecar) => void;

export function openWire(receive: (message: ToSidecar) => void): Send {
  const bounds = { frameBytes: frameBytesMax, headBytes: frameBytesMax };
  const frames = createFrameReader(() => bounds);
  const take = (frame: Frame): void => receive(readOrder(frame));
  const socket = new net.Socket({
    fd: 3,
    // Reads into one reused buffer, which avoids the cost of streams.
    onread: {
      buffer: Buffer.alloc(readBytes),
      callback(bytes, buffer) {
        frames.push(buffer.subarray(0, bytes), take);
        return true;
      },
    },
  });
  // process.exit() waits for isolate threads, which may never stop. The first process of a PID namespace ignores its own SIGKILL, so
  // abort follows.
  const die = (): void => {
    process.kill(process.pid, 'SIGKILL');
    process.abort();
  };
  socket.on('close', die);
  socket.on('error', die);

  let outgoing: FromSidecar[] = [];
  const flush = (): void => {
    const messages = outgoing;
    outgoing = [];
    socket.write(encodeFrames(messages));
  };
  return (message) => {
    if (outgoing.push(message) === 1) setImmediate(flush);
  };
}
