// What the servers hold: issues of about 1 KB in their public shape, some of them labelled, assigned and prioritised.

const words =
  'the save dialog crashes when a file is open in another window and the disk is nearly full'.split(' ');

/** Deterministic, so that two servers hold the same. */
export function issueInput(n: number): Record<string, unknown> {
  const text = (length: number): string =>
    Array.from({ length }, (_, i) => words[(n * 7 + i * (1 + (n % 5))) % words.length]).join(' ');
  return {
    team: 'ENG',
    title: `${text(8)} ${n}`,
    description: text(80),
    priority: ['none', 'low', 'medium', 'high', 'urgent'][n % 5],
    ...(n % 3 === 0 ? { labels: ['bug'] } : {}),
    ...(n % 4 === 0 ? { estimate: n % 8 } : {}),
  };
}
