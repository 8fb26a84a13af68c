// Progress of a long operation: n of m, rate and remaining time.

/** A pace is told from here on (milliseconds): before, it says more of the start than of the work. */
const settledMs = 1_000;

/** @param done of `total`, which is an estimate @param tookMs since the start */
export function paceText(done: number, total: number, tookMs: number): string {
  const known = Math.max(done, total);
  const parts = [`${count(done)} of ${count(known)}`];
  if (tookMs >= settledMs && done > 0) {
    const perSecond = (done * 1000) / tookMs;
    parts.push(`${count(Math.round(perSecond))}/s`);
    if (done < known) parts.push(`${duration((known - done) / perSecond)} left`);
  }
  return parts.join(', ');
}

function count(number: number): string {
  return number.toLocaleString('en');
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
