import { expect, test } from 'bun:test';
import { QueryObserver } from '@tanstack/react-query';
import { LiveQueryClient } from './queries.ts';

/** Server with a number that the test changes, whose answers arrive when the test says. */
function server() {
  const answers: { readonly number: number; readonly send: () => void }[] = [];
  const state = { number: 7 };
  const read = (): Promise<number> => {
    // The answer is from the time of the request.
    const { number } = state;
    const { promise, resolve } = Promise.withResolvers<number>();
    answers.push({ number, send: () => resolve(number) });
    asked?.();
    return promise;
  };
  let asked: (() => void) | undefined;
  /** Resolves once the client has made so many requests. */
  const requests = async (count: number): Promise<void> => {
    while (answers.length < count) {
      const next = Promise.withResolvers<void>();
      asked = next.resolve;
      await next.promise;
    }
  };
  return { state, answers, read, requests };
}

function shown(client: LiveQueryClient, read: () => Promise<number>) {
  const observer = new QueryObserver(client, { queryKey: ['inbox', 'unread'], queryFn: read });
  const next = (wanted: number): Promise<void> =>
    new Promise((resolve) => {
      const look = ({ data }: { readonly data: number | undefined }): void =>
        void (data === wanted && resolve());
      observer.subscribe(look);
      look(observer.getCurrentResult());
    });
  return { observer, next };
}

test('a change during the first read of a query is shown, although the read has the state before', async () => {
  const client = new LiveQueryClient();
  const { state, answers, read, requests } = server();
  const { next } = shown(client, read);
  const first = next(7);
  await requests(1);
  state.number = 0;
  for (let times = 0; times < 3; times++) void client.invalidateQueries({ queryKey: ['inbox'] });
  answers[0]!.send();
  await first;
  await requests(2);
  answers[1]!.send();
  await next(0);
  // Three changes during one read cause one further read.
  expect(answers).toHaveLength(2);
  client.clear();
});

test('a first read without a change in the meantime is made once', async () => {
  const client = new LiveQueryClient();
  const { answers, read, requests } = server();
  const { next } = shown(client, read);
  const first = next(7);
  await requests(1);
  void client.invalidateQueries({ queryKey: ['issues'] });
  answers[0]!.send();
  await first;
  expect(answers).toHaveLength(1);
  client.clear();
});
