// Backtest of the rule in the editor, which starts anew when the rule changes.
import { useQuery } from '@tanstack/react-query';
import type { Backtest, Client } from '@tatami/sdk/client';
import { useEffect, useRef } from 'react';
import { usePaused } from '../../../data/paused.ts';
import { useClient } from '../../../data/provider.tsx';
import { ruleOf, type Rule } from '../rule/rule.ts';

/** Pause in editing after which a preview starts. */
const pauseMs = 500;
const pollMs = 400;

const hasEnded = ({ status }: Backtest): boolean => status !== 'queued' && status !== 'running';

export const backtestQuery = (client: Client, id: string | null | undefined) => ({
  queryKey: ['backtests', id],
  enabled: typeof id === 'string',
  queryFn: () => client.backtests.get(id!),
  refetchInterval: ({ state }: { readonly state: { readonly data?: Backtest | undefined } }) =>
    state.data && hasEnded(state.data) ? false : pollMs,
});

/** A rule can be backtested if events trigger it. */
export const isTestable = ({ trigger }: Rule): boolean => trigger.type === 'event';

interface Preview {
  readonly backtest: Backtest | undefined;
  /** Why the rule cannot be previewed. */
  readonly error: unknown;
  /** True if the figures belong to an earlier state of the rule. */
  readonly isStale: boolean;
}

/** Rule as the server has it. */
export interface Stored {
  readonly rule: Rule;
  /** Id of its backtest; null if there was none. */
  readonly backtest: string | null;
}

/** Returns the id of the backtest of a rule in JSON, if the server has made it; else null. */
function backtestOf(stored: Stored | null, asked: string): string | null {
  if (stored === null || JSON.stringify(ruleOf(stored.rule)) !== asked) return null;
  return stored.backtest;
}

export function usePreview(rule: Rule, stored: Stored | null): Preview {
  const client = useClient();
  const current = JSON.stringify(ruleOf(rule));
  const asked = usePaused(current, pauseMs);
  const known = backtestOf(stored, asked);
  const isStored = known !== null;
  const askedRule = JSON.parse(asked) as Rule;
  const started = useQuery({
    queryKey: ['previews', asked],
    enabled: !isStored && isTestable(askedRule) && askedRule.actions.length > 0,
    // Events do not repeat a preview, and a superseded one is canceled, so that it cannot be shown again.
    staleTime: 'static',
    gcTime: 0,
    queryFn: () => client.automations.preview(askedRule),
  });
  const id = isStored ? known : started.data?.id;
  const backtest = useQuery(backtestQuery(client, id));
  useCancel(client, isStored ? undefined : id, backtest.data);
  return {
    backtest: id === undefined ? undefined : backtest.data,
    error: isStored ? backtest.error : (started.error ?? backtest.error),
    isStale: asked !== current,
  };
}

/** Cancels a preview that is superseded before it has ended. */
function useCancel(client: Client, id: string | undefined, backtest: Backtest | undefined): void {
  const open = useRef<string | undefined>(undefined);
  useEffect(() => {
    open.current = backtest?.id === id && backtest && hasEnded(backtest) ? undefined : id;
  });
  useEffect(
    () => () => {
      if (id !== undefined && open.current === id) void client.backtests.cancel(id).catch(() => undefined);
    },
    [client, id],
  );
}
