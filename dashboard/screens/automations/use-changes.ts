// Changes of the state of an automation, which the list and the page offer.
import { useNavigate } from '@tanstack/react-router';
import type { Automation } from '@tatami/sdk/client';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { text } from '../../text/automations.ts';
import type { Draft } from './rule/rule.ts';

export const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['automations'] });

interface Changes {
  pause(automation: Automation): Promise<void>;
  /** @returns the copy; null if the write failed */
  duplicate(automation: Automation): Promise<Automation | null>;
  /** @returns false if the write failed */
  remove(automation: Automation): Promise<boolean>;
}

export function useChanges(): Changes {
  const write = useWrite();
  return {
    async pause({ id, name }) {
      await write((client) => client.automations.disable(id), text.paused(name));
      await refresh();
    },
    async duplicate({ id, name }) {
      const copy = await write(
        (client) => client.automations.duplicate(id),
        text.duplicated(`${name} (copy)`),
      );
      await refresh();
      return copy;
    },
    async remove({ id, name }) {
      const isDeleted = await write(
        async (client) => (await client.automations.delete(id), true),
        text.removed(name),
      );
      await refresh();
      return isDeleted === true;
    },
  };
}

/** Returns a function that creates a paused automation, removes its draft, and opens its page. */
export function useCreate(): (
  rule: Draft & { readonly mode?: Automation['mode'] },
  forget: () => void,
) => Promise<void> {
  const client = useClient();
  const navigate = useNavigate();
  return async (rule, forget) => {
    const { id } = await client.automations.create(rule);
    await refresh();
    forget();
    void navigate({ to: '/automations/$id', params: { id } });
  };
}
