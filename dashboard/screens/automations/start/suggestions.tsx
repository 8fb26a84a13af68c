// Rules that the server suggests from changes that people repeat.
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AutomationSuggestion, Client } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useClient } from '../../../data/provider.tsx';
import { Button, LinkButton } from '../../../parts/button.tsx';
import { messageOf } from '../../../parts/states.tsx';
import { text } from '../../../text/automations.ts';
import styles from '../automations.module.css';
import { emptyDraft, type Draft } from '../rule/rule.ts';

const suggestionsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['automation-suggestions'],
    // The answer reads months of events, and changes slowly.
    staleTime: 'static',
    queryFn: async () => (await client.automations.suggest({})).data,
  });

/** @returns undefined while the suggestions load; null for an unknown one */
export function useSuggestion(at: string | undefined): AutomationSuggestion | null | undefined {
  const { data, error } = useQuery({ ...suggestionsQuery(useClient()), enabled: at !== undefined });
  if (at === undefined || error) return null;
  return data && (data[Number(at)] ?? null);
}

export const draftOfSuggestion = ({ rule, text: description }: AutomationSuggestion): Draft => ({
  ...emptyDraft,
  ...rule,
  description,
});

export function Suggestions(): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const { data, error, isPending } = useQuery({ ...suggestionsQuery(useClient()), enabled: isAsked });
  if (!isAsked && !data)
    return (
      <div>
        <Button onClick={() => setAsked(true)}>{text.suggest}</Button>
      </div>
    );
  return (
    <section className="stack" aria-label={text.suggestions}>
      <h2>{text.suggestions}</h2>
      {error && <p className="notice problem">{messageOf(error)}</p>}
      {isPending && <p role="status">{text.suggesting}</p>}
      {data?.length === 0 && <p className="soft">{text.noSuggestions}</p>}
      <ul className={styles.templates}>
        {data?.map(({ text: words, rule }, at) => (
          <li key={words} className="card stack">
            <h3>{rule.name}</h3>
            <p className="soft">{words}</p>
            <div>
              <LinkButton
                to="/automations/new"
                search={{ suggestion: String(at) }}
                aria-label={text.useSuggestion(rule.name)}
              >
                {text.use}
              </LinkButton>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
