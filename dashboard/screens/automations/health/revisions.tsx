// Revisions of a rule, each of which can be restored.
import { useQuery } from '@tanstack/react-query';
import type { Automation } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useClient, useMay } from '../../../data/provider.tsx';
import { useWrite } from '../../../data/writes.ts';
import { Button } from '../../../parts/button.tsx';
import { useFilterChoices } from '../../../parts/filter/choices.tsx';
import { Time } from '../../../parts/issue/symbols.tsx';
import { text } from '../../../text/automation-health.ts';
import { sentenceOf } from '../rule/sentence.ts';
import { refresh } from '../use-changes.ts';

export function Revisions({ automation }: { readonly automation: Automation }): ReactNode {
  const { id, revision: current } = automation;
  const client = useClient();
  const write = useWrite();
  const names = useFilterChoices();
  const mayWrite = useMay('automations:write');
  const { data } = useQuery({
    queryKey: ['automations', id, 'revisions'],
    queryFn: () => client.automations.revisions(id),
  });
  if (!data) return null;
  const restore = async (revision: number): Promise<void> => {
    await write((api) => api.automations.restore(id, { revision }), text.restored);
    await refresh();
  };
  return (
    <section className="card stack">
      <h2>{text.revisions}</h2>
      <ol className="stack" aria-label={text.revisions}>
        {data.data.map(({ revision, at, by, ...rule }) => (
          <li key={revision} className="row wrap">
            <span className="grow">
              {text.revision(revision, by.name)} <Time at={at} className="soft" />
              <div>{sentenceOf(rule, names)}</div>
            </span>
            {revision === current ? (
              <span className="chip">{text.current}</span>
            ) : (
              mayWrite && (
                <Button aria-label={text.restoreOf(revision)} onClick={() => void restore(revision)}>
                  {text.restore}
                </Button>
              )
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
