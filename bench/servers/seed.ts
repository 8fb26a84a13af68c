// Seed data: issues of about 1 KB as JSON, some of them labelled and estimated.

const words =
  'the save dialog crashes when a file is open in another window and the disk is nearly full'.split(' ');

/** Returns the same input for the same number, so that two servers have the same data. */
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
