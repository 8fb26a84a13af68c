/**
 * Which addresses a request may dial: those that its host leads to at this moment, once every one of them has been judged.
 */
import { LRUCache } from 'lru-cache';
import { judgeAddress, type AddressPolicy, type Permitted, type Verdict } from './addresses.ts';
import type { Resolve } from './egress.ts';
import { EgressError } from './error.ts';
import type { Target } from './target.ts';

/** In the order of the answer; not a promise where the host is a literal address. @throws EgressError, also by rejection */
export type FindPermitted = (target: Target) => Permitted[] | Promise<Permitted[]>;

type Judge = (address: string, port: number) => Verdict;

/** Addresses whose verdict is remembered: it follows from the text and the allow-list alone. */
const KNOWN_VERDICTS_MAX = 1_000;

export function createFindPermitted(options: { policy: AddressPolicy; resolve: Resolve }): FindPermitted {
  const { policy, resolve } = options;
  const verdicts = new LRUCache<string, Verdict>({ max: KNOWN_VERDICTS_MAX });

  /** A verdict stands for every port but our own, where it depends on which addresses are ours, and those may change. */
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
    throw new EgressError('dns', `${host} cannot be resolved.`, { cause });
  }
  if (answers.length === 0) throw new EgressError('dns', `${host} has no address.`);
  return answers;
}

/** One refused answer refuses the host: which of them gets dialled must not be up to whoever runs its DNS. */
function judgeAll(target: Target, answers: readonly { address: string }[], judge: Judge): Permitted[] {
  return answers.map(({ address }) => {
    const verdict = judge(address, target.port);
    if ('refused' in verdict) {
      // The address itself stays out of the message: the reader may not be entitled to what internal DNS says.
      throw new EgressError('refused_address', `${target.host} leads to ${verdict.refused}.`, {
        cause: new Error(`refused address: ${address}`),
      });
    }
    if (!target.secure && !verdict.opened) {
      throw new EgressError('bad_url', 'The URL must be https; http is possible only inside --egress-allow.');
    }
    return verdict;
  });
}
