/** Finds the addresses that a request may connect to: those of its DNS answer, all of them checked. */
import { LRUCache } from 'lru-cache';
import { judgeAddress, type AddressPolicy, type Permitted, type Verdict } from './addresses.ts';
import type { Resolve } from './egress.ts';
import { EgressError } from './error.ts';
import type { Target } from './target.ts';

/** Synchronous for a literal address; results are in DNS order. @throws EgressError, also by rejection */
export type FindPermitted = (target: Target) => Permitted[] | Promise<Permitted[]>;

type Judge = (address: string, port: number) => Verdict;

/** Number of cached verdicts, which depend only on the address and the allow-list. */
const KNOWN_VERDICTS_MAX = 1_000;

export function createFindPermitted(options: { policy: AddressPolicy; resolve: Resolve }): FindPermitted {
  const { policy, resolve } = options;
  const verdicts = new LRUCache<string, Verdict>({ max: KNOWN_VERDICTS_MAX });

  /** A verdict holds for every port except the server's own, where it depends on the machine's addresses, which may change. */
  const judge: Judge = (address, port) => {
    if (port === policy.ownPort()) return judgeAddress(address, port, policy);
    const known = verdicts.get(address);
    if (known) return known;
    const verdict = judgeAddress(address, port, policy);
    verdicts.set(address, verdict);
    return verdict;
  };

  return (target) =>
    target.isLiteral
      ? judgeAll(target, [{ address: target.host }], judge)
      : resolveName(resolve, target.host).then((answers) => judgeAll(target, answers, judge));
}

async function resolveName(resolve: Resolve, host: string): Promise<readonly { address: string }[]> {
  let answers: readonly { address: string }[];
  try {
    answers = await resolve(host);
  } catch (cause) {
    throw new EgressError('dns', `${host} cannot be resolved. Check the host name.`, { cause });
  }
  if (answers.length === 0) throw new EgressError('dns', `${host} has no address. Check the host name.`);
  return answers;
}

/** Refuses the host if any of its addresses is refused, so that the order of DNS answers cannot decide the outcome. */
function judgeAll(target: Target, answers: readonly { address: string }[], judge: Judge): Permitted[] {
  return answers.map(({ address }) => {
    const verdict = judge(address, target.port);
    if ('refused' in verdict) {
      // The address is not in the message, because the reader may not be entitled to see internal DNS.
      throw new EgressError('refused_address', `${target.host} leads to ${verdict.refused}.`, {
        cause: new Error(`refused address: ${address}`),
      });
    }
    if (!target.secure && !verdict.opened) {
      throw new EgressError(
        'bad_url',
        'The URL must be https; http is allowed only for addresses in --egress-allow.',
      );
    }
    return verdict;
  });
}
