import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { titlesQuery } from '../../data/directory.ts';
import { usePaused } from '../../data/paused.ts';
import { useClient } from '../../data/provider.tsx';
import { StateIcon } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/create.ts';

/** Pause in typing after which similar issues are looked up. */
const pauseMs = 250;
const wordsMin = 2;
const shownMax = 3;

/** Issues whose titles have the words of the new title, which may be about the same thing. */
export function Similar({ title }: { readonly title: string }): ReactNode {
  const client = useClient();
  const asked = usePaused(title.trim(), pauseMs);
  const { data = [] } = useQuery({
    ...titlesQuery(client, asked),
    enabled: asked.split(/\s+/).length >= wordsMin,
  });
  if (data.length === 0 || title.trim() === '') return null;
  return (
    <section aria-label={text.similar}>
      <h3 className="soft">{text.similar}</h3>
      <ul>
        {data.slice(0, shownMax).map(({ id, identifier, title: other, state }) => (
          <li key={id} className="row">
            <StateIcon type={state.type} name={state.name} />
            <a className="cut" href={`/issues/${identifier ?? id}`} target="_blank" rel="noopener">
              {identifier} {other}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
