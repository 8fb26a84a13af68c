// Preloaded into a real `tatami serve`: raises a bug on SIGUSR2. `BUG` selects which.
import type { Worker } from 'node:worker_threads';

const bug = process.env.BUG;
let writer: Worker | undefined;
process.on('worker', (started) => void (writer ??= started));

process.on('SIGUSR2', () => {
  setTimeout(() => {
    const error = new Error('a bug', { cause: new TypeError('its cause') });
    if (bug === 'throws') throw error;
    if (bug === 'rejects') void Promise.reject(error);
    if (bug === 'writer throws') writer?.postMessage('a question that it cannot read');
  }, 0);
});
